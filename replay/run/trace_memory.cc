#include "replay/run/trace_memory.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/match/match.h"
#include "trace/base/free_memory.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

uint64_t LeastMemory(const TraceSet& traces, bool recorded, bool recorded_times) {
  const uint64_t times = sizeof(TimeSource) + (recorded_times ? 0 : sizeof(Time));
  constexpr uint64_t kLanes = 2 * sizeof(uint32_t);
  const auto walks = [recorded](const Graph& graph) { return recorded && graph.dep_delay.empty(); };
  uint64_t bytes = 0;
  for (const Graph* graph : DistinctGraphs(traces).graphs)
    bytes += graph->size() * (times + (walks(*graph) ? 0 : kLanes));
  absl::flat_hash_set<const Comm*> calls;  // ranks that make the same calls share their slots
  for (const RankTrace& rank : traces.ranks) {
    const Graph& graph = *rank.graph;
    if (calls.insert(graph.comm.data()).second) bytes += graph.comm.size() * sizeof(CommSlot);
    if (walks(graph)) continue;
    bytes += graph.size() * (sizeof(uint32_t) + (graph.dep_delay.empty() ? 0 : sizeof(Time))) +
             graph.comm.size() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace

absl::Status CheckMemory(const TraceSet& traces, uint64_t free_bytes, bool recorded, bool recorded_times) {
  const uint64_t least = LeastMemory(traces, recorded, recorded_times);
  if (least <= free_bytes) return absl::OkStatus();
  const auto gb = [](uint64_t bytes) { return MemoryText(static_cast<double>(bytes)); };
  return absl::ResourceExhaustedError(absl::StrCat("a replay of ", traces.ranks.size(), " ranks with ",
                                                   traces.nodes(), " nodes needs at least ", gb(least),
                                                   " in addition to the traces, but only ", gb(free_bytes),
                                                   " are free; expected fewer ranks, calls or steps (name "
                                                   "the files of some ranks), or a machine with more "
                                                   "memory"));
}

}  // namespace chakra
