// The recorded order of a draft's rows, overall and on each lane, as it was before an edit.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/edit/draft.h"

namespace chakra::edit {

class LanePlaces {
 public:
  static absl::StatusOr<LanePlaces> Make(Draft* draft);

  // The position of r in recorded order, from 0.
  uint32_t place(uint32_t r) const { return place_[r]; }
  // The next and the previous row on the lane of r; kNoRow if there is none.
  uint32_t next(uint32_t r) const { return next_[r]; }
  uint32_t previous(uint32_t r) const { return previous_[r]; }

 private:
  std::vector<uint32_t> place_, next_, previous_;
};

// Removes r from the order of its lane. In captures, dependencies of kind "thread" or "stream" make this
// order; afterwards they lead from r's predecessors to r's successors.
void LeaveLane(Draft* draft, uint32_t r);

}  // namespace chakra::edit
