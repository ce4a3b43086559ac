#include "trace/import/kineto/kineto_finish.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/base/median.h"
#include "trace/base/utf8.h"
#include "trace/import/capture/event_order.h"

namespace chakra::pytorch::kineto {
namespace {

// Rows of the kCpuOp events of each thread, in the order of events.
std::vector<std::vector<uint32_t>> OperatorsByThread(const DeviceTrace& trace) {
  std::vector<std::vector<uint32_t>> rows(trace.threads.size());
  for (uint32_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].kind == EventKind::kCpuOp) rows[trace.events[i].lane].push_back(i);
  }
  return rows;
}

int64_t SequenceOf(const DeviceTrace& trace, uint32_t row) {
  const uint32_t extra = trace.events[row].extra;
  return extra == kNoRow ? kNone : trace.ops[extra].seq;
}

// The operators that the end of an arrow at time `ts` may belong to: all operators that start at `ts`,
// outermost first. If there are none: the innermost operator around `ts`.
std::vector<uint32_t> Candidates(const DeviceTrace& trace, const std::vector<uint32_t>& rows, int64_t ts) {
  const auto begins_before = [&](uint32_t row, int64_t t) { return trace.events[row].ts < t; };
  auto it = std::lower_bound(rows.begin(), rows.end(), ts, begins_before);
  std::vector<uint32_t> found;
  constexpr size_t kSame = 64;  // maximum number of operators compared
  for (auto i = it; i != rows.end() && trace.events[*i].ts == ts && found.size() < kSame; ++i)
    found.push_back(*i);
  constexpr int kDepth = 4096;  // maximum number of earlier operators examined
  for (int n = 0; found.empty() && it != rows.begin() && n < kDepth; ++n) {
    const Event& e = trace.events[*--it];
    if (e.ts + e.dur > ts) found.push_back(*it);
  }
  return found;
}

// The first pair of operators with equal sequence numbers. Without one: for each side, its first operator
// with a sequence number, or else its first operator.
FlowArrow Choose(const DeviceTrace& trace, const std::vector<uint32_t>& from,
                 const std::vector<uint32_t>& to) {
  for (const uint32_t f : from) {
    for (const uint32_t t : to) {
      if (SequenceOf(trace, f) >= 0 && SequenceOf(trace, f) == SequenceOf(trace, t)) return {f, t};
    }
  }
  const auto pick = [&](const std::vector<uint32_t>& rows) {
    for (const uint32_t r : rows) {
      if (SequenceOf(trace, r) >= 0) return r;
    }
    return rows.front();
  };
  return {pick(from), pick(to)};
}

}  // namespace

absl::Status LeaveOutLost(absl::string_view file, DeviceTrace* out, Notes* notes) {
  constexpr int64_t kDay = int64_t{86400} * 1000000000;
  constexpr size_t kSample = 4096;
  std::vector<Event>& events = out->events;
  std::vector<int64_t> times;
  for (size_t i = 0; i < events.size(); i += events.size() / kSample + 1) times.push_back(events[i].ts);
  const int64_t usual = LowerMedian(std::move(times));
  std::string first;
  size_t kept = 0, far = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& e = events[i];
    const bool none = OnDevice(e.kind) && e.ts == 0 && e.dur == 0;
    if (!none && e.ts >= usual - kDay && e.ts <= usual + kDay) {
      if (i < out->ids.size()) out->ids[kept] = out->ids[i];
      events[kept++] = e;
      continue;
    }
    far += none ? 0 : 1;
    out->unknown_events += OnDevice(e.kind) ? 1 : 0;
    if (first.empty()) first = absl::StrCat("\"", ToUtf8(out->name_of(e)), "\" at ", e.ts, " ns");
  }
  if (kept == events.size()) return absl::OkStatus();
  if (far * 3 > events.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": the times of ", far, " of ", events.size(),
                     " events are more than a day away from the times of the others; the first is ", first,
                     "; expected \"ts\" of one clock"));
  }
  notes->Count(
      "kineto_time_lost", 0,
      absl::StrCat(
          "events with an unknown time (0, or more than a day away from the others); left out; the first is ",
          first),
      events.size() - kept);
  events.resize(kept);
  if (out->ids.size() > kept) out->ids.resize(kept);
  return absl::OkStatus();
}

