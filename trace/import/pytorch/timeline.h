// The dependency graph that one machine obeyed, from what its profiler saw.
//
// A Timeline is a list of nodes, each a stretch of one host thread or one
// device operation, and of edges between them, each with its kind and a delay:
// how long after the end of `from` the node may begin. Every edge is
// consistent with the measurement: from's end + delay <= the node's start. For
// each node one edge is tight, so a replay of the unchanged timeline gives the
// measurement back; but it does so from dependencies, durations, launch costs
// and gaps alone, and an edit moves what depends on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/pair.h"

namespace chakra::pytorch {

enum class EdgeKind : uint8_t {
  kStart,       // begin of the window; only where nothing else is known of a lane's first node
  kThread,      // order on a host thread; the delay is the idle gap, host work that no event covers
  kCall,        // order on a host thread inside one call: enter, return
  kHandOff,     // a host thread begins what another handed to it (forward -> backward)
  kWakeUp,      // a host thread goes on when another has done its work
  kLaunch,      // runtime call -> device operation; the delay is the launch latency
  kStream,      // order on a device's stream
  kEventWait,   // event record -> stream wait, across streams
  kSync,        // device operation -> host call that waits for it
  kCollective,  // an asynchronous collective of the host -> who waits for it
};
inline constexpr int kEdgeKinds = 10;
absl::string_view Name(EdgeKind kind);  // "start", "thread", ...

struct TimelineEdge {
  uint32_t from = 0;  // node
  EdgeKind kind = EdgeKind::kThread;
  int64_t delay_ns = 0;  // never negative
};

struct TimelineNode {
  uint32_t event = kNoRow;  // row of DeviceTrace::events; kNoRow: the root
  uint32_t part = 0;        // a host call that its callees interrupt has one part for each stretch
  int64_t start =
      0;  // as measured; ns since DeviceTrace::base_ns. Of a call that waits: when the waiting ended
  int64_t dur = 0;   // ns that it takes by itself
  int32_t lane = 0;  // host: row of DeviceTrace::threads; device: row of Timeline::lanes; -1: in no order
  bool host = true;
  uint32_t comm = kNoRow;  // row of Timeline::comms: what this node communicates
};

// Which device operations run in order: a stream, or one of several that a
// stream was split into because its operations overlap.
struct DeviceLane {
  uint32_t stream = 0;  // row of DeviceTrace::streams
  uint32_t copy = 0;    // 0, or the number of the overlapping lane
};

// A ProfilerStep, or the whole window where there is none.
struct TimelineStep {
  std::string name;
  uint32_t first = 0, last = 0;  // nodes; the step lasts from first's start to last's end
};

// Calls of communication that the traces show (waits and set-up apart), and
// those that no node carries.
struct CommTally {
  uint64_t calls = 0, bytes = 0;
  uint64_t left_out = 0, left_out_bytes = 0;
};

struct Timeline {
  std::vector<TimelineNode> nodes;   // by (start, order found); node 0 is the root
  std::vector<uint64_t> edge_begin;  // nodes + 1
  std::vector<TimelineEdge> edges;   // of each node: what it waits for, no pair twice
  std::vector<DeviceLane> lanes;
  std::vector<CommCall> comms;
  CommTally tally;
  std::vector<TimelineStep> steps;
  std::vector<uint32_t>
      caller;  // by event row: the enclosing host call, or the call that launched it; kNoRow
  std::vector<Repair> repairs;
  int64_t window_begin = 0, window_end = 0;  // ns since base
};

struct TimelineOptions {
  // Only what happens in these ns since base_ns, and what it launches.
  int64_t begin = INT64_MIN, end = INT64_MAX;
};

// `host` and `pairing` may be null: then communication is known from the
// device trace alone. Errors: a device trace with nothing to replay.
absl::StatusOr<Timeline> BuildTimeline(const DeviceTrace& device, const HostTrace* host,
                                       const Pairing* pairing, const TimelineOptions& options);

}  // namespace chakra::pytorch
