// The order of lanes while nodes are added.
//
// New nodes have the largest ids, and without recorded starts ids are the order: a new node, and all that
// waits for it, would fall behind the rest of its lane. LaneOrder holds the order that is meant.
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
  // The recorded order of what is there. `draft` must outlive it. Errors: a cycle.
  static absl::StatusOr<LaneOrder> Make(Draft* draft);

  // Puts a new row next to one that has a place. It must then stand behind all that it depends on, and before
  // all that depends on it.
  void Before(uint32_t r, uint32_t anchor) { Link(r, prev_[anchor]); }
  void After(uint32_t r, uint32_t anchor) { Link(r, anchor); }
  // Whether a stands before b.
  bool Earlier(uint32_t a, uint32_t b) const { return key_[a] < key_[b]; }
  // Of what r depends on the last, of what depends on it the first; kNoRow.
  uint32_t LastDep(uint32_t r) const;
  uint32_t FirstChild(uint32_t r) const;
  // The last of those from r on that are recorded to start at `t` or before; all are, where no starts are
  // recorded.
  uint32_t LastUntil(uint32_t r, Time t) const;

  // Adds control dependencies where rows of a strict lane would not run in this order; a note says so.
  absl::Status Keep(Tally* tally);

 private:
  explicit LaneOrder(Draft* draft) : draft_(draft) {}
  void Link(uint32_t r, uint32_t behind);
  void Number();

  Draft* draft_;
  uint32_t first_ = kNoRow;
  std::vector<uint32_t> next_, prev_;  // by row
  std::vector<uint64_t> key_;          // by row, ascending along the list
};

}  // namespace chakra::edit
