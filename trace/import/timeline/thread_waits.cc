#include "trace/import/timeline/thread_waits.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/match.h"
#include "trace/import/timeline/host_messages.h"

namespace chakra::pytorch {
namespace {

// Computes how long a thread was busy, and when its events begin and end.
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
  // The first begin or end of an event after `t`; INT64_MAX: none.
  int64_t NextBound(int64_t t) const {
    const auto it = std::upper_bound(thread_.bounds.begin(), thread_.bounds.end(), t);
    return it == thread_.bounds.end() ? INT64_MAX : *it;
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

bool IsBackward(const DeviceTrace& device, const Event& e) {
  if (e.extra != kNoRow && e.kind <= EventKind::kAnnotation && device.ops[e.extra].fwd_thread > 0)
    return true;
  return absl::StartsWith(device.name_of(e), "autograd::engine");
}

// Whether an event of autograd begins on the thread at `begin`.
bool BackwardAt(const DeviceTrace& device, const HostThreads& host, uint32_t thread, int64_t begin) {
  const auto& events = host.threads[thread].events;
  auto it = std::lower_bound(events.begin(), events.end(), begin,
                             [&](uint32_t row, int64_t t) { return host.Begin(row) < t; });
  for (; it != events.end() && host.Begin(*it) == begin; ++it) {
    if (IsBackward(device, device.events[*it])) return true;
  }
  return false;
}

// Whether one of `waits`, sorted by thread and time, is of thread `a` and overlaps the time from i0 to i1.
bool Explained(uint32_t a, int64_t i0, int64_t i1, const std::vector<ThreadWait>& waits) {
  const auto it = std::partition_point(waits.begin(), waits.end(), [&](const ThreadWait& w) {
    return std::tie(w.thread, w.until) <= std::tie(a, i0);
  });
  return it != waits.end() && it->thread == a && it->from < i1;
}

class Finder {
 public:
  Finder(const DeviceTrace& device, const HostThreads& host)
      : d_(device),
        host_(host),
        callers_(BackwardCallers(device, host)),
        servants_(FindServants(device, host)) {
    for (const HostThread& thread : host.threads) activity_.emplace_back(thread);
  }

  std::vector<ThreadWait> Run() {
    for (uint32_t a = 0; a < callers_.size(); ++a) {
      if (callers_[a] != kNoRow) FindPasses(a, callers_[a]);
    }
    const auto key = [](const ThreadWait& w) { return std::tie(w.thread, w.from, w.until); };
    const auto before = [&](const ThreadWait& a, const ThreadWait& b) { return key(a) < key(b); };
    std::sort(waits_.begin(), waits_.end(), before);
    const std::vector<ThreadWait> passes = waits_;
    for (uint32_t a = 0; a < host_.threads.size(); ++a) FindOwn(a, passes);
    std::sort(waits_.begin(), waits_.end(), before);
    const std::vector<ThreadWait> known = waits_;
    for (uint32_t a = 0; a < host_.threads.size(); ++a) FindOthers(a, known);
    std::sort(waits_.begin(), waits_.end(), before);
    return std::move(waits_);
  }

 private:
  void FindPasses(uint32_t a, uint32_t caller);
  void FindOwn(uint32_t a, const std::vector<ThreadWait>& passes);
  void FindOthers(uint32_t a, const std::vector<ThreadWait>& known);
  ThreadWait Explain(uint32_t a, int64_t i0, int64_t i1) const;

  const DeviceTrace& d_;
  const HostThreads& host_;
  const std::vector<uint32_t> callers_;
  const std::vector<bool> servants_;
  std::vector<Activity> activity_;
  std::vector<ThreadWait> waits_;
};

// Finds the waits of a backward thread and of its caller for each other.
void Finder::FindPasses(uint32_t a, uint32_t caller) {
  int64_t idle_since = host_.window_begin;
  for (const Interval& busy : host_.threads[a].busy) {
    const int64_t i0 = idle_since, i1 = busy.begin;
    idle_since = busy.end;
    const int64_t handed = activity_[caller].LastBound(i1);
    if (handed <= i0 || !BackwardAt(d_, host_, a, i1)) continue;
    const int64_t from = std::max(i0, activity_[a].LastBound(handed));
    if (from < handed) waits_.push_back({a, from, handed, caller, handed, EdgeKind::kHandOff});
    const int64_t next = activity_[caller].NextBound(handed);
    if (next == INT64_MAX || activity_[a].BusyAt(next)) continue;  // the caller did not wait
    const int64_t done = activity_[a].LastBound(next);
    if (done > handed) waits_.push_back({caller, handed, done, a, done, EdgeKind::kWakeUp});
  }
}

// The thread that ended the idle time of thread `a` from i0 to i1, and when. `source` is kNoRow if there is
// none.
ThreadWait Finder::Explain(uint32_t a, int64_t i0, int64_t i1) const {
  ThreadWait most, last;  // the thread that was busy for longest; the thread that was active last
  most.source = last.source = kNoRow;
  most.thread = last.thread = a;
  last.source_time = i0;
  int64_t most_busy = 0, sum = 0;
  for (uint32_t b = 0; b < host_.threads.size(); ++b) {
    if (b == a || host_.threads[b].busy.empty()) continue;
    const int64_t bound = activity_[b].LastBound(i1);
    if (bound <= i0) continue;
    if (callers_[b] == a && activity_[b].BusyAt(i1)) continue;  // `a` did not wait for the backward pass
    const int64_t covered = activity_[b].BusyIn(i0, i1);
    sum += covered;
    if (covered > most_busy) {
      most_busy = covered;
      most.source = b;
      most.source_time = bound;
    }
    if (bound > last.source_time && !servants_[b]) {
      last.source = b;
      last.source_time = bound;
    }
  }
  if (servants_[a]) return last;
  if (most_busy * 2 >= i1 - i0) return most;
  if (sum * 2 < i1 - i0) last.source = kNoRow;
  return last;
}

// Finds waits of thread `a` for messages and collectives that the profiler shows on the thread itself.
void Finder::FindOwn(uint32_t a, const std::vector<ThreadWait>& passes) {
  std::vector<uint32_t> rows = host_.threads[a].async;
  std::erase_if(rows, [&](uint32_t row) { return !IsHostCollective(d_, d_.events[row]); });
  std::sort(rows.begin(), rows.end(),
            [&](uint32_t x, uint32_t y) { return std::pair(host_.End(x), x) < std::pair(host_.End(y), y); });
  size_t next = 0;
  int64_t idle_since = host_.window_begin;
  for (const Interval& busy : host_.threads[a].busy) {
    const int64_t i0 = idle_since, i1 = busy.begin;
    idle_since = busy.end;
    while (next < rows.size() && host_.End(rows[next]) <= i0) ++next;
    int64_t from = i0;
    for (; next < rows.size() && host_.End(rows[next]) <= i1; ++next) {
      const uint32_t row = rows[next];
      const int64_t end = host_.End(row), covered = end - std::max(host_.Begin(row), i0);
      if (Explained(a, i0, i1, passes)) continue;
      if (!IsMessage(d_, d_.events[row]) && (i1 - i0 < kMinIdleNs || covered * 2 < i1 - i0)) continue;
      from = std::max(from, activity_[a].LastBound(end));
      if (from >= end) continue;
      waits_.push_back({a, from, end, a, end, EdgeKind::kCollective, row});
      from = end;
    }
  }
}

// Finds waits of thread `a` in idle times that `known` waits do not explain.
void Finder::FindOthers(uint32_t a, const std::vector<ThreadWait>& known) {
  int64_t idle_since = host_.window_begin;
  for (const Interval& busy : host_.threads[a].busy) {
    const int64_t i0 = idle_since, i1 = busy.begin;
    idle_since = busy.end;
    if (i1 - i0 < kMinIdleNs) continue;
    if (Explained(a, i0, i1, known)) continue;
    ThreadWait best = Explain(a, i0, i1);
    if (best.source == kNoRow) continue;
    best.until = best.source_time;
    best.from = std::max(i0, activity_[a].LastBound(best.until));
    // The first event of the thread may come after the window's begin.
    if (best.from >= best.until) continue;
    const bool handed = BackwardAt(d_, host_, a, i1) || activity_[best.source].BusyAt(i1);
    best.kind = handed ? EdgeKind::kHandOff : EdgeKind::kWakeUp;
    waits_.push_back(best);
  }
}

}  // namespace

std::vector<bool> FindServants(const DeviceTrace& device, const HostThreads& host) {
  std::vector<bool> servants;
  for (const HostThread& thread : host.threads) {
    const auto serves = [&](uint32_t row) {
      const Event& e = device.events[row];
      if (IsHostCollective(device, e)) return true;
      return e.kind == EventKind::kAnnotation ||
             (e.kind >= EventKind::kRuntime && IsQuery(device.name_of(e)));
    };
    servants.push_back(!thread.busy.empty() &&
                       std::all_of(thread.events.begin(), thread.events.end(), serves));
  }
  return servants;
}

std::vector<uint32_t> BackwardCallers(const DeviceTrace& device, const HostThreads& host) {
  const size_t n = host.threads.size();
  std::vector<uint64_t> operators(n);
  std::vector<bool> backward(n);
  for (size_t t = 0; t < n; ++t) {
    uint64_t own = 0, autograd = 0;  // operators that no other operator called
    for (const uint32_t row : host.threads[t].events) {
      if (device.events[row].kind != EventKind::kCpuOp) continue;
      ++operators[t];
      const uint32_t parent = host.parent[row];
      if (parent != kNoRow && device.events[parent].kind == EventKind::kCpuOp) continue;
      ++own;
      autograd += IsBackward(device, device.events[row]) ? 1 : 0;
    }
    backward[t] = autograd > 0 && autograd * 2 >= own;
  }
  std::vector<std::vector<uint64_t>> arrows(n, std::vector<uint64_t>(n));
  for (const FlowArrow& arrow : device.fwdbwd) {
    if (arrow.from == kNoRow || arrow.to == kNoRow) continue;
    const Event &from = device.events[arrow.from], &to = device.events[arrow.to];
    if (OnHost(from.kind) && OnHost(to.kind)) ++arrows[to.lane][from.lane];
  }
  std::vector<uint32_t> callers(n, kNoRow);
  for (uint32_t t = 0; t < n; ++t) {
    if (!backward[t]) continue;
    std::pair<uint64_t, uint64_t> most;  // arrows, operators
    for (uint32_t c = 0; c < n; ++c) {
      const std::pair<uint64_t, uint64_t> votes = {arrows[t][c], operators[c]};
      if (c == t || backward[c] || operators[c] == 0 || votes <= most) continue;
      most = votes;
      callers[t] = c;
    }
  }
  return callers;
}

std::vector<ThreadWait> FindThreadWaits(const DeviceTrace& device, const HostThreads& host) {
  return Finder(device, host).Run();
}

}  // namespace chakra::pytorch
