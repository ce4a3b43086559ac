#include "replay/nccl/sizes.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr size_t kMostSizes = 10000;
constexpr double kMostBytes = 1e15;

absl::Status BadSize(absl::string_view text, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("size \"", std::string(text), "\": expected ", std::string(expected)));
}

}  // namespace

absl::StatusOr<uint64_t> ParseSize(absl::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789.");
  const std::string number(text.substr(0, digits));
  const std::string unit = digits == absl::string_view::npos ? "" : std::string(text.substr(digits));
  double value = 0;
  if (!absl::SimpleAtod(number, &value)) return BadSize(text, "a number and a unit, e.g. 64KiB or 8G");
  const std::string prefixes = "KMGT";
  double scale = 1;
  if (!unit.empty() && unit != "B") {
    const size_t power = prefixes.find(absl::ascii_toupper(static_cast<unsigned char>(unit[0])));
    const std::string rest = unit.substr(1);
    if (power == std::string::npos || (!rest.empty() && rest != "iB" && rest != "i" && rest != "B")) {
      return BadSize(text, "a unit of B, KiB, MiB, GiB, TiB (K, M, G, T for short) or kB, MB, GB, TB");
    }
    scale = std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power) + 1);
  }
  const double bytes = value * scale;
  if (!(bytes >= 1 && bytes <= kMostBytes) || bytes != std::floor(bytes)) {
    return BadSize(text, "a whole number of bytes from 1 to 1e15");
  }
  return static_cast<uint64_t>(bytes);
}

absl::StatusOr<std::vector<uint64_t>> ParseSizes(absl::string_view text, double factor) {
  std::vector<uint64_t> sizes;
  for (const absl::string_view item : absl::StrSplit(text, ',')) {
    const size_t dots = item.find("..");
    ASSIGN_OR_RETURN(const uint64_t first, ParseSize(item.substr(0, dots)));
    if (dots == absl::string_view::npos) {
      sizes.push_back(first);
      continue;
    }
    ASSIGN_OR_RETURN(const uint64_t last, ParseSize(item.substr(dots + 2)));
    if (last < first) return BadSize(item, "the smaller size first");
    if (!(factor > 1)) return BadSize(item, "a factor above 1 for a range");
    for (double at = static_cast<double>(first); at <= static_cast<double>(last) * (1 + 1e-9); at *= factor) {
      const auto size = static_cast<uint64_t>(std::llround(at));
      if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
      if (sizes.size() > kMostSizes) return BadSize(item, absl::StrCat("at most ", kMostSizes, " sizes"));
    }
  }
  return sizes;
}

}  // namespace chakra
