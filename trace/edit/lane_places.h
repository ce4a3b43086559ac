// The recorded order of a draft and its lanes, as it was before an edit.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/edit/draft.h"

namespace chakra::edit {

class LanePlaces {
 public:
  static absl::StatusOr<LanePlaces> Make(Draft* draft);

  // In recorded order, from 0.
  uint32_t place(uint32_t r) const { return place_[r]; }
  // Next and previous row on the lane of r, or kNoRow.
  uint32_t next(uint32_t r) const { return next_[r]; }
  uint32_t previous(uint32_t r) const { return previous_[r]; }

 private:
  std::vector<uint32_t> place_, next_, previous_;
};

// Takes r out of its lane's recorded order: dependencies of kind "thread" or "stream" that make it (of
// captures) go from its predecessors to its successors.
void LeaveLane(Draft* draft, uint32_t r);

}  // namespace chakra::edit
