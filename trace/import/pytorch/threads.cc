#include "trace/import/pytorch/threads.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace chakra::pytorch {
namespace {

// An end at most this much after the caller's end is due to rounding: some files cut times to whole
// microseconds.
constexpr int64_t kRoundingNs = 2000;

void SetWindow(const DeviceTrace& device, const TimelineOptions& options, HostThreads* host) {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const Event& e : device.events) {
    if (e.kind == EventKind::kSync) continue;
    begin = std::min(begin, e.ts);
    end = std::max(end, e.ts + e.dur);
  }
  host->window_begin = std::max(begin, options.begin);
  host->window_end = std::min(end, options.end);
}

// Puts the rows of one thread into `events` or `async`, and sets parents.
void Nest(const DeviceTrace& device, const std::vector<uint32_t>& rows, HostThread* thread,
          HostThreads* host) {
  std::vector<uint32_t> open;
  const bool mixed = std::any_of(rows.begin(), rows.end(),
                                 [&](uint32_t row) { return !IsHostCollective(device, device.events[row]); });
  for (const uint32_t row : rows) {
    const Event& e = device.events[row];
    while (!open.empty() && host->end[open.back()] <= host->begin[row]) {
      // A call of length 0 at the very end of another call is inside it.
      if (host->end[row] == host->begin[row] && host->end[open.back()] == host->begin[row] &&
          host->begin[open.back()] < host->begin[row] && e.kind >= EventKind::kRuntime) {
        break;
      }
      open.pop_back();
    }
    if (mixed && IsHostCollective(device, e)) {
      host->parent[row] = open.empty() ? kNoRow : open.back();
      thread->async.push_back(row);
      continue;
    }
    if (!open.empty()) {
      const int64_t over = host->end[row] - host->end[open.back()];
      if (over > kRoundingNs) {
        thread->async.push_back(row);
        host->parent[row] = open.back();
        continue;
      }
      if (over > 0) {
        host->end[row] = host->end[open.back()];
        ++host->clipped;
      }
      host->parent[row] = open.back();
    }
    open.push_back(row);
    thread->events.push_back(row);
  }
}

void FindBusy(const DeviceTrace& device, const HostThreads& host, HostThread* thread) {
  for (const uint32_t row : thread->events) {
    thread->bounds.push_back(host.begin[row]);
    thread->bounds.push_back(host.end[row]);
    const Event& e = device.events[row];
    if (e.kind == EventKind::kAnnotation && !IsHostCollective(device, e)) continue;
    const Interval i = {host.begin[row], host.end[row]};
    if (!thread->busy.empty() && i.begin <= thread->busy.back().end) {
      thread->busy.back().end = std::max(thread->busy.back().end, i.end);
    } else {
      thread->busy.push_back(i);
    }
  }
  std::sort(thread->bounds.begin(), thread->bounds.end());
  thread->bounds.erase(std::unique(thread->bounds.begin(), thread->bounds.end()), thread->bounds.end());
}

// Answers how long a thread was busy, and when it last did something.
class Activity {
 public:
  explicit Activity(const HostThread& thread) : thread_(thread), before_(thread.busy.size() + 1) {
    for (size_t i = 0; i < thread.busy.size(); ++i) {
      before_[i + 1] = before_[i] + thread.busy[i].end - thread.busy[i].begin;
    }
  }
  int64_t BusyIn(int64_t from, int64_t to) const { return BusyUntil(to) - BusyUntil(from); }
  bool BusyAt(int64_t t) const {
    const size_t i = First(t);
    return i < thread_.busy.size() && thread_.busy[i].begin < t;
  }
  // The last begin or end of an event at or before `t`; INT64_MIN: none.
  int64_t LastBound(int64_t t) const {
    auto it = std::upper_bound(thread_.bounds.begin(), thread_.bounds.end(), t);
    return it == thread_.bounds.begin() ? INT64_MIN : *--it;
  }

