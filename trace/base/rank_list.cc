#include "trace/base/rank_list.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace chakra {
namespace {

absl::Status Wrong(absl::string_view part, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("\"", part.substr(0, 40), "\": expected ", expected));
}

// Parses decimal digits only: no sign, no blanks.
bool ToNumber(absl::string_view text, int64_t* out) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         absl::SimpleAtoi(text, out);
}

}  // namespace

std::string FormatRanks(absl::Span<const int> ranks) {
  std::string out;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    const int64_t step = i + 1 < ranks.size() ? int64_t{ranks[i + 1]} - ranks[i] : 0;
    while (step > 0 && last + 1 < ranks.size() && int64_t{ranks[last + 1]} - ranks[last] == step) ++last;
    if (last < i + 2 && (last == i || step != 1)) last = i;  // two ranks that are not neighbours: one by one
    absl::StrAppend(&out, out.empty() ? "" : ",", ranks[i]);
    if (last > i) absl::StrAppend(&out, "-", ranks[last]);
    if (last > i && step > 1) absl::StrAppend(&out, ":", step);
    i = last + 1;
  }
  return out;
}

absl::Status ParseRanks(absl::string_view text, int ranks, std::vector<int>* out) {
  constexpr absl::string_view kForm = "ranks as 3, 0-7 or 0-30:2, separated by commas";
  size_t entries = 0;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> range_and_step =
        absl::StrSplit(part, absl::MaxSplits(':', 1));
    const absl::string_view range = range_and_step.first;
    const size_t dash = range.find('-');
    int64_t first = 0, last = 0, step = 1;
    if (!ToNumber(range.substr(0, dash), &first)) return Wrong(part, kForm);
    last = first;
    if (dash != range.npos && !ToNumber(range.substr(dash + 1), &last)) return Wrong(part, kForm);
    const bool stepped = range.size() < part.size();
    if (stepped && (dash == range.npos || !ToNumber(range_and_step.second, &step) || step < 1))
      return Wrong(part, kForm);
    if (last < first) return Wrong(part, "a range whose last rank is not below its first");
    if (last >= ranks) return Wrong(part, absl::StrCat("ranks from 0 to ", ranks - 1));
    entries += static_cast<size_t>((last - first) / step) + 1;
    if (entries > static_cast<size_t>(ranks))
      return Wrong(part, absl::StrCat("each rank once; the number of ranks is ", ranks));
    for (int64_t r = first; r <= last; r += step) out->push_back(static_cast<int>(r));
  }
  return absl::OkStatus();
}

}  // namespace chakra
