#include "trace/generate/merge.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"

namespace chakra::generate {
namespace {

// The end of what runs from `at` on before the other pass goes on.
uint32_t EndOfTurn(const StageGraph& graph, uint32_t at, uint32_t end) {
  const auto exchanges = [](const StepNode& n) {
    return n.stream == Stream::kExpertRail ||
           (n.stream == Stream::kExpert && absl::StartsWith(n.spot.part, "experts."));
  };
  bool seen = false;
  for (; at < end; ++at) {
    const StepNode& n = graph.nodes[at];
    if (exchanges(n)) {
      seen = true;
    } else if (seen) {
      return at;
    }
    // A launch belongs to the node that follows.
    if (seen && at + 2 < end && graph.nodes[at + 1].stream == Stream::kHost && exchanges(graph.nodes[at + 2]))
      ++at;
  }
  return end;
}

}  // namespace

void Interleave(const std::vector<MergedPasses>& merged, StageGraph* graph) {
  if (merged.empty()) return;
  const auto count = static_cast<uint32_t>(graph->nodes.size());
  std::vector<uint32_t> order;  // old numbers
  order.reserve(count);
  const auto append = [&](uint32_t from, uint32_t to) {
    for (; from < to; ++from) order.push_back(from);
  };
  uint32_t at = 0;
  for (const MergedPasses& m : merged) {
    append(at, m.begin);
    uint32_t first = m.begin, second = m.middle;
    while (first < m.middle || second < m.end) {
      const uint32_t stop = EndOfTurn(*graph, first, m.middle), other = EndOfTurn(*graph, second, m.end);
      append(first, stop);
      append(second, other);
      first = stop;
      second = other;
    }
    at = m.end;
  }
  append(at, count);
  std::vector<uint32_t> number(count);
  for (uint32_t i = 0; i < count; ++i) number[order[i]] = i;
  std::vector<StepNode> nodes;
  std::vector<uint32_t> deps;
  nodes.reserve(count);
  deps.reserve(graph->deps.size());
  for (const uint32_t old : order) {
    StepNode node = graph->nodes[old];
    const auto begin = static_cast<uint32_t>(deps.size());
    for (uint32_t d = node.dep_begin; d < node.dep_end; ++d) deps.push_back(number[graph->deps[d]]);
    std::sort(deps.begin() + begin, deps.end());
    node.dep_begin = begin;
    node.dep_end = static_cast<uint32_t>(deps.size());
    nodes.push_back(node);
  }
  graph->nodes = std::move(nodes);
  graph->deps = std::move(deps);
}

}  // namespace chakra::generate
