// Keeps the intended order of lanes when nodes are added.
//
// Without recorded starts, ids determine the order of a lane. New nodes have the greatest ids, so a new node,
// and every node that waits for it, would run after the rest of its lane. LaneOrder keeps the intended order.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trace/edit/draft.h"
#include "trace/edit/operation.h"

namespace chakra::edit {

class LaneOrder {
 public:
  // Starts with the recorded order of the draft's rows. `draft` must outlive the LaneOrder. Errors: a cycle.
  static absl::StatusOr<LaneOrder> Make(Draft* draft);

  // Places a new row r next to a row that has a position. Precondition: this position is after every row that
  // r depends on, and before every row that depends on r.
  void Before(uint32_t r, uint32_t anchor) { Link(r, prev_[anchor]); }
  void After(uint32_t r, uint32_t anchor) { Link(r, anchor); }
  // Whether a is before b.
  bool Earlier(uint32_t a, uint32_t b) const { return key_[a] < key_[b]; }
  // Return the last row that r depends on, and the first row that depends on r; kNoRow if there is none.
  uint32_t LastDep(uint32_t r) const;
  uint32_t FirstChild(uint32_t r) const;
  // Returns the last row, from r on, whose recorded start is `t` or earlier. Without recorded starts, returns
  // the last row of all.
  uint32_t LastUntil(uint32_t r, Time t) const;

  // Adds control dependencies where rows of a strict lane would otherwise run in another order, and a note
  // about this to `tally`. If the draft does not keep lanes, only calls of a group and messages stay in
  // order: calls of several ranks are matched by their order.
  absl::Status Keep(Tally* tally);

 private:
  explicit LaneOrder(Draft* draft) : draft_(draft) {}
  void Link(uint32_t r, uint32_t behind);
  void Number();

  Draft* draft_;
  uint32_t first_ = kNoRow;
  std::vector<uint32_t> next_, prev_;  // by row
  std::vector<uint64_t> key_;          // by row; ascending along the list
};

}  // namespace chakra::edit
