#include "replay/engine/measure/kept_comm.h"

#include <map>
#include <string>

#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

std::map<std::string, KeptComm> KeptOf(const Graph& graph) {
  std::map<std::string, KeptComm> kinds;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (!graph.is_kept_comm(row)) continue;
    KeptComm& kind = kinds[std::string(graph.kept_kind(row))];
    ++kind.nodes;
    kind.time += graph.duration[row];
  }
  return kinds;
}

}  // namespace

void CountKept(const TraceSet& traces, Metrics* metrics) {
  const DistinctGraphs distinct(traces);
  std::vector<std::map<std::string, KeptComm>> kept;
  for (const Graph* graph : distinct.graphs) kept.push_back(KeptOf(*graph));
  for (const uint32_t g : distinct.of_rank) {
    for (const auto& [kind, of] : kept[g]) {
      metrics->kept.nodes += of.nodes;
      metrics->kept.time += of.time;
      CollectiveMetrics& total = metrics->collectives[{kind, std::string(kUnknownGroup)}];
      total.count += of.nodes;
      total.time += of.time;
      total.algorithm = "recorded";
    }
  }
}

}  // namespace chakra
