// The releases of NCCL, and what its tuner may choose since which.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::nccl {

// A release as 100 * major + minor: 227 is 2.27.
inline constexpr int kOldestVersion = 204, kNewestVersion = 230;

// Reads "2.27" or "2.27.3"; empty: kNewestVersion. Errors: any other text; a release out of the range above.
absl::StatusOr<int> ParseVersion(absl::string_view text);
std::string VersionText(int version);  // "2.27"

// The release from which on the library has an algorithm; 0: all have it.
int FirstVersionOf(absl::string_view algorithm);

// From this release on, grouped sends of little data use LL.
inline constexpr int kFirstWithLLToPeer = 212;
// And LL128 between nodes whose cards hang on the host's bridge (NRIS documentation of Olivia: 2.27.3).
inline constexpr int kFirstWithLL128ToFarCards = 227;

}  // namespace chakra::nccl
