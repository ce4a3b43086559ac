#include "trace/edit/lane_places.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "trace/base/status_macros.h"

namespace chakra::edit {
namespace {

bool OfLane(const Dep& d) { return d.row != kNoRow && (d.kind == "thread" || d.kind == "stream"); }

}  // namespace

absl::StatusOr<LanePlaces> LanePlaces::Make(Draft* draft) {
  ASSIGN_OR_RETURN(const auto order, draft->Order());
  LanePlaces out;
  out.place_.assign(draft->size(), kNoRow);
  out.next_.assign(draft->size(), kNoRow);
  out.previous_.assign(draft->size(), kNoRow);
  absl::flat_hash_map<uint64_t, uint32_t> lanes;  // last row of each lane
  for (uint32_t i = 0; i < order->size(); ++i) {
    const uint32_t r = (*order)[i];
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
      for (const Dep& b : before) {
        Dep longer = b;
        longer.data = true;
        longer.kind = d.kind;
        const Dep gap = AfterEnd(d, draft->row(r).duration);
        if (gap.delay_ns > b.delay_ns) {
          longer.delay_ns = gap.delay_ns;
          longer.unexplained_ns = gap.unexplained_ns;
        }
        draft->AddDep(child, b.row, longer);
      }
    }
  }
  for (const Dep& b : before) draft->DropDep(r, b.row);
}

}  // namespace chakra::edit
