// Finds groups of rows that can become one node, or a chain of nodes, without making a cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/edit/draft.h"
#include "trace/edit/lane_places.h"

namespace chakra::edit {

// A note about why a run on a lane became several groups.
inline constexpr char kClosedRuns[] =
    "runs were closed where a node depends on an earlier node of its run through nodes outside of the run";

// Builds one group after another, and knows what earlier groups became. For each group, it visits each row
// between the group's first and last row in recorded order once.
class RunJoiner {
 public:
  // `places` must describe the current state of the draft. The draft must outlive the joiner.
  RunJoiner(Draft* draft, const LanePlaces& places);

  void Begin(uint32_t first);  // begins a new group
  // Whether `r` depends on the group through rows outside the group. Precondition: r is after the group in
  // recorded order.
  bool DependsThrough(uint32_t r);
  void Add(uint32_t r);
  const std::vector<uint32_t>& group() const { return group_; }
  // Must be called when the group has been replaced: `rows` is one of its rows, or a chain of new rows, each
  // of which depends on the previous row. The caller has removed the other rows.
  void Became(const std::vector<uint32_t>& rows);

 private:
  // A row's position in an order in which every row is after its dependencies.
  uint32_t Place(uint32_t r) const { return place_[leader_[r]]; }
  bool Before(const Dep& d, uint32_t place) const { return d.row == kNoRow || Place(d.row) < place; }
  bool Inside(uint32_t r) const { return inside_[r] == round_; }
  bool Depends(uint32_t r);

  struct Visit {
    uint32_t row;
    size_t next;  // index of the next dependency to visit
  };
  Draft& draft_;
  std::vector<uint32_t> place_, leader_;  // by row; new rows share the position of their group's first row
  std::vector<uint32_t> at_;              // by position: the row, or kNoRow
  std::vector<uint32_t> group_;
  uint32_t round_ = 0;
  std::vector<uint32_t> inside_, seen_;  // by row: the last round that marked it
  std::vector<bool> depends_;            // by row; valid if seen in this round
  std::vector<Visit> stack_;
};

}  // namespace chakra::edit