 private:
  // The first busy interval that ends after `t`.
  size_t First(int64_t t) const {
    return static_cast<size_t>(std::upper_bound(thread_.busy.begin(), thread_.busy.end(), t,
                                                [](int64_t v, const Interval& i) { return v < i.end; }) -
                               thread_.busy.begin());
  }
  int64_t BusyUntil(int64_t t) const {
    const size_t i = First(t);
    const int64_t part = i < thread_.busy.size() ? std::max<int64_t>(0, t - thread_.busy[i].begin) : 0;
    return before_[i] + part;
  }
  const HostThread& thread_;
  std::vector<int64_t> before_;
};

bool IsBackward(const DeviceTrace& device, const HostThreads& host, uint32_t thread, int64_t begin) {
  const auto& events = host.threads[thread].events;
  auto it = std::lower_bound(events.begin(), events.end(), begin,
                             [&](uint32_t row, int64_t t) { return host.begin[row] < t; });
  for (; it != events.end() && host.begin[*it] == begin; ++it) {
    const Event& e = device.events[*it];
    if (e.extra != kNoRow && e.kind <= EventKind::kAnnotation && device.ops[e.extra].fwd_thread > 0)
      return true;
    if (absl::StartsWith(device.name_of(e), "autograd::engine")) return true;
  }
  return false;
}

}  // namespace

bool IsHostCollective(const DeviceTrace& device, const Event& e) {
  return (e.kind == EventKind::kAnnotation || e.kind == EventKind::kCpuOp) &&
         absl::StartsWith(device.name_of(e), "gloo:");
}

HostThreads NestHostEvents(const DeviceTrace& device, const TimelineOptions& options) {
  HostThreads host;
  const auto n = device.events.size();
  host.threads.resize(device.threads.size());
  host.parent.assign(n, kNoRow);
  host.begin.resize(n);
  host.end.resize(n);
  SetWindow(device, options, &host);
  std::vector<std::vector<uint32_t>> rows(device.threads.size());
  for (uint32_t row = 0; row < n; ++row) {
    const Event& e = device.events[row];
    host.begin[row] = std::clamp(e.ts, host.window_begin, std::max(host.window_begin, host.window_end));
    host.end[row] = std::clamp(e.ts + e.dur, host.begin[row], std::max(host.begin[row], host.window_end));
    const bool inside = e.ts < options.end && e.ts + e.dur >= options.begin &&
                        (e.ts >= options.begin || e.ts + e.dur > options.begin);
    if (OnHost(e.kind) && e.kind != EventKind::kPython && inside) rows[e.lane].push_back(row);
  }
  for (uint32_t t = 0; t < rows.size(); ++t) {
    Nest(device, rows[t], &host.threads[t], &host);
    FindBusy(device, host, &host.threads[t]);
  }
  return host;
}

std::vector<ThreadWait> FindThreadWaits(const DeviceTrace& device, const HostThreads& host) {
  std::vector<Activity> activity;
  activity.reserve(host.threads.size());
  for (const HostThread& thread : host.threads) activity.emplace_back(thread);
  std::vector<ThreadWait> waits;
  for (uint32_t a = 0; a < host.threads.size(); ++a) {
    int64_t idle_since = host.window_begin;
    for (const Interval& busy : host.threads[a].busy) {
      const int64_t i0 = idle_since, i1 = busy.begin;
      idle_since = busy.end;
      if (i1 - i0 < kMinIdleNs) continue;
      ThreadWait best;
      int64_t best_busy = 0;
      for (uint32_t b = 0; b < host.threads.size(); ++b) {
        if (b == a || host.threads[b].busy.empty()) continue;
        const int64_t covered = activity[b].BusyIn(i0, i1);
        const int64_t last = activity[b].LastBound(i1);
        if (covered * 2 < i1 - i0 || covered <= best_busy || last <= i0) continue;
        best_busy = covered;
        best.source = b;
        best.source_time = last;
      }
      if (best_busy == 0) continue;
      best.thread = a;
      best.until = best.source_time;
      best.from = std::max(i0, activity[a].LastBound(best.until));
      // The first event of the thread may come after the window's begin.
      if (best.from >= best.until) continue;
      best.kind = IsBackward(device, host, a, i1) || activity[best.source].BusyAt(i1) ? EdgeKind::kHandOff
                                                                                      : EdgeKind::kWakeUp;
      waits.push_back(best);
    }
  }
  return waits;
}

}  // namespace chakra::pytorch
