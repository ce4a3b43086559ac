// Writes the timeline of a replay as a file for trace viewers: Perfetto (https://ui.perfetto.dev) or
// chrome://tracing.
//
// There is a process for each rank, a track for each lane (LaneName()), and a slice for each node. Nodes of
// one lane that overlap are on additional tracks, "communication (2)". A slice has the node's id, its exact
// begin and duration in picoseconds, and what the node moves or computes. Inside a communication slice, a
// slice of category "wait" ends when the missing rank began: the sender of a message, or the last member of a
// collective call. Arrows lead from the slice of this rank to the slices that waited. Links have counters:
// the used share of their bandwidth, and the bytes in their queues. The critical path has a slice for each of
// its segments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/link_use.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/spans.h"
#include "replay/energy/meter.h"
#include "trace/io/csv.h"
#include "trace/model/trace.h"

namespace chakra {

struct CriticalPath;  // replay/engine/causes/critical_path.h

// kPerfetto: Perfetto's protobuf, whose times are nanoseconds. Begin and end are both rounded down, so that
// slices stay disjoint or nested; a slice below a nanosecond may have no length. kChromeJson: the JSON of
// trace events, in microseconds with six digits, which is exact.
enum class TimelineFormat { kPerfetto, kChromeJson };

// The format by the ending of the name: .perfetto-trace and .pftrace; .json; a .gz after these is ignored.
// Errors: other endings, and .zst, which viewers do not open.
absl::StatusOr<TimelineFormat> TimelineFormatOf(absl::string_view path);
// "perfetto" or "json". Errors: anything else.
absl::StatusOr<TimelineFormat> ParseTimelineFormat(absl::string_view name);

// Reads ranks such as "0-7,16" or "0-254/2"; the result is ascending, without duplicates. Errors name the
// wrong part and what is expected.
absl::StatusOr<std::vector<int>> ParseTimelineRanks(absl::string_view text);

inline constexpr uint64_t kTimelineNodes = 1000000;

// The input of WriteTimeline(). Pointers are not owned.
struct TimelineInput {
  const TraceSet* traces = nullptr;  // the traces that were replayed
  const NodeSpans* spans = nullptr;  // by rank and row: of every node
  // As in EngineOptions:
  LanePolicy lanes = LanePolicy::kRecorded;
  std::vector<int> dimension_sizes;
  bool recorded_comm = false;
  const Metrics* metrics = nullptr;    // has the algorithms of collectives; null: they are not shown
  const LinkUses* links = nullptr;     // links with a series get counters; null: none
  // Written as a separate process, whichever ranks are chosen; null: none.
  const CriticalPath* path = nullptr;
  const energy::PowerMeter* meter = nullptr;  // a meter that kept its steps, written as counters; null: none
  std::vector<int> ranks;              // ascending; empty: all
  // The maximum number of nodes. Ranks are written as a whole, from the first on, as long as their nodes are
  // within this limit. If the first rank alone exceeds it, only its nodes that began first are written. 0: no
  // limit.
  uint64_t most_nodes = kTimelineNodes;
};

// The amounts that were written.
struct TimelineTotals {
  uint64_t ranks = 0;
  uint64_t nodes = 0;
  uint64_t arrows = 0;
  uint64_t samples = 0;  // samples of counters
  std::string left_out;  // text for people: what most_nodes left out, and how to get it; "": nothing
};

// Writes in pieces; memory grows with one rank's nodes and with the communication of the ranks. The same
// input gives the same bytes. Errors: a rank that is not in the traces; spans that do not fit the traces;
// errors of MatchCommunication() and of `write`.
absl::StatusOr<TimelineTotals> WriteTimeline(const TimelineInput& input, TimelineFormat format,
                                             const WriteBytes& write);

}  // namespace chakra
