#include "trace/import/linked/steps.h"

#include <iterator>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/capture/step_ranges.h"

namespace chakra::pytorch {
namespace {

// The steps of a device trace, by number: events named "ProfilerStep#N", and steps of which only times are
// recorded.
std::map<int64_t, DeviceStep> Steps(const DeviceTrace& device) {
  std::map<int64_t, DeviceStep> steps;
  for (const Event& e : device.events) {
    int64_t n = 0;
    if (!OnHost(e.kind)) continue;
    const absl::string_view name = device.name_of(e);
    if (absl::StartsWith(name, "ProfilerStep#") && absl::SimpleAtoi(name.substr(13), &n))
      steps.try_emplace(n, DeviceStep{n, e.ts, e.ts + e.dur});
  }
  for (const DeviceStep& step : device.steps) steps.try_emplace(step.number, step);
  return steps;
}

// Sets the window to the steps that `wanted` selects: "7", "7-9", "first", "last" or "skip-first".
absl::Status SelectSteps(const DeviceTrace& device, const std::string& wanted, TimelineOptions* window) {
  if (wanted.empty() || wanted == "all") return absl::OkStatus();
  const std::map<int64_t, DeviceStep> steps = Steps(device);
  const auto bad = [&](absl::string_view why) {
    std::string there = steps.empty() ? "the file has no ProfilerStep marks"
                                      : absl::StrCat("the file has steps ", steps.begin()->first, " to ",
                                                     steps.rbegin()->first);
    return absl::InvalidArgumentError(
        absl::StrCat(device.file, ": steps \"", wanted, "\": ", std::string(why), "; ", there));
  };
  if (steps.empty()) return bad("no step is marked");
  auto first = steps.begin(), last = std::prev(steps.end());
  if (wanted == "first") {
    last = first;
  } else if (wanted == "last") {
    first = last;
  } else if (wanted == "skip-first") {
    if (++first == steps.end()) return bad("no step is left");
  } else {
    int64_t from = 0, to = 0;
    const size_t dash = wanted.find('-');
    const bool good = absl::SimpleAtoi(wanted.substr(0, dash), &from) &&
                      (dash == wanted.npos || absl::SimpleAtoi(wanted.substr(dash + 1), &to));
    if (!good) return bad("expected all, first, last, skip-first, N or N-M");
    if (dash == wanted.npos) to = from;
    first = steps.find(from);
    last = steps.find(to);
    if (first == steps.end() || last == steps.end() || to < from) return bad("no such steps");
  }
  window->begin = first->second.begin;
  window->end = last->second.end;
  return absl::OkStatus();
}

}  // namespace

absl::Status FindSteps(const CaptureSelection& asked, DeviceTrace* device, TimelineOptions* window) {
  // Readers of other recordings mark the steps that they find.
  const bool own = device->schema == DeviceTrace().schema;
  if (own || (!asked.step_range.empty() && device->schema != "nsys")) {
    RETURN_IF_ERROR(MarkSteps(asked.step_range, device));
  }
  return SelectSteps(*device, asked.steps, window);
}

absl::Status CheckNoSteps(const CaptureSelection& asked, const std::string& file) {
  const bool steps = !asked.steps.empty() && asked.steps != "all";
  if (!steps && asked.step_range.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file, steps ? ": steps \"" : ": --step-range \"", steps ? asked.steps : asked.step_range,
                   "\": a host trace has no times to find steps by; expected its device trace as well"));
}

}  // namespace chakra::pytorch
