#include "backends/topology/placement.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/splitmix.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

const char* const kRules[] = {"linear", "round_robin", "random", "scattered", "stride"};

absl::Status Bad(absl::string_view rule, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("placement \"", rule, "\"; expected ", expected));
}

// A random number in [0, n), all equally likely.
uint64_t Below(uint64_t n, uint64_t* state) {
  const uint64_t whole = ~uint64_t{0} / n * n;
  uint64_t x = NextSplitMix(state);
  while (x >= whole) x = NextSplitMix(state);
  return x % n;
}

std::vector<int> DevicesInRandomOrder(int devices, uint64_t seed) {
  std::vector<int> order(static_cast<size_t>(devices));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[Below(i, &seed)]);
  return order;
}

// The divisor of n that is nearest to `wish`.
int NearestDivisor(int n, int64_t wish) {
  int64_t best = 1;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    for (const int64_t c : {d, n / d}) {
      if (std::abs(c - wish) < std::abs(best - wish)) best = c;
    }
  }
  return static_cast<int>(best);
}

struct Range {
  int64_t first = 0, last = 0;
};

bool ParseRange(absl::string_view text, Range* out) {
  const size_t dash = text.find('-');
  if (dash == absl::string_view::npos) {
    if (!absl::SimpleAtoi(text, &out->first)) return false;
    out->last = out->first;
  } else if (!absl::SimpleAtoi(text.substr(0, dash), &out->first) ||
             !absl::SimpleAtoi(text.substr(dash + 1), &out->last)) {
    return false;
  }
  constexpr int64_t kMost = int64_t{1} << 40;  // far above any rank
  return out->first >= 0 && out->first <= out->last && out->last <= kMost;
}

// "0-7: 8-15", "0 8" or "0: 8".
bool ParseLine(absl::string_view line, Range* ranks, Range* devices) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
  return parts.size() == 2 && ParseRange(parts[0], ranks) && ParseRange(parts[1], devices);
}

// Collects the lines of one file.
class Placing {
 public:
  Placing(absl::string_view file, int ranks, int devices)
      : file_(file), ranks_(ranks), line_of_device_(static_cast<size_t>(devices)) {
    device_.assign(static_cast<size_t>(ranks), -1);
    line_of_rank_.resize(static_cast<size_t>(ranks));
  }

