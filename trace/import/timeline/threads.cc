#include "trace/import/timeline/threads.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace chakra::pytorch {
namespace {

bool MayBeHostCollective(EventKind kind) {
  return kind == EventKind::kAnnotation || kind == EventKind::kCpuOp;
}
bool IsNamedAsHostCollective(absl::string_view name) { return absl::StartsWith(name, "gloo:"); }

// A call may end up to this much after its caller because of rounding: some files cut times to whole
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

// Whether `rows` are those of a thread that only queries the device.
bool OnlyAsks(const DeviceTrace& device, const std::vector<uint32_t>& rows) {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](uint32_t row) {
    const Event& e = device.events[row];
    return e.kind >= EventKind::kRuntime && IsQuery(device.name_of(e));
  });
}

// Ends the window with the last event that is not a query of a thread that only queries, and leaves out the
// queries that begin later. `rows`: of each thread.
void LeaveOutLateRounds(const DeviceTrace& device, std::vector<std::vector<uint32_t>>* rows,
                        HostThreads* host) {
  std::vector<bool> asks;
  for (const std::vector<uint32_t>& of_thread : *rows) asks.push_back(OnlyAsks(device, of_thread));
  if (std::none_of(asks.begin(), asks.end(), [](bool a) { return a; })) return;
  int64_t end = INT64_MIN;
  for (const Event& e : device.events) {
    if (e.kind == EventKind::kSync) continue;
    if (e.kind >= EventKind::kRuntime && OnHost(e.kind) && asks[e.lane]) continue;
    end = std::max(end, e.ts + e.dur);
  }
  if (end <= host->window_begin || end >= host->window_end) return;
  host->window_end = end;
  for (size_t t = 0; t < rows->size(); ++t) {
    if (!asks[t]) continue;
    host->late_rounds +=
        std::erase_if((*rows)[t], [&](uint32_t row) { return device.events[row].ts >= end; });
  }
}

// IsHostCollective() for the events of a trace, with each name read once.
class HostCollectives {
 public:
  explicit HostCollectives(const DeviceTrace& device) : named_(device.strings.size()) {
    for (uint32_t s = 0; s < device.strings.size(); ++s) {
      named_[s] = IsNamedAsHostCollective(device.strings.Get(s));
      any_ = any_ || named_[s];
    }
  }
  bool Has(const Event& e) const { return any_ && MayBeHostCollective(e.kind) && named_[e.name]; }

 private:
  std::vector<bool> named_;  // by string
  bool any_ = false;
};

// Puts the rows of one thread into `events` or `async`, and sets parents.
void Nest(const DeviceTrace& device, const HostCollectives& collectives, const std::vector<uint32_t>& rows,
          HostThread* thread, HostThreads* host) {
  std::vector<uint32_t> open;
  const bool mixed = std::any_of(rows.begin(), rows.end(),
                                 [&](uint32_t row) { return !collectives.Has(device.events[row]); });
  thread->events.reserve(rows.size());
  for (const uint32_t row : rows) {
    const Event& e = device.events[row];
    while (!open.empty() && host->End(open.back()) <= host->Begin(row)) {
      // A call of length 0 at the very end of another call is inside it.
      if (host->End(row) == host->Begin(row) && host->End(open.back()) == host->Begin(row) &&
          host->Begin(open.back()) < host->Begin(row) && e.kind >= EventKind::kRuntime) {
        break;
      }
      open.pop_back();
    }
    if (mixed && collectives.Has(e)) {
      host->parent[row] = open.empty() ? kNoRow : open.back();
      thread->async.push_back(row);
      continue;
    }
    if (!open.empty()) {
      const int64_t over = host->End(row) - host->End(open.back());
      if (over > kRoundingNs) {
        thread->async.push_back(row);
        host->parent[row] = open.back();
        continue;
      }
      if (over > 0) {
        host->ends[row] = host->End(open.back());
        ++host->clipped;
      }
      host->parent[row] = open.back();
    }
    open.push_back(row);
    thread->events.push_back(row);
  }
}

// Finds the begins and ends of a thread's events. Events nest: of the open events, the innermost ends first.
void FindBounds(const HostThreads& host, HostThread* thread) {
  std::vector<int64_t>& bounds = thread->bounds;
  std::vector<int64_t> open;  // ends of open events
  const auto add = [&](int64_t bound) {
    if (bounds.empty() || bounds.back() != bound) bounds.push_back(bound);
  };
  const auto close_until = [&](int64_t time) {
    for (; !open.empty() && open.back() <= time; open.pop_back()) add(open.back());
  };
  bounds.reserve(2 * thread->events.size());
  for (const uint32_t row : thread->events) {
    close_until(host.Begin(row));
    add(host.Begin(row));
    open.push_back(host.End(row));
  }
  close_until(INT64_MAX);
}

void FindBusy(const DeviceTrace& device, const HostCollectives& collectives, const HostThreads& host,
              HostThread* thread) {
  for (const uint32_t row : thread->events) {
    const Event& e = device.events[row];
    if (e.kind == EventKind::kAnnotation && !collectives.Has(e)) continue;
    const Interval i = {host.Begin(row), host.End(row)};
    if (!thread->busy.empty() && i.begin <= thread->busy.back().end) {
      thread->busy.back().end = std::max(thread->busy.back().end, i.end);
    } else {
      thread->busy.push_back(i);
    }
  }
}

}  // namespace

bool IsQuery(absl::string_view name) {
  return absl::StrContains(name, "Query") || absl::StrContains(name, "GetAttribute") ||
         absl::StrContains(name, "ThreadExchangeStreamCaptureMode");
}

bool IsHostCollective(const DeviceTrace& device, const Event& e) {
  return MayBeHostCollective(e.kind) && IsNamedAsHostCollective(device.name_of(e));
}

HostThreads NestHostEvents(const DeviceTrace& device, const TimelineOptions& options) {
  HostThreads host;
  const auto n = device.events.size();
  host.threads.resize(device.threads.size());
  host.parent.assign(n, kNoRow);
  host.events = &device.events;
  SetWindow(device, options, &host);
  std::vector<std::vector<uint32_t>> rows(device.threads.size());
  for (uint32_t row = 0; row < n; ++row) {
    const Event& e = device.events[row];
    const bool inside = e.ts < options.end && e.ts + e.dur >= options.begin &&
                        (e.ts >= options.begin || e.ts + e.dur > options.begin);
    if (OnHost(e.kind) && e.kind != EventKind::kPython && inside) rows[e.lane].push_back(row);
  }
  LeaveOutLateRounds(device, &rows, &host);
  const HostCollectives collectives(device);
  for (uint32_t t = 0; t < rows.size(); ++t) {
    Nest(device, collectives, rows[t], &host.threads[t], &host);
    FindBounds(host, &host.threads[t]);
    FindBusy(device, collectives, host, &host.threads[t]);
  }
  return host;
}

}  // namespace chakra::pytorch
