// The parts of a timeline that do not belong to a rank.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "backends/link_use.h"
#include "replay/energy/meter.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/spans.h"
#include "replay/timeline/writer.h"
#include "trace/model/trace.h"

namespace chakra {

// Writes counters of the links that have a series, as process `pid`. Adds the number of samples to `samples`.
absl::Status WriteLinkCounters(const LinkUses& links, int pid, TimelineWriter* writer, uint64_t* samples);

// Writes the watts of devices, nodes, racks and all devices together as counters of process `pid`. Only
// devices of `ranks` are written. Adds the number of samples to `samples`.
absl::Status WritePowerCounters(const energy::PowerMeter& meter, const std::vector<int>& ranks, int pid,
                                TimelineWriter* writer, uint64_t* samples);

// Writes a slice for each segment, as process `pid`, which comes before the ranks.
absl::Status WriteCriticalPath(const CriticalPath& path, const TraceSet& traces, int pid,
                               TimelineWriter* writer);

// The category of a node's slice: "compute", "host", "comm", "memory" or "other".
const char* TimelineCategory(const Graph& graph, uint32_t row);
// The name of a node's slice: the node's name, or its type if it has no name. Valid as long as the graph.
absl::string_view TimelineName(const Graph& graph, uint32_t row);
// Adds the values begin_ps and duration_ps.
void AddSpan(const NodeSpan& span, TimelineSlice* slice);

}  // namespace chakra
