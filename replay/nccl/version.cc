#include "replay/nccl/version.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace chakra::nccl {

absl::StatusOr<int> ParseVersion(absl::string_view text) {
  if (text.empty()) return kNewestVersion;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  int number[3] = {0, 0, 0};
  bool good = parts.size() == 2 || parts.size() == 3;
  for (size_t i = 0; good && i < parts.size(); ++i) {
    good = absl::SimpleAtoi(parts[i], &number[i]) && number[i] >= 0 && number[i] < 100;
  }
  const int version = 100 * number[0] + number[1];
  if (good && version >= kOldestVersion && version <= kNewestVersion) return version;
  return absl::InvalidArgumentError(
      absl::StrCat("is \"", std::string(text), "\"; expected a release of NCCL from ",
                   VersionText(kOldestVersion), " to ", VersionText(kNewestVersion), ", as \"2.27\""));
}

std::string VersionText(int version) { return absl::StrCat(version / 100, ".", version % 100); }

// Source: NCCL's release notes.
int FirstVersionOf(absl::string_view algorithm) {
  if (algorithm == "nvls") return 217;
  if (algorithm == "nvls_tree") return 218;
  if (algorithm == "pat") return 223;
  return 0;
}

}  // namespace chakra::nccl
