#include "trace/import/nsys/kernel_pattern.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/import/kineto/kineto_finish.h"

namespace chakra::nsys {
namespace {

using pytorch::Event;
using pytorch::EventKind;
using pytorch::kNone;

constexpr double kShare = 0.95;  // of the kernels that must repeat one period later

// Whether at least `share` of the elements equal the element `period` later.
bool Repeats(const std::vector<uint32_t>& s, size_t period, double share) {
  const size_t n = s.size() - period;
  size_t left = static_cast<size_t>(static_cast<double>(n) * (1 - share));  // number that may still differ
  for (size_t i = 0; i < n; ++i) {
    if (s[i] == s[i + period]) continue;
    if (left-- == 0) return false;
  }
  return true;
}

// The kernels of a process, in the order in which they ran, and the calls that launched them.
struct Kernels {
  std::vector<uint32_t> rows, names, launches;  // events; interned names; events, or kNoRow if not known
};

Kernels KernelsOf(const pytorch::DeviceTrace& trace) {
  absl::flat_hash_map<int64_t, uint32_t> call_of;
  Kernels out;
  for (uint32_t row = 0; row < trace.events.size(); ++row) {
    const Event& e = trace.events[row];
    if ((e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver) && e.correlation != kNone)
      call_of.try_emplace(e.correlation, row);
  }
  for (uint32_t row = 0; row < trace.events.size(); ++row) {
    const Event& e = trace.events[row];
    if (e.kind != EventKind::kKernel) continue;
    const auto call = call_of.find(e.correlation);
    out.rows.push_back(row);
    out.names.push_back(e.name);
    out.launches.push_back(call == call_of.end() ? kNoRow : call->second);
  }
  return out;
}

// Returns the position within a period of the kernel that a step begins with: the device was idle longest
// before this kernel, summed over all periods.
size_t PhaseOf(const pytorch::DeviceTrace& trace, const Kernels& kernels, size_t period) {
  std::vector<int64_t> idle(period);
  int64_t busy_until = INT64_MIN;
  for (size_t i = 0; i < kernels.rows.size(); ++i) {
    const Event& e = trace.events[kernels.rows[i]];
    if (busy_until != INT64_MIN) idle[i % period] += std::max<int64_t>(0, e.ts - busy_until);
    busy_until = std::max(busy_until, e.ts + e.dur);
  }
  return static_cast<size_t>(std::max_element(idle.begin(), idle.end()) - idle.begin());
}

class Marker {
 public:
  Marker(Process* process, uint32_t thread) : trace_(process->trace), thread_(thread) {
    for (uint32_t row = 0; row < trace_.events.size(); ++row) {
      const Event& e = trace_.events[row];
      if (pytorch::OnHost(e.kind) && e.lane == thread_) host_.push_back(row);
    }
  }

  // Returns the begin of the call tree around the launch at `row`: of the outermost call around the launch
  // that began after `after` and ended before `before`.
  int64_t TreeBegin(uint32_t row, int64_t after, int64_t before) const {
    const Event& launch = trace_.events[row];
    int64_t begin = launch.ts;
    for (auto it = std::upper_bound(host_.begin(), host_.end(), row); it != host_.begin();) {
      const Event& e = trace_.events[*--it];
      if (e.ts <= after) break;
      if (e.ts + e.dur >= launch.ts + launch.dur && e.ts + e.dur < before) begin = e.ts;
    }
    return begin;
  }

 private:
  const pytorch::DeviceTrace& trace_;
  const uint32_t thread_;
  std::vector<uint32_t> host_;  // rows of the thread
};

// Returns the thread that launches the first kernels of periods; kNoRow: not known.
uint32_t FirstThread(const pytorch::DeviceTrace& trace, const Kernels& kernels, size_t phase, size_t period) {
  for (size_t i = phase; i < kernels.launches.size(); i += period) {
    if (kernels.launches[i] != kNoRow) return trace.events[kernels.launches[i]].lane;
  }
  return kNoRow;
}

}  // namespace

size_t PeriodOf(const std::vector<uint32_t>& sequence, double share) {
  const size_t n = sequence.size();
  std::map<uint32_t, std::vector<size_t>> places;
  for (size_t i = 0; i < n; ++i) places[sequence[i]].push_back(i);
  // Try the distances between equal elements. Rare elements have the fewest distances, and each element that
  // repeats has the period among its distances.
  std::vector<const std::vector<size_t>*> rare;
  for (const auto& [element, at] : places) {
    if (at.size() > 1) rare.push_back(&at);
  }
  std::stable_sort(rare.begin(), rare.end(),
                   [](const auto* a, const auto* b) { return a->size() < b->size(); });
  std::set<size_t> tried;
  size_t best = 0;
  for (const std::vector<size_t>* at : rare) {
    for (size_t k = 1; k < at->size() && tried.size() < kMostTried; ++k) {
      const size_t period = (*at)[k] - (*at)[0];
      if (2 * period > n || !tried.insert(period).second || (best > 0 && period >= best)) continue;
      if (Repeats(sequence, period, share)) best = period;
    }
  }
  return best;
}

void MarkPattern(Process* process) {
  pytorch::DeviceTrace& trace = process->trace;
  const Kernels kernels = KernelsOf(trace);
  const size_t period = PeriodOf(kernels.names, kShare);
  size_t i = period == 0 ? 0 : PhaseOf(trace, kernels, period);
  const uint32_t thread = period == 0 ? kNoRow : FirstThread(trace, kernels, i, period);
  if (thread == kNoRow) {
    process->notes.Count(
        "nsys_no_pattern", 0,
        "no pattern of kernels repeats, so no steps were found; NVTX ranges can mark steps (--step-range)");
    return;
  }
  std::vector<uint32_t> marks;  // launches of the first kernels of periods
  for (; i < kernels.rows.size(); i += period) {
    const uint32_t launch = kernels.launches[i];
    if (launch == kNoRow || trace.events[launch].lane != thread) continue;
    if (!marks.empty() && trace.events[launch].ts <= trace.events[marks.back()].ts) continue;
    marks.push_back(launch);
  }
  const Marker marker(process, thread);
  std::vector<int64_t> begins;
  for (size_t k = 0; k < marks.size(); ++k) {
    const int64_t after = k == 0 ? INT64_MIN : trace.events[marks[k - 1]].ts;
    const int64_t before = k + 1 == marks.size() ? INT64_MAX : trace.events[marks[k + 1]].ts;
    begins.push_back(marker.TreeBegin(marks[k], after, before));
  }
  std::vector<Event> steps;
  for (size_t k = 0; k + 1 < marks.size(); ++k) {  // the end of the last period is not known
    Event step;
    step.kind = EventKind::kAnnotation;
    step.lane = thread;
    step.ts = begins[k];
    step.dur = begins[k + 1] - begins[k];
    step.name = trace.strings.Intern(absl::StrCat("ProfilerStep#", k));
    if (step.dur > 0) steps.push_back(step);
  }
  trace.events.insert(trace.events.end(), steps.begin(), steps.end());
  pytorch::kineto::SortEvents(&trace);
}

}  // namespace chakra::nsys
