// Places ranks on devices.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// The device of each rank by a rule:
//   linear             rank i on device i
//   round_robin:BLOCK  on block i mod blocks, where blocks are BLOCK devices each
//                      (BLOCK divides the devices): neighbours are far apart
//   random:SEED        a permutation of the devices, drawn by the seed
//   scattered:SEED     whole nodes of `node` devices each, drawn from all by the seed, as a scheduler leaves
//   free stride:N           N devices after the last rank, around; where that comes
//                      back to a device that is taken, one further
// Preconditions: 1 <= ranks <= devices. Errors name the rule, the value and the
// nearest valid one.
// `node`: divides the devices.
absl::StatusOr<std::vector<int>> PlaceByRule(absl::string_view rule, int ranks, int devices, int node = 1);

// Whether `text` begins like a rule, and so does not name a file.
bool LooksLikePlacementRule(absl::string_view text);

// The device of each rank from the text of a file with lines "RANK DEVICE", "RANK: DEVICE" or "0-7: 8-15"
// (ranges of one length, in order); # begins a comment. Errors name `file`, the line and what was expected: a
// line of another form, a rank or device that is given twice or out of range, a rank that no line places.
absl::StatusOr<std::vector<int>> ParsePlacement(absl::string_view text, absl::string_view file, int ranks,
                                                int devices);

}  // namespace chakra
