#include "trace/import/timeline/device_order.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/median.h"
#include "trace/base/radix_order.h"
#include "trace/import/timeline/device_calls.h"
#include "trace/import/timeline/inferred_causes.h"
#include "trace/import/timeline/polls.h"
#include "trace/import/timeline/stream_lanes.h"

namespace chakra::pytorch {
namespace {

// A device operation that a host call waited for may seem to end up to this much after the call.
constexpr int64_t kClockNs = 1000;
// Launch latency if no operation found its stream idle: the usual one on the GPUs of captures that show it
// (V100 to B200, MI250, MI300: 4 to 10 us).
constexpr int64_t kUsualLaunchNs = 6000;
// Maximum number of running operations that a search for an ended one skips.
constexpr int kLookBack = 64;

class Orderer {
 public:
  Orderer(const DeviceTrace& device, const HostThreads& host, const TimelineOptions& options)
      : d_(device), host_(host), options_(options), names_(device) {}

  DeviceOrder Run() {
    FindLaunches();
    PlaceOps();
    CollectCalls();
    FindTypical();
    FindCauses();
    FindSyncs();
    return std::move(out_);
  }

 private:
  struct PendingWait {
    uint32_t call;
    int64_t record = INT64_MIN;  // when the event was recorded on the thread; INT64_MIN: not seen
    uint32_t source = kNoRow;    // stream of the recorded event; kNoRow: not known
  };
  void Note(absl::string_view kind, uint64_t count, absl::string_view detail) {
    if (count > 0)
      out_.repairs.push_back({std::string(kind), d_.file, d_.rank, count, 0, std::string(detail)});
  }
  int64_t LaunchTime(uint32_t op) const {
    const uint32_t launch = out_.ops[op].launch;
    return launch == kNoRow ? INT64_MIN : host_.Begin(launch);
  }
  // The last operation of `stream` that was launched before `t` and ended at or before `end`.
  uint32_t LastLaunched(uint32_t stream, int64_t t, int64_t end) const;

  void FindLaunches();
  uint32_t LaunchOf(const Event& op) const;
  void PlaceOps();
  uint32_t WaitingStream(uint32_t call) const;
  void CollectCalls();
  void AddPending(uint32_t launch, const PendingWait& wait) {
    waits_.emplace_back(launch, wait);
    waiting_[launch] = true;
  }
  void FindTypical();
  void FindCauses();
  void AddWaits(uint32_t op);
  void AddToldWaits(uint32_t op);
  void AddCause(EdgeKind kind, uint32_t source, int64_t base, int64_t typical, int64_t begin);
  void AddBacklog(uint32_t op);
  void Tighten(uint32_t op);
  void FindSyncs();
  void AddSync(uint32_t call, std::vector<uint32_t> ops);

