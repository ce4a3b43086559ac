#include "trace/import/xplane/host_threads.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace chakra::xplane {
namespace {

// Whether a frame is jax.profiler.start_trace(): "$profiler.py:101 start_trace".
bool StartsProfiler(absl::string_view name) {
  return absl::StartsWith(name, "$profiler") && absl::EndsWith(name, " start_trace");
}

constexpr absl::string_view kWaits = "block_until_ready";

// Removes waits inside other waits.
void KeepOuterWaits(HostThreadCalls* thread) {
  std::vector<HostCall> waits;
  for (const HostCall& call : thread->calls) {
    if (call.waits) waits.push_back(call);
  }
  std::sort(waits.begin(), waits.end(), [](const HostCall& a, const HostCall& b) {
    return std::pair(a.begin, -a.end) < std::pair(b.begin, -b.end);
  });
  int64_t until = INT64_MIN;
  const auto inner = std::remove_if(waits.begin(), waits.end(), [&](const HostCall& call) {
    const bool inside = call.end <= until;
    until = std::max(until, call.end);
    return inside;
  });
  waits.erase(inner, waits.end());
  const auto rest = std::remove_if(thread->calls.begin(), thread->calls.end(),
                                   [](const HostCall& call) { return call.waits; });
  thread->calls.erase(rest, thread->calls.end());
  thread->calls.insert(thread->calls.end(), waits.begin(), waits.end());
}

// The times in which a thread is in a call, ascending and disjoint.
std::vector<std::pair<int64_t, int64_t>> BusyTimes(const HostThreadCalls& thread) {
  std::vector<std::pair<int64_t, int64_t>> all, busy;
  for (const HostCall& call : thread.calls) all.emplace_back(call.begin, call.end);
  std::sort(all.begin(), all.end());
  for (const auto& [begin, end] : all) {
    if (busy.empty() || begin > busy.back().second) {
      busy.emplace_back(begin, end);
    } else {
      busy.back().second = std::max(busy.back().second, end);
    }
  }
  return busy;
}

bool OnlyLaunches(const HostThreadCalls& thread) {
  return !thread.calls.empty() &&
         std::all_of(thread.calls.begin(), thread.calls.end(),
                     [](const HostCall& c) { return c.correlation >= 0 && c.step < 0; });
}

// Whether nearly all calls of `inner` are within calls of `outer`.
bool LiesWithin(const HostThreadCalls& inner, const HostThreadCalls& outer) {
  constexpr double kNearlyAll = 0.95;
  const std::vector<std::pair<int64_t, int64_t>> busy = BusyTimes(outer);
  size_t within = 0;
  for (const HostCall& call : inner.calls) {
    const auto after = std::upper_bound(busy.begin(), busy.end(), std::pair(call.begin, INT64_MAX));
    within += after != busy.begin() && call.end <= std::prev(after)->second ? 1 : 0;
  }
  return static_cast<double>(within) >= kNearlyAll * static_cast<double>(inner.calls.size());
}

void LeaveOutBeforeStart(HostThreads* host) {
  for (HostThreadCalls& thread : host->threads) {
    const auto before = [&](const HostCall& call) { return call.end <= host->profiler_start; };
    const auto kept = std::remove_if(thread.calls.begin(), thread.calls.end(), before);
    host->before_start += static_cast<uint64_t>(thread.calls.end() - kept);
    thread.calls.erase(kept, thread.calls.end());
  }
}

}  // namespace

absl::Status ReadHostThreads(const Plane& plane, const FileClock& clock, const std::string& file,
                             HostThreads* out) {
  int64_t correlation = -1, step = -1;
  for (const auto& [id, name] : plane.stats) {
    if (name == "correlation_id" && (correlation < 0 || id < correlation)) correlation = id;
    if (name == "step_num" && (step < 0 || id < step)) step = id;
  }
  for (const Line& line : plane.lines) {
    HostThreadCalls& thread = out->threads.emplace_back();
    thread.id = line.id;
    thread.name = line.name;
    thread.calls.reserve(line.events);
    const bool whole = ForEvents(line, [&](const EventTimes& times, const std::vector<wire::Cursor>& stats) {
      const auto metadata = plane.events.find(times.metadata);
      HostCall call;
      if (metadata != plane.events.end()) call.name = metadata->second.name;
      for (const wire::Cursor& bytes : stats) {
        Stat stat;
        const int64_t id = ReadStat(bytes, plane, &stat);
        if (id >= 0 && id == correlation) call.correlation = stat.number;
        if (id >= 0 && id == step) call.step = stat.number;
      }
      if (StartsProfiler(call.name) && times.timed && Sane(times))
        out->profiler_start = std::max(out->profiler_start, clock.End(line, times));
      // Frames of Python ("$file.py:12 f") and marks without a duration are no work of their own.
      const bool idle = times.duration_ps == 0 && call.correlation < 0;
      if (absl::StartsWith(call.name, "$") && absl::EndsWith(call.name, kWaits)) {
        call.waits = true;
        call.name = kWaits;
      }
      if (!times.timed || call.name.empty() || call.name[0] == '$' || idle) {
        ++out->skipped;
        return;
      }
      if (!Sane(times)) {
        ++out->damaged;
        return;
      }
      call.begin = clock.Begin(line, times);
      call.end = clock.End(line, times);
      thread.calls.push_back(call);
    });
    if (!whole)
      return absl::InvalidArgumentError(absl::StrCat(file, ": plane ", plane.name, ", line \"", line.name,
                                                     "\": a damaged event; expected a whole XSpace"));
  }
  return absl::OkStatus();
}

void FinishHostThreads(HostThreads* host) {
  LeaveOutBeforeStart(host);
  std::vector<HostThreadCalls>& threads = host->threads;
  for (HostThreadCalls& thread : threads) KeepOuterWaits(&thread);
  for (HostThreadCalls& inner : threads) {
    if (!OnlyLaunches(inner)) continue;
    HostThreadCalls* only = nullptr;
    size_t found = 0;
    for (HostThreadCalls& outer : threads) {
      if (&outer == &inner || OnlyLaunches(outer) || !LiesWithin(inner, outer)) continue;
      only = &outer;
      ++found;
    }
    if (found != 1) continue;
    only->calls.insert(only->calls.end(), inner.calls.begin(), inner.calls.end());
    inner.calls.clear();
  }
}

}  // namespace chakra::xplane
