// Places ranks on devices.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// The device of each rank by a rule:
//   linear             rank i on device i
//   round_robin:BLOCK  rank i in block i mod blocks, so that neighbours are far apart; a block is BLOCK
//                      consecutive devices, and BLOCK divides the number of devices
//   random:SEED        a random permutation of the devices
//   scattered:SEED     nodes of `node` devices each, chosen at random as if a scheduler had left them free
//   stride:N           each rank N devices after the previous one, modulo the devices; one device further
//                      when the stride is back at its start
// Preconditions: 1 <= ranks <= devices; `node` divides devices. Errors name the rule, the value and the
// nearest valid value.
absl::StatusOr<std::vector<int>> PlaceByRule(absl::string_view rule, int ranks, int devices, int node = 1);

// Whether `text` begins like a rule, and therefore is no name of a file.
bool LooksLikePlacementRule(absl::string_view text);

// The device of each rank from the text of a file with lines "RANK DEVICE", "RANK: DEVICE" or "0-7: 8-15"
// (ranges of equal length, in order); # begins a comment. Errors name `file`, the line and what was expected:
// a line of another form, a rank or device that occurs twice or is out of range, a rank without a line.
absl::StatusOr<std::vector<int>> ParsePlacement(absl::string_view text, absl::string_view file, int ranks,
                                                int devices);

}  // namespace chakra