  const DeviceTrace& d_;
  const HostThreads& host_;
  const TimelineOptions& options_;
  CallNames names_;
  DeviceOrder out_;
  RowsByCorrelation launch_by_correlation_;
  // By correlation that several calls share: these calls.
  absl::flat_hash_map<int64_t, std::vector<uint32_t>> repeated_;
  PlacedOps placed_;  // without its lanes and ops, which move to out_
  // By launching call: the waits of the stream before the operation that the call launched.
  std::vector<std::pair<uint32_t, PendingWait>> waits_;
  std::vector<bool> waiting_;              // by event row: whether waits_ has the call
  RowsByCorrelation sync_by_correlation_;  // rows of kSync events
  absl::flat_hash_set<uint32_t> graphs_;   // calls that launched several operations
  std::vector<uint32_t> by_end_;           // rows of operations, sorted by end
  // Row of the operation, by event row of a source in DeviceTrace::waits.
  absl::flat_hash_map<uint32_t, uint32_t> op_of_source_;
  uint64_t before_launch_ = 0, unexplained_ = 0, backlog_ = 0;
  int64_t unexplained_ns_ = 0;
};

void Orderer::FindLaunches() {
  int64_t least = INT64_MAX, most = -1;
  size_t calls = 0;
  for (const Event& e : d_.events) {
    if ((e.kind != EventKind::kRuntime && e.kind != EventKind::kDriver) || e.correlation < 0) continue;
    least = std::min(least, e.correlation);
    most = std::max(most, e.correlation);
    ++calls;
  }
  launch_by_correlation_.Expect(least, most, calls);
  for (uint32_t t = 0; t < host_.threads.size(); ++t) {
    for (const uint32_t row : host_.threads[t].events) {
      const Event& e = d_.events[row];
      if (e.kind != EventKind::kRuntime && e.kind != EventKind::kDriver) continue;
      if (e.correlation < 0) continue;
      uint32_t* first = launch_by_correlation_.At(e.correlation);
      if (*first == kNoRow) {
        *first = row;
        continue;
      }
      std::vector<uint32_t>& same = repeated_[e.correlation];
      if (same.empty()) same.push_back(*first);
      same.push_back(row);
    }
  }
}

// The call with the operation's correlation. If several calls have it: the last one that began before the
// operation.
uint32_t Orderer::LaunchOf(const Event& op) const {
  uint32_t best = op.correlation >= 0 ? launch_by_correlation_.Find(op.correlation) : kNoRow;
  if (best == kNoRow || repeated_.empty()) return best;
  if (const auto several = repeated_.find(op.correlation); several != repeated_.end()) {
    for (const uint32_t call : several->second) {
      if (host_.Begin(call) <= op.ts && (host_.Begin(best) > op.ts || host_.Begin(call) > host_.Begin(best)))
        best = call;
    }
  }
  return best;
}

// Puts the operations of the window on lanes, and links each to its launch.
void Orderer::PlaceOps() {
  LanePlacer placer(d_);
  uint64_t outside = 0, untold = 0;
  std::vector<bool> seen(d_.events.size());
  const bool windowed = options_.begin != INT64_MIN || options_.end != INT64_MAX;
  for (uint32_t row = 0; row < d_.events.size(); ++row) {
    const Event& e = d_.events[row];
    if (!OnDevice(e.kind)) continue;
    const uint32_t launch = LaunchOf(e);
    const bool launched = launch != kNoRow;
    // Even if the window's begin cuts the call that launched the operation.
    if (e.ts < options_.begin) continue;
    if (!launched && (e.ts >= options_.end || (windowed && e.correlation >= 0))) continue;
    if (!launched) ++outside;
    if (!launched && e.correlation < 0) ++untold;
    if (launched && seen[launch]) graphs_.insert(launch);
    if (launched) seen[launch] = true;
    placer.Add(row, launch);
  }
  placed_ = placer.Take();
  out_.lanes = std::move(placed_.lanes);
  out_.ops = std::move(placed_.ops);
  Note("device_overlap_clipped", placed_.clipped,
       "communication overlapped the next operation of its stream by rounding; the communication was cut");
  Note("device_lanes_split", placed_.split,
       "a stream ran several operations at the same time; it is replayed as several lanes");
  Note("launched_outside_window", outside,
       absl::StrCat("device operations whose launch was not captured keep only the order of their stream",
                    untold == 0
                        ? ""
                        : absl::StrCat("; ", untold,
                                       " of them have no correlation id: record the host's calls and "
                                       "the device in one profile, and keep \"correlation\" in args")));
}

uint32_t Orderer::LastLaunched(uint32_t stream, int64_t t, int64_t end) const {
  const std::vector<uint32_t>& ops = placed_.of_stream[stream];
  auto it = std::partition_point(ops.begin(), ops.end(), [&](uint32_t op) { return LaunchTime(op) < t; });
  for (int back = 0; it != ops.begin() && back < kLookBack; ++back) {
    if (const uint32_t op = *--it; out_.ops[op].end <= end && LaunchTime(op) < t) return op;
  }
  return kNoRow;
}

// The stream that a StreamWaitEvent makes wait; kNoRow: the profiler does not show it.
uint32_t Orderer::WaitingStream(uint32_t call) const {
  const uint32_t sync = sync_by_correlation_.Find(d_.events[call].correlation);
  if (sync == kNoRow) return kNoRow;
  const Event& e = d_.events[sync];
  if (e.extra == kNoRow || d_.syncs[e.extra].kind != SyncExtra::kStreamWaitEvent) return kNoRow;
  return placed_.of_stream[e.lane].empty() ? kNoRow : e.lane;
}

// Attaches each stream wait to the next launch on its stream or, if the stream is not known, on its thread.
// Indexes the profiler's synchronisation events.
void Orderer::CollectCalls() {
  for (uint32_t row = 0; row < d_.events.size(); ++row) {
    if (d_.events[row].kind != EventKind::kSync || d_.events[row].correlation < 0) continue;
    uint32_t* sync = sync_by_correlation_.At(d_.events[row].correlation);
    if (*sync == kNoRow) *sync = row;
  }
  std::vector<uint32_t> op_of_launch(d_.events.size(), kNoRow);  // the first operation
  for (uint32_t i = static_cast<uint32_t>(out_.ops.size()); i-- > 0;) {
    if (out_.ops[i].launch != kNoRow) op_of_launch[out_.ops[i].launch] = i;
  }
  std::vector<std::vector<PendingWait>> held(d_.streams.size());
  waiting_.resize(d_.events.size());
  for (const HostThread& thread : host_.threads) {
    std::vector<PendingWait> pending;
    int64_t record = INT64_MIN;
    uint32_t record_stream = kNoRow, launch_stream = kNoRow;
    for (const uint32_t row : thread.events) {
      const Event& e = d_.events[row];
      if (e.kind != EventKind::kRuntime && e.kind != EventKind::kDriver) continue;
      if (names_.Records(e)) {
        record = host_.Begin(row);
        record_stream = launch_stream;
      } else if (names_.Waits(e)) {
        const uint32_t stream = WaitingStream(row);
        (stream == kNoRow ? pending : held[stream]).push_back({row, record, record_stream});
      } else if (const uint32_t op = op_of_launch[row]; op != kNoRow) {
        launch_stream = d_.events[out_.ops[op].event].lane;
        // A stream does not wait for its own events.
        const auto mine = std::partition(pending.begin(), pending.end(),
                                         [&](const PendingWait& w) { return w.source == launch_stream; });
        for (auto wait = mine; wait != pending.end(); ++wait) AddPending(row, *wait);
        pending.erase(mine, pending.end());
        record = INT64_MIN;
        record_stream = kNoRow;
      }
    }
  }
  for (uint32_t s = 0; s < held.size(); ++s) {
    std::sort(held[s].begin(), held[s].end(), [this](const PendingWait& a, const PendingWait& b) {
      return host_.Begin(a.call) != host_.Begin(b.call) ? host_.Begin(a.call) < host_.Begin(b.call)
                                                        : a.call < b.call;
    });
    size_t next = 0;
    for (const uint32_t op : placed_.of_stream[s]) {
      if (next == held[s].size()) break;
      for (; next < held[s].size() && host_.Begin(held[s][next].call) < LaunchTime(op); ++next) {
        AddPending(out_.ops[op].launch, held[s][next]);
      }
    }
  }
  std::stable_sort(waits_.begin(), waits_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
}

// Finds two medians: launch_latency, from call to start if the stream was known to be idle; stream_gap, from
// end to start if the next operation had been launched long before. A stream that was always busy shows no
// launch latency: work from before the window may have delayed each operation.
void Orderer::FindTypical() {
  std::vector<int64_t> latency, gap;
  int64_t least = kUsualLaunchNs;
  for (uint32_t i = 0; i < out_.ops.size(); ++i) {
    const DeviceOp& op = out_.ops[i];
    if (op.launch == kNoRow) continue;
    const int64_t called = host_.Begin(op.launch);
    if (op.begin < called) continue;
    least = std::min(least, op.begin - called);
    const bool idle = placed_.after[i] != kNoRow && out_.ops[placed_.after[i]].end <= called;
    if (idle && placed_.release[i] == kNoRow && !waiting_[op.launch]) latency.push_back(op.begin - called);
  }
  out_.launch_latency = latency.empty() ? least : LowerMedian(std::move(latency));
  for (uint32_t i = 0; i < out_.ops.size(); ++i) {
    const DeviceOp& op = out_.ops[i];
    if (op.launch == kNoRow || placed_.after[i] == kNoRow || placed_.release[i] != kNoRow) continue;
    if (waiting_[op.launch]) continue;
    const int64_t before = out_.ops[placed_.after[i]].end;
    if (host_.Begin(op.launch) + 2 * out_.launch_latency < before) gap.push_back(op.begin - before);
  }
  out_.stream_gap = gap.empty() ? std::min<int64_t>(1000, out_.launch_latency) : LowerMedian(std::move(gap));
}

// `base`: when the cause occurred. The operation is ready `typical` later, but not after its begin.
void Orderer::AddCause(EdgeKind kind, uint32_t source, int64_t base, int64_t typical, int64_t begin) {
  if (base > begin) return;
  out_.causes.push_back({kind, source, std::min(begin, base + typical)});
}

void Orderer::AddWaits(uint32_t i) {
  const DeviceOp& op = out_.ops[i];
  if (op.launch == kNoRow || !waiting_[op.launch]) return;
  const uint32_t own = d_.events[op.event].lane;
  auto it = std::partition_point(waits_.begin(), waits_.end(),
                                 [&](const auto& entry) { return entry.first < op.launch; });
  for (; it != waits_.end() && it->first == op.launch; ++it) {
    const PendingWait& wait = it->second;
    const int64_t called = host_.Begin(wait.call);
    const uint32_t sync = sync_by_correlation_.Find(d_.events[wait.call].correlation);
    uint32_t source = kNoRow;
    if (sync != kNoRow && d_.events[sync].extra != kNoRow) {
      const SyncExtra& extra = d_.syncs[d_.events[sync].extra];
      const int device = d_.streams[own].device;
      int64_t recorded = called;
      const uint32_t record = launch_by_correlation_.Find(extra.wait_on_correlation);
      if (record != kNoRow) recorded = host_.Begin(record);
      for (uint32_t s = 0; s < d_.streams.size(); ++s) {
        if (d_.streams[s].device == device && d_.streams[s].stream == extra.wait_on_stream && s != own) {
          source = LastLaunched(s, recorded, op.begin);
        }
      }
    } else if (wait.source != kNoRow && wait.source != own) {
      source = LastLaunched(wait.source, wait.record, op.begin);
    } else {
      for (uint32_t s = 0; s < d_.streams.size(); ++s) {
        if (s == own || d_.streams[s].device != d_.streams[own].device) continue;
        const uint32_t candidate = LastLaunched(s, called, op.begin);
        if (candidate != kNoRow && (source == kNoRow || out_.ops[candidate].end > out_.ops[source].end))
          source = candidate;
      }
    }
    if (source != kNoRow && source != i) {
      AddCause(EdgeKind::kEventWait, source, out_.ops[source].end, out_.stream_gap, op.begin);
    }
  }
}

// Adds the operations on other lanes whose data this one needs, as the source records them.
void Orderer::AddToldWaits(uint32_t i) {
  const DeviceOp& op = out_.ops[i];
  auto it = std::lower_bound(d_.waits.begin(), d_.waits.end(), op.event,
                             [](const DeviceWait& w, uint32_t event) { return w.op < event; });
  for (; it != d_.waits.end() && it->op == op.event; ++it) {
    const auto source = op_of_source_.find(it->source);
    if (source == op_of_source_.end() || out_.ops[source->second].lane == op.lane) continue;
    AddCause(EdgeKind::kEventWait, source->second, out_.ops[source->second].end, out_.stream_gap, op.begin);
  }
}

// Handles the first operation of a stream. If it waited, after its launch, longer than the window had lasted
// at the launch, it waited for work from before the window: its begin then depends only on the begin of the
// window.
void Orderer::AddBacklog(uint32_t i) {
  const DeviceOp& op = out_.ops[i];
  if (op.launch == kNoRow || placed_.after[i] != kNoRow || placed_.release[i] != kNoRow) return;
  const int64_t called = host_.Begin(op.launch);
  if (op.begin - called - out_.launch_latency <= std::max(kUnexplainedNs, called - host_.window_begin))
    return;
  for (uint32_t c = op.first_cause; c < out_.causes.size(); ++c) {
    if (out_.causes[c].kind == EdgeKind::kEventWait && out_.causes[c].ready > op.begin - kUnexplainedNs)
      return;
  }
  out_.causes.push_back({EdgeKind::kStart, kNoRow, op.begin});
  ++backlog_;
}

// Delays the latest cause until the operation's begin, which is then exact.
void Orderer::Tighten(uint32_t i) {
  DeviceOp& op = out_.ops[i];
  DeviceCause* binding = nullptr;
  for (uint32_t c = op.first_cause; c < out_.causes.size(); ++c) {
    DeviceCause& cause = out_.causes[c];
    if (binding == nullptr || cause.ready > binding->ready) binding = &cause;
  }
  op.causes = static_cast<uint32_t>(out_.causes.size()) - op.first_cause;
  if (binding == nullptr) return;
  if (op.begin - binding->ready > kUnexplainedNs) {
    binding->unexplained = op.begin - binding->ready;
    ++unexplained_;
    unexplained_ns_ += binding->unexplained;
  }
  binding->ready = op.begin;
  if (binding->kind == EdgeKind::kLaunch && op.begin < host_.End(binding->source)) {
    out_.launch_cuts.push_back({binding->source, op.begin});
  }
}

void Orderer::FindCauses() {
  by_end_ = OrderByKey(out_.ops.size(), [this](size_t op) { return out_.ops[op].end; });
  for (const DeviceWait& w : d_.waits) op_of_source_.try_emplace(w.source, kNoRow);
  for (uint32_t i = 0; i < out_.ops.size() && !op_of_source_.empty(); ++i) {
    if (const auto it = op_of_source_.find(out_.ops[i].event); it != op_of_source_.end()) it->second = i;
  }
  absl::erase_if(op_of_source_, [](const auto& entry) { return entry.second == kNoRow; });
  InferredCauses inferred(d_, out_.ops, by_end_, graphs_);
  out_.causes.reserve(4 * out_.ops.size());  // few operations have more causes; unused room takes no memory
  auto also = placed_.also.begin();
  for (uint32_t i = 0; i < out_.ops.size(); ++i) {
    DeviceOp& op = out_.ops[i];
    op.first_cause = static_cast<uint32_t>(out_.causes.size());
    if (op.launch != kNoRow) {
      if (host_.Begin(op.launch) > op.begin) ++before_launch_;
      AddCause(EdgeKind::kLaunch, op.launch, std::min(host_.Begin(op.launch), op.begin), out_.launch_latency,
               op.begin);
    }
    if (const uint32_t after = placed_.after[i]; after != kNoRow)
      AddCause(EdgeKind::kStream, after, out_.ops[after].end, out_.stream_gap, op.begin);
    for (; also != placed_.also.end() && also->first == i; ++also)
      AddCause(EdgeKind::kStream, also->second, out_.ops[also->second].end, out_.stream_gap, op.begin);
    if (placed_.release[i] != kNoRow)
      out_.causes.push_back({EdgeKind::kRelease, placed_.release[i], op.begin});
    AddWaits(i);
    AddToldWaits(i);
    int64_t ready = INT64_MIN;
    for (uint32_t c = op.first_cause; c < out_.causes.size(); ++c)
      ready = std::max(ready, out_.causes[c].ready);
    DeviceCause cause;
    if (ready != INT64_MIN && inferred.Find(i, ready, &cause)) {
      if (cause.kind == EdgeKind::kEventWait) cause.ready = std::min(op.begin, cause.ready + out_.stream_gap);
      out_.causes.push_back(cause);
    }
    AddBacklog(i);
    Tighten(i);
  }
  // Operations are sorted by begin: of the operations of one call, the first counts.
  std::vector<LaunchCut>& cuts = out_.launch_cuts;
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const LaunchCut& a, const LaunchCut& b) { return a.call < b.call; });
  cuts.erase(std::unique(cuts.begin(), cuts.end(),
                         [](const LaunchCut& a, const LaunchCut& b) { return a.call == b.call; }),
             cuts.end());
  Note("started_before_launch", before_launch_,
       "device operations that seem to begin before the call that launched them (clocks); launched at their "
       "begin");
  Note("unexplained_device_delay", unexplained_,
       absl::StrCat("device operations that began more than ", kUnexplainedNs / 1000,
                    " us after all their known causes, ", unexplained_ns_ / 1000,
                    " us in all; kept as launch latency or gap"));
}

void Orderer::AddSync(uint32_t call, std::vector<uint32_t> ops) {
  HostSync sync;
  sync.call = call;
  for (const uint32_t op : ops) {
    if (op == kNoRow || out_.ops[op].end > host_.End(call) + kClockNs || out_.ops[op].begin > host_.End(call))
      continue;
    sync.sources.push_back(op);
    out_.ops[op].end = std::min(out_.ops[op].end, host_.End(call));
  }
  if (!sync.sources.empty()) out_.syncs.push_back(std::move(sync));
}

void Orderer::FindSyncs() {
  absl::flat_hash_map<uint32_t, uint32_t> copies;  // copies by launching call
  for (uint32_t i = 0; i < out_.ops.size(); ++i) {
    if (out_.ops[i].launch != kNoRow && d_.events[out_.ops[i].event].kind == EventKind::kMemcpy)
      copies[out_.ops[i].launch] = i;
  }
  for (const HostThread& thread : host_.threads) {
    for (const uint32_t row : thread.events) {
      const Event& e = d_.events[row];
      if (e.kind != EventKind::kRuntime && e.kind != EventKind::kDriver) continue;
      const int64_t begin = host_.Begin(row), end = host_.End(row) + kClockNs;
      if (const auto copy = copies.find(row); copy != copies.end()) {
        const DeviceOp& op = out_.ops[copy->second];
        const absl::string_view kind = d_.name_of(d_.events[op.event]);
        const bool blocks = !absl::StrContains(d_.name_of(e), "Async") || absl::StrContains(kind, "Pageable");
        if (blocks && op.end <= end) AddSync(row, {copy->second});
        continue;
      }
      const SyncCall what = names_.Sync(e);
      if (what == SyncCall::kNo) continue;
      std::vector<uint32_t> last(d_.streams.size(), kNoRow);
      for (uint32_t s = 0; s < d_.streams.size(); ++s) last[s] = LastLaunched(s, begin, end);
      const uint32_t sync = sync_by_correlation_.Find(e.correlation);
      if (what != SyncCall::kDevice && sync != kNoRow && d_.events[sync].extra != kNoRow) {
        const SyncExtra& extra = d_.syncs[d_.events[sync].extra];
        const uint32_t lane = d_.events[sync].lane;
        const int64_t stream = extra.kind == SyncExtra::kEvent && extra.wait_on_stream >= 0
                                   ? extra.wait_on_stream
                                   : d_.streams[lane].stream;
        const uint32_t record = launch_by_correlation_.Find(extra.wait_on_correlation);
        const int64_t before = record != kNoRow ? host_.Begin(record) : begin;
        std::vector<uint32_t> ops;
        for (uint32_t s = 0; s < d_.streams.size(); ++s) {
          if (d_.streams[s].device == d_.streams[lane].device && d_.streams[s].stream == stream) {
            ops.push_back(LastLaunched(s, before, end));
          }
        }
        AddSync(row, ops);
        continue;
      }
      if (what == SyncCall::kDevice) {
        AddSync(row, last);
        continue;
      }
      // The trace does not show the stream or event. Take the operation that ended last before the call
      // returned.
      uint32_t best = kNoRow;
      if (what == SyncCall::kStream) {
        for (const uint32_t op : last) {
          if (op != kNoRow && (best == kNoRow || out_.ops[op].end > out_.ops[best].end)) best = op;
        }
      } else {
        auto it = std::partition_point(by_end_.begin(), by_end_.end(),
                                       [&](uint32_t o) { return out_.ops[o].end <= end; });
        while (it != by_end_.begin() && best == kNoRow) {
          if (out_.ops[*--it].end < begin) break;
          if (LaunchTime(*it) < begin) best = *it;
        }
      }
      if (best != kNoRow) AddSync(row, {best});
    }
  }
  absl::flat_hash_set<uint32_t> known;
  for (const HostSync& sync : out_.syncs) known.insert(sync.call);
  for (const Poll& poll : FindPolls(d_, host_, out_.ops)) {
    if (!known.contains(poll.call)) AddSync(poll.call, {poll.op});
  }
  // Only now: an AddSync() for another call may have cut the end of an operation that this call waited for.
  for (HostSync& sync : out_.syncs) {
    sync.until = host_.Begin(sync.call);
    for (const uint32_t op : sync.sources) {
      sync.until = std::max(sync.until, std::min(out_.ops[op].end, host_.End(sync.call)));
    }
  }
}

}  // namespace

int64_t DeviceOrder::CutOf(uint32_t call) const {
  const auto at = std::lower_bound(launch_cuts.begin(), launch_cuts.end(), call,
                                   [](const LaunchCut& cut, uint32_t row) { return cut.call < row; });
  return at == launch_cuts.end() || at->call != call ? INT64_MIN : at->time;
}

DeviceOrder OrderDevice(const DeviceTrace& device, const HostThreads& host, const TimelineOptions& options) {
  return Orderer(device, host, options).Run();
}

}  // namespace chakra::pytorch