void SetBase(int64_t written, DeviceTrace* out, std::vector<FlowEnd>* flows, Notes* notes) {
  int64_t earliest = std::numeric_limits<int64_t>::max();
  for (const Event& e : out->events) earliest = std::min(earliest, e.ts);
  if (out->events.empty()) earliest = 0;
  out->base_ns = written;
  if (written > 0 && earliest > written / 2) {
    // Times that already count from the epoch: adding the base would move them decades ahead.
    notes->Count(
        "kineto_base_ignored", 0,
        absl::StrCat("baseTimeNanoseconds is ", written, ", but the events' times count from the epoch"));
    written = 0;
  }
  if (written != 0) return;
  out->base_ns = earliest;
  for (Event& e : out->events) e.ts -= earliest;
  for (FlowEnd& f : *flows) f.ts -= earliest;
}

void SortEvents(DeviceTrace* out) {
  std::vector<Event>& events = out->events;
  if (std::is_sorted(events.begin(), events.end(), ComesBefore)) return;
  // Not sorted in place: a file interleaves a few sorted runs, and a copy reads one run after the other.
  std::vector<Event> sorted;
  sorted.reserve(events.size());
  const std::vector<uint32_t> order = OrderOfEvents(events);
  for (const uint32_t row : order) sorted.push_back(events[row]);
  events = std::move(sorted);
  if (out->ids.empty()) return;
  std::vector<EventIds> ids;
  ids.reserve(order.size());
  for (const uint32_t row : order) ids.push_back(out->ids_of(row));
  out->ids = std::move(ids);
}

void ResolveFlows(std::vector<FlowEnd>* flows, DeviceTrace* out, Notes* notes) {
  if (flows->empty()) return;
  std::stable_sort(flows->begin(), flows->end(), [](const FlowEnd& a, const FlowEnd& b) {
    return std::tie(a.id, b.begins) < std::tie(b.id, a.begins);
  });
  const std::vector<std::vector<uint32_t>> rows = OperatorsByThread(*out);
  uint64_t lost = 0;
  for (size_t i = 0; i < flows->size();) {
    size_t middle = i, end = i;
    while (middle < flows->size() && (*flows)[middle].id == (*flows)[i].id && (*flows)[middle].begins)
      ++middle;
    for (end = middle; end < flows->size() && (*flows)[end].id == (*flows)[i].id;) ++end;
    // Ends with the same id are paired in the order of the file.
    const size_t pairs = std::min(middle - i, end - middle);
    lost += end - i - 2 * pairs;
    for (size_t k = 0; k < pairs; ++k) {
      const FlowEnd &f = (*flows)[i + k], &t = (*flows)[middle + k];
      const std::vector<uint32_t> from = Candidates(*out, rows[f.thread], f.ts);
      const std::vector<uint32_t> to = Candidates(*out, rows[t.thread], t.ts);
      if (from.empty() || to.empty()) {
        lost += 2;
      } else {
        out->fwdbwd.push_back(Choose(*out, from, to));
      }
    }
    i = end;
  }
  std::sort(out->fwdbwd.begin(), out->fwdbwd.end(), [](const FlowArrow& a, const FlowArrow& b) {
    return std::tie(a.to, a.from) < std::tie(b.to, b.from);
  });
  if (lost > 0) {
    notes->Count("kineto_unpaired_flow", 0,
                 "ends of fwdbwd arrows without the other end or without an operator", lost);
  }
}

void InspectCorrelations(DeviceTrace* out, Notes* notes) {
  bool any = false, equal = true;
  std::vector<int64_t> launches;
  for (uint32_t row = 0; row < out->events.size(); ++row) {
    const Event& e = out->events[row];
    const int64_t external = out->ids_of(row).external;
    if (OnDevice(e.kind) && external != kNone && e.correlation != kNone) {
      any = true;
      equal &= external == e.correlation;
    }
    if ((e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver) && e.correlation > 0) {
      launches.push_back(e.correlation);
    }
  }
  out->external_is_correlation = any && equal;
  std::sort(launches.begin(), launches.end());
  uint64_t twice = 0;
  int64_t first = kNone;
  for (size_t i = 1; i < launches.size(); ++i) {
    if (launches[i] != launches[i - 1]) continue;
    if (twice++ == 0) first = launches[i];
  }
  if (twice > 0) {
    notes->Count(
        "kineto_duplicate_correlation", 0,
        absl::StrCat("calls that share a correlation with another one; all are kept; first: ", first), twice);
  }
}

}  // namespace chakra::pytorch::kineto
