// What a timeline shows of no one rank.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "backends/link_use.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/spans.h"
#include "replay/timeline/writer.h"
#include "trace/model/trace.h"

namespace chakra {

// Counters of links with a series, as process `pid`. Adds to `samples`.
absl::Status WriteLinkCounters(const LinkUses& links, int pid, TimelineWriter* writer, uint64_t* samples);

// A slice for each segment, as process `pid`, which stands before the ranks.
absl::Status WriteCriticalPath(const CriticalPath& path, const TraceSet& traces, int pid,
                               TimelineWriter* writer);

// The category of a node's slice.
const char* TimelineCategory(const Graph& graph, uint32_t row);
// Its name, or its type where it has none. Lives as long as the graph.
absl::string_view TimelineName(const Graph& graph, uint32_t row);
// begin_ps and duration_ps.
void AddSpan(const NodeSpan& span, TimelineSlice* slice);

}  // namespace chakra
