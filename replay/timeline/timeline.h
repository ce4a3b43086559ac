// The timeline of a replay as a file that trace viewers open: Perfetto (https://ui.perfetto.dev) or
// chrome://tracing.
//
// A process for each rank, a track for each lane (LaneName()), a slice for each node. Nodes of one lane that
// overlap are on further tracks, "communication (2)". A slice has the node's id, its exact begin and duration
// in picoseconds, and what it moves or computes. Inside a communication slice, one of category "wait" ends
// when whoever was missing began: the sender of what a receive is for, the last member of a collective call.
// From that one's slice arrows go to those who waited. Links have counters: the share of their bandwidth that
// was taken, and the bytes that waited for them. The critical path has a slice for each of its segments.
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
#include "trace/io/csv.h"
#include "trace/model/trace.h"

namespace chakra {

struct CriticalPath;  // replay/engine/causes/critical_path.h

// kPerfetto: its protobuf, whose times are nanoseconds. Begin and end are both rounded down, so that slices
// stay beside or inside each other; a slice below a nanosecond may have no length. kChromeJson: the JSON of
// trace events, in microseconds with six digits, which is exact.
enum class TimelineFormat { kPerfetto, kChromeJson };

// By the ending of the name: .perfetto-trace and .pftrace; .json; .gz behind them does not count.
// Errors: other endings, and .zst, which viewers do not open.
absl::StatusOr<TimelineFormat> TimelineFormatOf(absl::string_view path);
// "perfetto" or "json". Errors: anything else.
absl::StatusOr<TimelineFormat> ParseTimelineFormat(absl::string_view name);

// "0-7,16", "0-254/2": ascending, each once. Errors say which part, and what is expected.
absl::StatusOr<std::vector<int>> ParseTimelineRanks(absl::string_view text);

inline constexpr uint64_t kTimelineNodes = 1000000;

// All pointers are the caller's.
struct TimelineInput {
  const TraceSet* traces = nullptr;  // as they were replayed
  const NodeSpans* spans = nullptr;  // of every node
  // As of EngineOptions:
  LanePolicy lanes = LanePolicy::kRecorded;
  std::vector<int> dimension_sizes;
  bool recorded_comm = false;
  const Metrics* metrics = nullptr;    // for the algorithms of collectives; null: they are not told
  const LinkUses* links = nullptr;     // counters of those with a series; null: none
  const CriticalPath* path = nullptr;  // a process of its own, whatever the ranks; null: none
  std::vector<int> ranks;              // ascending; empty: all
  // Ranks are written whole, from the first on, while they have no more nodes together; of the first alone,
  // if it has more, the nodes that began first. 0: no limit.
  uint64_t most_nodes = kTimelineNodes;
};

// What was written.
struct TimelineTotals {
  uint64_t ranks = 0;
  uint64_t nodes = 0;
  uint64_t arrows = 0;
  uint64_t samples = 0;  // of counters
  std::string left_out;  // what most_nodes left out, for people, and how to get it; "": nothing
};

// Writes piece by piece; memory grows with one rank's nodes and with the communication of the ranks.
// Same input, same bytes.
// Errors: a rank that the traces have not, spans that do not fit the traces, those of MatchCommunication()
// and of `write`.
absl::StatusOr<TimelineTotals> WriteTimeline(const TimelineInput& input, TimelineFormat format,
                                             const WriteBytes& write);

}  // namespace chakra
