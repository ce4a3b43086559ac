#include "trace/edit/lane_places.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
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
  absl::flat_hash_map<uint64_t, uint32_t> lanes;  // the last row of each
  for (uint32_t i = 0; i < (*order)->size(); ++i) {
    const uint32_t r = (**order)[i];
    out.place_[r] = i;
    if (!draft->row(r).works()) continue;
    const auto [last, fresh] = lanes.try_emplace(draft->LaneKey(r), r);
    if (fresh) continue;
    out.next_[last->second] = r;
    out.previous_[r] = last->second;
    last->second = r;
  }
  return out;
}

absl::Status LanePlaces::Renew(Draft* draft) {
  const auto order = draft->Order();
  if (!order.ok()) return order.status();
  for (uint32_t i = 0; i < (*order)->size(); ++i) place_[(**order)[i]] = i;
  return absl::OkStatus();
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
