#include "replay/run/trace_memory.h"

#include "absl/strings/str_cat.h"
#include "replay/compute/compute_times.h"
#include "trace/base/free_memory.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

uint64_t LeastMemory(const TraceSet& traces) {
  constexpr uint64_t kOfGraph =
      sizeof(Time) + sizeof(ComputeRung) + 2 * sizeof(uint32_t);  // rung, lane, place
  uint64_t bytes = 0;
  for (const Graph* graph : DistinctGraphs(traces).graphs) bytes += graph->size() * kOfGraph;
  for (const RankTrace& rank : traces.ranks) {
    const Graph& graph = *rank.graph;
    bytes += graph.size() * (sizeof(uint32_t) + (graph.dep_delay.empty() ? 0 : sizeof(Time))) +
             graph.comm.size() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace

absl::Status CheckMemory(const TraceSet& traces, uint64_t free_bytes) {
  const uint64_t least = LeastMemory(traces);
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
