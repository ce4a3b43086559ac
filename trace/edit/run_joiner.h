// Groups of rows that become one node, or a chain of nodes, and no cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/edit/draft.h"
#include "trace/edit/lane_places.h"

namespace chakra::edit {

// A note: why a run on a lane became several groups.
inline constexpr char kClosedRuns[] =
    "runs were closed where a node depends on an earlier one of its run through nodes that are not in it";

// One group after the other; what became of earlier ones is looked through. A row is looked at once for each
// group in whose stretch of the recorded order it stands.
class RunJoiner {
 public:
  // `places` is of the draft as it is, which must outlive this.
  RunJoiner(Draft* draft, const LanePlaces& places);

  void Begin(uint32_t first);  // a new group
  // Whether `r` depends on the group through rows that are none of it. Precondition: r is recorded after the
  // group.
  bool DependsThrough(uint32_t r);
  void Add(uint32_t r);
  const std::vector<uint32_t>& group() const { return group_; }
  // The group is `rows` now: one of it, or new ones, each of which depends on the one
  // before it. The others were removed.
  void Became(const std::vector<uint32_t>& rows);

 private:
  // In an order in which rows come after what they depend on.
  uint32_t Place(uint32_t r) const { return place_[leader_[r]]; }
  bool Before(const Dep& d, uint32_t place) const { return d.row == kNoRow || Place(d.row) < place; }
  bool Inside(uint32_t r) const { return inside_[r] == round_; }
  bool Depends(uint32_t r);

  struct Visit {
    uint32_t row;
    size_t next;  // dependency to be looked at
  };
  Draft& draft_;
  std::vector<uint32_t> place_, leader_;  // by row; rows that became of a group share the place of the first
  std::vector<uint32_t> at_;              // by place: the row, or kNoRow
  std::vector<uint32_t> group_;
  uint32_t round_ = 0;
  std::vector<uint32_t> inside_, seen_;  // by row: the last round in which it was
  std::vector<bool> depends_;            // of what was seen in this round
  std::vector<Visit> stack_;
};

}  // namespace chakra::edit
