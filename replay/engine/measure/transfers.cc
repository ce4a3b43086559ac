#include "replay/engine/measure/transfers.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "replay/engine/measure/least_of_repeats.h"

namespace chakra {
namespace {

void AddTransfer(Time transfer, CollectiveMetrics* total) {
  if (transfer == Time::Never()) return;
  total->recorded += transfer;
  ++total->recorded_count;
}

}  // namespace

void AddRecordedTransfers(const TraceSet& traces, const Matching& matching, Metrics* metrics) {
  std::vector<Time> calls(matching.calls.size(), Time::Never());
  std::vector<Time> messages(matching.messages.size(), Time::Never());
  bool any = false;
  std::map<const Graph*, std::vector<Time>> least;  // only for ranks that are copies of one trace
  for (const RankTrace& trace : traces.ranks) {
    const Graph& graph = *trace.graph;
    const CommSlots& slots = matching.slots[static_cast<size_t>(trace.rank)];
    if (graph.comm.empty() || slots.size() < graph.comm.size()) continue;  // symmetric to a matched rank
    std::vector<Time>* repeats = nullptr;
    if (traces.of_one_trace) {
      const auto [at, added] = least.try_emplace(&graph);
      repeats = &at->second;
      if (added) *repeats = LeastOfRepeats(trace);
    }
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] < NodeType::kSend) continue;
      Time transfer = graph.transfer_of(graph.payload[row]);
      if (transfer == Time::Never()) continue;
      if (repeats != nullptr) transfer = (*repeats)[graph.payload[row]];
      any = true;
      const uint32_t index = slots[graph.payload[row]].index;
      Time& longest = graph.type[row] == NodeType::kCollective ? calls[index] : messages[index];
      longest = longest == Time::Never() ? transfer : std::max(longest, transfer);
    }
  }
  if (!any) return;
  for (size_t i = 0; i < calls.size(); ++i) {
    const CollectiveCall& call = matching.calls[i];
    if (call.kept) continue;
    AddTransfer(calls[i],
                &metrics->collectives[{std::string(Name(call.type)), matching.groups[call.group].name}]);
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!matching.messages[i].kept) AddTransfer(messages[i], &metrics->collectives[{"send_recv", ""}]);
  }
}

}  // namespace chakra
