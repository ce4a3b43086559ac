// The dependency graph that a machine followed, as its profiler recorded it. build_timeline.h builds it.
//
// A Timeline has nodes, each a stretch of one host thread or one device operation, and edges between them. An
// edge has a kind and a delay: how long after the end of `from` (or the point where `from` released the node)
// the node may begin. Every edge agrees with the measurement: that point + delay <= the node's start. Each
// node has one tight edge. A replay of the unchanged timeline therefore reproduces the measurement from
// dependencies, durations, launch costs and gaps alone, and an edit moves everything that depends on the
// edited node.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/comm/comm_calls.h"
#include "trace/model/unseen_work.h"

namespace chakra::pytorch {

enum class EdgeKind : uint8_t {
  kStart,       // begin of the window; only if nothing else is known about a lane's first node
  kThread,      // order on a host thread; the delay is an idle gap that nothing explains
  kCall,        // order on a host thread inside one call: enter, return
  kHandOff,     // a host thread begins work that another thread handed over (forward -> backward)
  kWakeUp,      // a host thread continues when another thread has finished its work
  kLaunch,      // runtime call -> device operation; the delay is the launch latency
  kStream,      // order on a device's stream
  kRelease,     // order on a stream, of an operation that began before the previous one had ended
  kEventWait,   // event record -> stream wait, across streams
  kSync,        // device operation -> host call that waits for it
  kCollective,  // an asynchronous collective of the host -> the call that waits for it
};
inline constexpr int kEdgeKinds = 11;
absl::string_view Name(EdgeKind kind);  // "start", "thread", ...

// The rare members of an edge.
struct EdgeExtra {
  int64_t delay_ns = 0;        // of an edge with kLongDelay
  int64_t unexplained_ns = 0;  // the part of the delay that nothing explains
  // Share of the duration of `from` after which the node is released; 1: at its end.
  double share = 1;
};

struct TimelineEdge {
  static constexpr uint32_t kNoExtra = (1u << 28) - 1;
  static constexpr uint32_t kLongDelay = 0xffffffff;
  TimelineEdge() = default;
  TimelineEdge(uint32_t node, EdgeKind of_kind) : from(node), kind(of_kind) {}
  uint32_t from = 0;  // the node that is waited for
  EdgeKind kind : 4 = EdgeKind::kThread;
  uint32_t extra : 28 = kNoExtra;  // row of Timeline::extras
  uint32_t delay = 0;              // ns; kLongDelay: EdgeExtra::delay_ns has it
};

// How long after its begin, in ns, an operation that lasts `dur` ns releases another one at a share of its
// duration.
inline int64_t ReleasedAfter(int64_t dur, double share) {
  return share == 1 ? dur : std::llround(static_cast<double>(dur) * share);
}

struct TimelineNode {
  uint32_t event = kNoRow;  // row of DeviceTrace::events; kNoRow: the root, or IsOwnWork()
  uint32_t part : 31 = 0;   // callees divide a host call into stretches; each stretch is a part
  bool host : 1 = true;
  // As measured; ns since DeviceTrace::base_ns. For a call that waits: when the waiting ended.
  int64_t start = 0;
  int64_t dur = 0;    // ns that the node takes by itself
  int32_t lane = -1;  // host: row of DeviceTrace::threads; device: row of Timeline::lanes; -1: not ordered
  uint32_t comm = kNoRow;  // row of Timeline::comms: the call that this node carries

  // Whether the node is work of a host thread between two calls (own_work.h).
  bool IsOwnWork() const { return event == kNoRow && lane >= 0; }
};

// Device operations that run in order: a stream, or, if operations of a stream overlap, one of the lanes that
// the stream was split into.
struct DeviceLane {
  uint32_t stream = 0;  // row of DeviceTrace::streams
  uint32_t copy = 0;    // 0, or the number of the overlapping lane
};

// A step of the recording, named "ProfilerStep#N", that is inside the window.
struct TimelineStep {
  std::string name;
  uint32_t first = 0, last = 0;  // nodes; the step lasts from first's start to last's end
};

// Communication calls in the traces (without waits and set-up), and those of them that no node carries.
struct CommTally {
  uint64_t calls = 0, bytes = 0;
  uint64_t left_out = 0, left_out_bytes = 0;
};

struct Timeline {
  std::vector<TimelineNode> nodes;   // sorted by (start, order found); node 0 is the root
  std::vector<uint64_t> edge_begin;  // by node: its first edge; one more entry than nodes
  std::vector<TimelineEdge> edges;   // for each node, the nodes that it waits for, without duplicates
  std::vector<EdgeExtra> extras;     // rows for TimelineEdge::extra
  std::vector<DeviceLane> lanes;
  CommCalls comms;  // without their numbers (CommCall::seq)
  CommTally tally;
  UnseenWork unseen;
  std::vector<TimelineStep> steps;
  // By event row: the enclosing host call, or the call that launched the device operation; kNoRow: none.
  std::vector<uint32_t> caller;
  std::vector<Repair> repairs;
  int64_t window_begin = 0, window_end = 0;  // ns since base

  // In ns; never negative.
  int64_t DelayOf(const TimelineEdge& e) const {
    return e.delay == TimelineEdge::kLongDelay ? extras[e.extra].delay_ns : e.delay;
  }
  int64_t UnexplainedOf(const TimelineEdge& e) const {
    return e.extra == TimelineEdge::kNoExtra ? 0 : extras[e.extra].unexplained_ns;
  }
  double ShareOf(const TimelineEdge& e) const {
    return e.extra == TimelineEdge::kNoExtra ? 1 : extras[e.extra].share;
  }
};

struct TimelineOptions {
  // The window in ns since base_ns: only events in it, and operations that they launch, are replayed.
  int64_t begin = INT64_MIN, end = INT64_MAX;
};

}  // namespace chakra::pytorch
