// The releases of NCCL, and since which release its tuner has each choice.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::nccl {

// A release as 100 * major + minor: 227 is 2.27.
inline constexpr int kOldestVersion = 204, kNewestVersion = 230;

// Parses "2.27" or "2.27.3"; empty: kNewestVersion. Errors: any other text; a release outside the range
// above.
absl::StatusOr<int> ParseVersion(absl::string_view text);
std::string VersionText(int version);  // "2.27"

// The first release of the library that has an algorithm; 0: all releases have it.
int FirstVersionOf(absl::string_view algorithm);

// From this release on, grouped sends of little data use LL.
inline constexpr int kFirstWithLLToPeer = 212;
// From this release on, LL128 is used between nodes whose NICs are attached to the host's bridge (NRIS
// documentation of Olivia: 2.27.3).
inline constexpr int kFirstWithLL128ToFarCards = 227;

}  // namespace chakra::nccl
