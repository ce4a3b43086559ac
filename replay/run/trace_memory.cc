#include "replay/run/trace_memory.h"

#include "absl/strings/str_cat.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/match.h"
#include "trace/base/free_memory.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

uint64_t LeastMemory(const TraceSet& traces, bool recorded) {
  constexpr uint64_t kTimes = sizeof(Time) + sizeof(ComputeRung), kLanes = 2 * sizeof(uint32_t);
  const auto walks = [recorded](const Graph& graph) { return recorded && graph.dep_delay.empty(); };
  uint64_t bytes = 0;
  for (const Graph* graph : DistinctGraphs(traces).graphs)
    bytes += graph->size() * (kTimes + (walks(*graph) ? 0 : kLanes));
  for (const RankTrace& rank : traces.ranks) {
    const Graph& graph = *rank.graph;
    bytes += graph.comm.size() * sizeof(CommSlot);
    if (walks(graph)) continue;
    bytes += graph.size() * (sizeof(uint32_t) + (graph.dep_delay.empty() ? 0 : sizeof(Time))) +
             graph.comm.size() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace

absl::Status CheckMemory(const TraceSet& traces, uint64_t free_bytes, bool recorded) {
  const uint64_t least = LeastMemory(traces, recorded);
  if (least <= free_bytes) return absl::OkStatus();
  const auto gb = [](uint64_t bytes) { return MemoryText(static_cast<double>(bytes)); };
  return absl::ResourceExhaustedError(absl::StrCat("a replay of ", traces.ranks.size(), " ranks with ",
                                                   traces.nodes(), " nodes needs at least ", gb(least),
                                                   " beside the traces, and ", gb(free_bytes),
                                                   " are free; expected fewer ranks, calls or steps (name "
                                                   "the files of some ranks), or a machine with more "
                                                   "memory"));
}

}  // namespace chakra
