#include "trace/import/capture/step_ranges.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/ascii.h"
#include "trace/base/glob.h"

namespace chakra::pytorch {
namespace {

// Replaces each number by '#': "iteration 12 of 40" becomes "iteration # of #".
std::string WithoutNumbers(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!IsDigit(c)) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

// The first number in the text; -1: none.
int64_t NumberIn(absl::string_view text) {
  size_t from = 0, to = 0;
  while (from < text.size() && !IsDigit(text[from])) ++from;
  for (to = from; to < text.size() && IsDigit(text[to]);) ++to;
  int64_t n = -1;
  return absl::SimpleAtoi(text.substr(from, to - from), &n) ? n : -1;
}

// The ranges that follow each other; a range that begins inside an earlier one is left out.
std::vector<StepRange> InOrder(std::vector<StepRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const StepRange& a, const StepRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<StepRange> out;
  for (const StepRange& r : ranges) {
    if (out.empty() || r.begin >= out.back().end) out.push_back(r);
  }
  return out;
}

// The annotations of vLLM's batches.
bool IsServing(absl::string_view text) { return absl::StartsWith(text, "execute_context_"); }

int64_t Total(const std::vector<StepRange>& ranges) {
  int64_t sum = 0;
  for (const StepRange& r : ranges) sum += r.end - r.begin;
  return sum;
}

}  // namespace

bool StepRanges::MayBe(absl::string_view text) const {
  if (asked()) return MatchesGlob(pattern_, text);
  constexpr size_t kMost = 100;
  // PyTorch makes an annotation "Optimizer.step#..." for each optimizer.
  if (text.size() > kMost || absl::StartsWith(text, "Optimizer.")) return false;
  const std::string lower = absl::AsciiStrToLower(text);
  return IsServing(text) || absl::StrContains(lower, "step") || absl::StrContains(lower, "iter") ||
         absl::StrContains(lower, "batch");
}

void StepRanges::Add(int64_t process, StepRange range, absl::string_view text) {
  range.text = strings_.Intern(text);
  ranges_[process].push_back(range);
}

void StepRanges::MoveRows(int64_t process, uint32_t rows) {
  const auto it = ranges_.find(process);
  if (it == ranges_.end()) return;
  for (StepRange& range : it->second) range.row += rows;
}

std::vector<StepRange> StepRanges::ChooseOf(const std::vector<StepRange>& ranges) const {
  std::map<std::pair<int64_t, std::string>, std::vector<StepRange>> kinds;  // by thread and text
  for (const StepRange& r : ranges)
    kinds[{r.global_tid, asked() ? "" : WithoutNumbers(strings_.Get(r.text))}].push_back(r);
  std::vector<StepRange> best;
  for (auto& [kind, of_kind] : kinds) {
    std::vector<StepRange> steps = InOrder(std::move(of_kind));
    const bool most = 2 * Total(steps) >= steps.back().end - steps.front().begin;
    const bool told = asked() || IsServing(strings_.Get(steps[0].text));
    if (!told && (steps.size() < 2 || !most)) continue;
    if (best.empty() || Total(steps) > Total(best)) best = std::move(steps);
  }
  bool numbered = true;
  int64_t before = -1;
  for (const StepRange& step : best) {
    const int64_t n = NumberIn(strings_.Get(step.text));
    numbered = numbered && n > before;
    before = n;
  }
  for (size_t i = 0; i < best.size(); ++i)
    best[i].number = numbered ? NumberIn(strings_.Get(best[i].text)) : static_cast<int64_t>(i);
  return best;
}

std::map<int64_t, std::vector<StepRange>> StepRanges::Choose() const {
  std::map<int64_t, std::vector<StepRange>> out;
  for (const auto& [process, ranges] : ranges_) {
    if (std::vector<StepRange> steps = ChooseOf(ranges); !steps.empty())
      out.emplace(process, std::move(steps));
  }
  return out;
}

absl::Status MarkSteps(const std::string& pattern, DeviceTrace* device) {
  StepRanges ranges(pattern);
  for (uint32_t row = 0; row < device->events.size(); ++row) {
    const Event& e = device->events[row];
    if (e.kind != EventKind::kAnnotation && e.kind != EventKind::kCpuOp) continue;
    const absl::string_view name = device->name_of(e);
    if (!ranges.asked() && absl::StartsWith(name, "ProfilerStep#")) return absl::OkStatus();
    if (!ranges.asked() && (e.kind != EventKind::kAnnotation || !IsServing(name))) continue;
    if (ranges.MayBe(name)) ranges.Add(0, {e.lane, e.ts, e.ts + e.dur, row}, name);
  }
  const std::map<int64_t, std::vector<StepRange>> chosen = ranges.Choose();
  if (ranges.asked() && chosen.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(device->file, ": no annotation or operator is named \"", pattern,
                     "\"; expected the text of one as --step-range; '*' matches any text"));
  }
  if (ranges.asked()) {  // the profiler's own marks are not steps now
    for (Event& e : device->events) {
      if (OnHost(e.kind) && absl::StartsWith(device->name_of(e), "ProfilerStep#"))
        e.name = device->strings.Intern(absl::StrCat("[", std::string(device->name_of(e)), "]"));
    }
  }
  for (const auto& [process, steps] : chosen) {
    for (const StepRange& step : steps)
      device->events[step.row].name = device->strings.Intern(absl::StrCat("ProfilerStep#", step.number));
  }
  return absl::OkStatus();
}

}  // namespace chakra::pytorch
