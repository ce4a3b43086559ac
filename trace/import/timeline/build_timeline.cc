#include "trace/import/timeline/build_timeline.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/import/timeline/comm_assign.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/host_stretches.h"
#include "trace/import/timeline/launch_queue.h"
#include "trace/import/timeline/thread_waits.h"
#include "trace/import/timeline/threads.h"
#include "trace/import/timeline/timeline_draft.h"
#include "trace/import/timeline/timer_waits.h"
#include "trace/import/timeline/unseen_launches.h"

namespace chakra::pytorch {
namespace {

class Builder {
 public:
  Builder(const DeviceTrace& device, const TimelineOptions& options)
      : d_(device),
        host_(NestHostEvents(device, options)),
        order_(OrderDevice(device, host_, options)),
        draft_(device, host_) {}

  absl::StatusOr<Timeline> Build(const HostTrace* trace, const Pairing* pairing);

 private:
  int64_t WorkedUntil(uint32_t call, int64_t until) const;
  void CollectWaits();
  void EmitDevice();
  void EmitCause(uint32_t op, uint32_t node, const DeviceCause& cause);
  void ConnectWaits(const std::vector<Waiter>& waiters);
  void FindSteps();
  void FindDeviceSteps();

  const DeviceTrace& d_;
  HostThreads host_;
  DeviceOrder order_;
  TimelineDraft draft_;
  std::vector<ThreadMarks> marks_;  // by thread
  std::vector<uint32_t> node_of_op_;
  absl::flat_hash_set<uint32_t> own_;  // operations that their own launching call waits for
};

// When `call`, which waited until `until`, began to wait: at the last begin or end of an event of its thread
// before that.
int64_t Builder::WorkedUntil(uint32_t call, int64_t until) const {
  const std::vector<int64_t>& bounds = host_.threads[d_.events[call].lane].bounds;
  const auto it = std::lower_bound(bounds.begin(), bounds.end(), until);
  return it == bounds.begin() ? until : std::max(host_.Begin(call), *(it - 1));
}

// Collects the waits of each thread, in order. No event of the thread begins or ends inside a wait.
void Builder::CollectWaits() {
  marks_.resize(host_.threads.size());
  for (const HostSync& sync : order_.syncs) {
    const uint32_t thread = d_.events[sync.call].lane;
    HostWait wait;
    wait.call = sync.call;
    wait.until = sync.until;
    wait.from = WorkedUntil(sync.call, sync.until);
    wait.from = std::max(wait.from, order_.CutOf(sync.call));
    wait.from = std::min(wait.from, wait.until);
    wait.device = sync.sources;
    for (const uint32_t op : sync.sources) {
      if (order_.ops[op].launch == sync.call) own_.insert(op);
    }
    marks_[thread].waits.push_back(std::move(wait));
  }
  for (const ThreadWait& w : FindThreadWaits(d_, host_)) {
    HostWait wait;
    wait.from = w.from;
    wait.until = w.until;
    wait.kind = w.kind;
    wait.event = w.event;
    if (w.event == kNoRow) wait.thread = w.source;
    wait.time = w.source_time;
    marks_[w.thread].waits.push_back(std::move(wait));
  }
  for (const QueueWait& w : FindQueueWaits(d_, host_, order_)) {
    HostWait wait;
    wait.call = w.call;
    wait.until = std::max(host_.Begin(w.call), order_.ops[w.op].end);
    wait.from = std::min(wait.until, WorkedUntil(w.call, wait.until));
    wait.device = {w.op};
    marks_[d_.events[w.call].lane].waits.push_back(std::move(wait));
  }
  for (const TimerWait& w : FindTimerWaits(d_, host_, order_)) {
    HostWait wait;
    wait.from = w.begin;
    wait.until = w.end;
    wait.kind = EdgeKind::kWakeUp;
    wait.device = {w.op};
    marks_[w.thread].waits.push_back(std::move(wait));
  }
  for (const LaunchCut& cut : order_.launch_cuts) marks_[d_.events[cut.call].lane].cuts.push_back(cut.time);
  for (ThreadMarks& marks : marks_) {
    std::stable_sort(marks.waits.begin(), marks.waits.end(),
                     [](const HostWait& a, const HostWait& b) { return a.from < b.from; });
    std::sort(marks.cuts.begin(), marks.cuts.end());
  }
}

// Adds the edge of a cause of device operation `i`, which is `node`.
void Builder::EmitCause(uint32_t i, uint32_t node, const DeviceCause& cause) {
  if (cause.kind == EdgeKind::kStart) {
    draft_.AddEdge(0, node, EdgeKind::kStart, cause.ready - draft_.t.window_begin, cause.unexplained);
    return;
  }
  if (cause.kind != EdgeKind::kLaunch) {
    const uint32_t from = node_of_op_[cause.source];
    const TimelineNode& source = draft_.t.nodes[from];
    if (cause.kind != EdgeKind::kRelease || draft_.EndOf(from) <= cause.ready) {
      const EdgeKind kind = cause.kind == EdgeKind::kRelease ? EdgeKind::kStream : cause.kind;
      draft_.AddEdge(from, node, kind, cause.ready - draft_.EndOf(from), cause.unexplained);
      return;
    }
    const double share = static_cast<double>(cause.ready - source.start) / static_cast<double>(source.dur);
    draft_.AddRelease(from, node, share);
    return;
  }
  uint32_t from = draft_.last_node[cause.source];
  const DeviceOp& op = order_.ops[i];
  const bool blocks = own_.contains(i);
  if (from == kNoRow || cause.ready < draft_.EndOf(from) || blocks) {
    // A call that waits for the operation that it launched submitted the operation earlier.
    from = draft_.LastEnded(d_.events[cause.source].lane, cause.ready, blocks ? op.end : INT64_MAX);
  }
  if (from == kNoRow) from = 0;
  draft_.AddEdge(from, node, EdgeKind::kLaunch, cause.ready - draft_.EndOf(from), cause.unexplained);
}

void Builder::EmitDevice() {
  node_of_op_.resize(order_.ops.size());
  draft_.t.lanes = order_.lanes;
  for (uint32_t i = 0; i < order_.ops.size(); ++i) {
    const DeviceOp& op = order_.ops[i];
    TimelineNode n;
    n.event = op.event;
    n.start = op.begin;
    n.dur = op.end - op.begin;
    n.lane = static_cast<int32_t>(op.lane);
    n.host = false;
    const uint32_t node = node_of_op_[i] = draft_.Add(n);
    for (uint32_t k = 0; k < op.causes; ++k) {
      EmitCause(i, node, order_.causes[op.first_cause + k]);
    }
    if (op.causes == 0) draft_.AddEdge(0, node, EdgeKind::kStart, op.begin - draft_.t.window_begin);
  }
}

void Builder::ConnectWaits(const std::vector<Waiter>& waiters) {
  for (const auto& [node, wait] : waiters) {
    for (const uint32_t op : wait->device) {
      const uint32_t from = node_of_op_[op];
      // A call continues at once. An idle thread continues when its timer ends.
      const bool idle = wait->call == kNoRow;
      draft_.AddEdge(from, node, wait->kind, idle ? draft_.t.nodes[node].start - draft_.EndOf(from) : 0);
    }
    if (wait->event != kNoRow) {
      const uint32_t from = draft_.first_node[wait->event];
      draft_.AddEdge(from, node, wait->kind, draft_.t.nodes[node].start - draft_.EndOf(from));
    }
    if (wait->thread == kNoRow) continue;
    const uint32_t from = draft_.LastEnded(wait->thread, wait->time);
    if (from == kNoRow) {
      draft_.AddEdge(0, node, EdgeKind::kStart, draft_.t.nodes[node].start - draft_.t.window_begin);
    } else {
      draft_.AddEdge(from, node, wait->kind, draft_.t.nodes[node].start - draft_.EndOf(from));
    }
  }
}

void Builder::FindSteps() {
  for (uint32_t row = 0; row < d_.events.size(); ++row) {
    const Event& e = d_.events[row];
    if (!OnHost(e.kind) || draft_.first_node[row] == kNoRow ||
        !absl::StartsWith(d_.name_of(e), "ProfilerStep"))
      continue;
    // Skip steps that the window cuts.
    if (host_.Begin(row) != e.ts || host_.End(row) != e.ts + e.dur) continue;
    const uint32_t last = draft_.LastEnded(e.lane, host_.End(row));
    draft_.t.steps.push_back({std::string(d_.name_of(e)), draft_.first_node[row], last});
  }
  FindDeviceSteps();
}

// A step that is known only by its times lasts from its first operation to the end of its last.
void Builder::FindDeviceSteps() {
  for (const DeviceStep& step : d_.steps) {
    uint32_t first = kNoRow, last = kNoRow;
    const auto begin = std::partition_point(order_.ops.begin(), order_.ops.end(),
                                            [&](const DeviceOp& op) { return op.begin < step.begin; }) -
                       order_.ops.begin();
    for (auto i = static_cast<uint32_t>(begin); i < order_.ops.size() && order_.ops[i].begin < step.end;
         ++i) {
      if (order_.ops[i].end > step.end) continue;
      if (first == kNoRow) first = i;
      if (last == kNoRow || order_.ops[i].end >= order_.ops[last].end) last = i;
    }
    if (first == kNoRow) continue;
    draft_.t.steps.push_back(
        {absl::StrCat("ProfilerStep#", step.number), node_of_op_[first], node_of_op_[last]});
  }
}

absl::StatusOr<Timeline> Builder::Build(const HostTrace* trace, const Pairing* pairing) {
  if (host_.window_begin >= host_.window_end && d_.events.empty()) {
    for (const Repair& r : d_.repairs) {
      if (r.kind != "kineto_unknown_category" && r.kind != "kineto_begin_end") continue;
      return absl::InvalidArgumentError(absl::StrCat(
          d_.file, ": a Chrome trace of another program: ", r.count,
          " spans, none with a category of torch.profiler (cpu_op, cuda_runtime, kernel, ...): the place of "
          "each span is unknown; torch.autograd.profiler, TensorFlow and others write such files; expected a "
          "capture of torch.profiler: chakra-replay record-help torch"));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        d_.file,
        ": no operator, runtime call or device operation; a profiler that recorded no step writes such a "
        "file: "
        "expected torch.profiler's activities CPU and CUDA, and a schedule that reached its active steps"));
  }
  CollectWaits();
  for (HostThread& thread : host_.threads) std::vector<int64_t>().swap(thread.bounds);
  const std::vector<Waiter> waiters = EmitHost(d_, host_, OwnWork(d_, host_), marks_, &draft_);
  EmitDevice();
  std::vector<DeviceCause>().swap(order_.causes);
  ConnectWaits(waiters);
  FindSteps();
  Timeline& t = draft_.t;
  if (t.nodes.size() == 1) {
    return absl::InvalidArgumentError(absl::StrCat(d_.file, ": the selected window has nothing to replay"));
  }
  if (host_.clipped > 0) {
    t.repairs.push_back({"call_end_clipped", d_.file, d_.rank, host_.clipped, 0,
                         "calls that ended after their caller by rounding were cut"});
  }
  if (host_.late_rounds > 0) {
    t.repairs.push_back(
        {"late_rounds_left_out", d_.file, d_.rank, host_.late_rounds, 0,
         "calls of threads that only poll the device, after everything else had ended, were left out"});
  }
  t.repairs.insert(t.repairs.end(), order_.repairs.begin(), order_.repairs.end());
  std::vector<ThreadMarks>().swap(marks_);
  t.unseen = FindUnseenWork(d_, host_, order_);
  if (t.unseen.launches_unseen + t.unseen.graphs_unseen > 0) {
    t.repairs.push_back({"device_work_unseen", d_.file, d_.rank,
                         t.unseen.launches_unseen + t.unseen.graphs_unseen, 0,
                         absl::StrCat(Describe(t.unseen), "; their time is missing")});
  }
  AssignComms(d_, trace, pairing, host_, order_, draft_.first_node, &t, &draft_.edges);
  t.caller = std::move(host_.parent);
  for (const DeviceOp& op : order_.ops) t.caller[op.event] = op.launch;
  host_ = {};
  order_ = {};
  if (t.extras.size() >= TimelineEdge::kNoExtra)
    return absl::ResourceExhaustedError(absl::StrCat(
        d_.file, ": more than ", TimelineEdge::kNoExtra,
        " dependencies without an explanation or with an early release; choose steps with --steps"));
  return draft_.Finish();
}

}  // namespace

absl::StatusOr<Timeline> BuildTimeline(const DeviceTrace& device, const HostTrace* host,
                                       const Pairing* pairing, const TimelineOptions& options) {
  return Builder(device, options).Build(host, pairing);
}

}  // namespace chakra::pytorch