  absl::Status Add(absl::string_view text, int line) {
    Range ranks, devices;
    if (!ParseLine(text, &ranks, &devices))
      return Bad(line, absl::StrCat("\"", text, "\"; expected RANK DEVICE, or ranges as 0-7: 8-15"));
    const int64_t length = ranks.last - ranks.first + 1;
    if (devices.last - devices.first + 1 != length) {
      return Bad(line,
                 absl::StrCat(length, " ranks on ", devices.last - devices.first + 1,
                              " devices; expected devices ", devices.first, "-", devices.first + length - 1));
    }
    const auto all = static_cast<int64_t>(line_of_device_.size());
    if (ranks.last >= ranks_)
      return Bad(line, absl::StrCat("rank ", std::max<int64_t>(ranks.first, ranks_),
                                    " is not in the run; expected 0 to ", ranks_ - 1));
    if (devices.last >= all)
      return Bad(line, absl::StrCat("device ", std::max(devices.first, all),
                                    " is not in the machine; expected 0 to ", all - 1));
    for (int64_t i = 0; i < length; ++i) {
      const auto r = static_cast<size_t>(ranks.first + i), d = static_cast<size_t>(devices.first + i);
      if (line_of_rank_[r] != 0)
        return Bad(line, absl::StrCat("rank ", r, " has device ", device_[r], " by line ", line_of_rank_[r],
                                      "; expected each rank once"));
      if (line_of_device_[d] != 0)
        return Bad(line, absl::StrCat("device ", d, " is already used by line ", line_of_device_[d], Free()));
      line_of_rank_[r] = line_of_device_[d] = line;
      device_[r] = static_cast<int>(d);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<int>> Finish() {
    const auto missing = std::find(device_.begin(), device_.end(), -1);
    if (missing == device_.end()) return std::move(device_);
    return absl::InvalidArgumentError(absl::StrCat(file_, ": no line places rank ", missing - device_.begin(),
                                                   "; expected one for each of the ranks 0 to ", ranks_ - 1,
                                                   Free()));
  }

 private:
  absl::Status Bad(int line, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", line, ": ", what));
  }
  std::string Free() const {
    const auto free = std::find(line_of_device_.begin(), line_of_device_.end(), 0);
    if (free == line_of_device_.end()) return "";
    return absl::StrCat("; the first free device is ", free - line_of_device_.begin());
  }

  std::string file_;
  int ranks_;
  std::vector<int> device_;                         // by rank; -1: not placed
  std::vector<int> line_of_rank_, line_of_device_;  // 0: none
};

}  // namespace

bool LooksLikePlacementRule(absl::string_view text) {
  const absl::string_view name = text.substr(0, text.find(':'));
  return std::find(std::begin(kRules), std::end(kRules), name) != std::end(kRules);
}

absl::StatusOr<std::vector<int>> PlaceByRule(absl::string_view rule, int ranks, int devices, int node) {
  const size_t colon = rule.find(':');
  const absl::string_view name = rule.substr(0, colon);
  if (!LooksLikePlacementRule(rule)) {
    const std::vector<std::string> known(std::begin(kRules), std::end(kRules));
    return absl::InvalidArgumentError(
        absl::StrCat("there is no placement rule \"", name, "\"", SuggestName(name, known)));
  }
  const bool given = colon != absl::string_view::npos;
  if (name == "linear" && given) return Bad(rule, "only linear");
  uint64_t value = 0;
  if (name != "linear" && (!given || !absl::SimpleAtoi(rule.substr(colon + 1), &value)))
    return Bad(rule, absl::StrCat(name, ":N, N a whole number"));
  std::vector<int> device(static_cast<size_t>(ranks));
  if (name == "linear") {
    std::iota(device.begin(), device.end(), 0);
  } else if (name == "random") {
    device = DevicesInRandomOrder(devices, value);
    device.resize(static_cast<size_t>(ranks));
  } else if (name == "scattered") {
    const std::vector<int> nodes = DevicesInRandomOrder(devices / node, value);
    for (int i = 0; i < ranks; ++i)
      device[static_cast<size_t>(i)] = nodes[static_cast<size_t>(i / node)] * node + i % node;
  } else if (name == "round_robin") {
    const auto wish = static_cast<int64_t>(std::min<uint64_t>(value, static_cast<uint64_t>(devices)));
    if (value == 0 || value > static_cast<uint64_t>(devices) || devices % wish != 0) {
      return Bad(rule, absl::StrCat("a divisor of the ", devices, " devices, ", NearestDivisor(devices, wish),
                                    " for instance"));
    }
    const int block = static_cast<int>(value), blocks = devices / block;
    for (int i = 0; i < ranks; ++i) device[static_cast<size_t>(i)] = i % blocks * block + i / blocks;
  } else {
    const int most = std::max(1, devices - 1);
    if (value == 0 || value > static_cast<uint64_t>(most)) return Bad(rule, absl::StrCat("1 to ", most));
    const auto step = static_cast<int64_t>(value);
    // The number of ranks until the stride is back at its start.
    const int64_t round = devices / std::gcd<int64_t>(step, devices);
    for (int64_t i = 0; i < ranks; ++i)
      device[static_cast<size_t>(i)] = static_cast<int>((i * step + i / round) % devices);
  }
  return device;
}

absl::StatusOr<std::vector<int>> ParsePlacement(absl::string_view text, absl::string_view file, int ranks,
                                                int devices) {
  Placing placing(file, ranks, devices);
  int line = 0;
  for (absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++line;
    const absl::string_view content = absl::StripAsciiWhitespace(raw.substr(0, raw.find('#')));
    if (content.empty()) continue;
    RETURN_IF_ERROR(placing.Add(content, line));
  }
  return placing.Finish();
}

}  // namespace chakra
