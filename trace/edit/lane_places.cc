#include "trace/edit/lane_places.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace chakra::edit {
namespace {

bool OfLane(const Dep& d) { return d.row != kNoRow && (d.kind == "thread" || d.kind == "stream"); }

}  // namespace

absl::StatusOr<LanePlaces> LanePlaces::Make(Draft* draft) {
  const auto order = draft->Order();
  if (!order.ok()) return order.status();
  LanePlaces out;
  out.place_.assign(draft->size(), kNoRow);
  out.next_.assign(draft->size(), kNoRow);
  out.previous_.assign(draft->size(), kNoRow);
  for (uint32_t i = 0; i < (*order)->size(); ++i) {
    const uint32_t r = (**order)[i];
    out.place_[r] = i;
    if (!draft->row(r).works()) continue;
    std::vector<uint32_t>& lane = out.lanes_[draft->LaneKey(r)];
    if (!lane.empty()) {
      out.next_[lane.back()] = r;
      out.previous_[r] = lane.back();
    }
    lane.push_back(r);
  }
  return out;
}

std::pair<uint32_t, uint32_t> LanePlaces::Around(uint64_t lane, uint32_t anchor, bool after) const {
  const auto it = lanes_.find(lane);
  if (it == lanes_.end()) return {kNoRow, kNoRow};
  const std::vector<uint32_t>& rows = it->second;
  const uint32_t at = place_[anchor] + (after ? 1 : 0);
  const auto next = std::lower_bound(rows.begin(), rows.end(), at,
                                     [&](uint32_t r, uint32_t place) { return place_[r] < place; });
  return {next == rows.begin() ? kNoRow : *std::prev(next), next == rows.end() ? kNoRow : *next};
}

bool LanePlaces::DependsThrough(Draft* draft, uint32_t r, const std::vector<uint32_t>& members,
                                uint32_t first) const {
  const absl::flat_hash_set<uint32_t> inside(members.begin(), members.end());
  absl::flat_hash_set<uint32_t> seen;
  std::vector<uint32_t> todo;
  const auto visit = [&](uint32_t row) {
    for (const Dep& d : draft->deps(row)) {
      // What is recorded before the first member depends on none. New rows have no place: they are looked at.
      const bool before = d.row == kNoRow || (d.row < place_.size() && place_[d.row] < place_[first]);
      if (before) continue;
      if (inside.contains(d.row)) {
        if (row != r) return true;
      } else if (seen.insert(d.row).second) {
        todo.push_back(d.row);
      }
    }
    return false;
  };
  if (visit(r)) return true;
  while (!todo.empty()) {
    const uint32_t at = todo.back();
    todo.pop_back();
    if (visit(at)) return true;
  }
  return false;
}

void LeaveLane(Draft* draft, uint32_t r) {
  Deps before;
  for (const Dep& d : draft->deps(r)) {
    if (OfLane(d)) before.push_back(d);
  }
  const auto children = draft->children(r);
  for (const uint32_t child : children) {
    const Deps deps = draft->deps(child);
    for (const Dep& d : deps) {
      if (d.row != r || !OfLane(d)) continue;
      draft->DropDep(child, r);
      for (const Dep& b : before) draft->AddDep(child, b.row, true, std::max(b.delay_ns, d.delay_ns), d.kind);
    }
  }
  for (const Dep& b : before) draft->DropDep(r, b.row);
}

}  // namespace chakra::edit
