#include "trace/generate/merge.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"

namespace chakra::generate {
namespace {

bool Exchanges(const StepNode& n) {
  return n.stream == Stream::kExpertRail ||
         (n.stream == Stream::kExpert && absl::StartsWith(n.spot.part, "experts."));
}

// The end of the nodes from `at` on that run before the other pass continues.
uint32_t EndOfTurn(const StageGraph& graph, uint32_t at, uint32_t end) {
  bool seen = false;
  for (; at < end; ++at) {
    const StepNode& n = graph.nodes[at];
    if (Exchanges(n)) {
      seen = true;
    } else if (seen) {
      return at;
    }
    // A launch belongs to the node after it.
    if (seen && at + 2 < end && graph.nodes[at + 1].stream == Stream::kHost && Exchanges(graph.nodes[at + 2]))
      ++at;
  }
  return end;
}

// Chooses the exchanges that overlap with no computation, node by node in the order of the graph: such a node
// waits for the computation before it, and the computation after it waits for the node.
class Alone {
 public:
  explicit Alone(double hidden) : hidden_(hidden) {}

  // Adds to `deps` the nodes for which node `number` waits; `merged`: whether it is in passes that run
  // together.
  void Add(const StepNode& n, uint32_t number, bool merged, std::vector<uint32_t>* deps) {
    if (n.stream == Stream::kCompute) {
      deps->insert(deps->end(), alone_.begin(), alone_.end());
      alone_.clear();
      computed_ = number;
    } else if (merged && hidden_ < 1 && Exchanges(n)) {
      // The nodes of one exchange, over the network and over NVLink, follow each other.
      if (!Same(n.spot, last_)) {
        const double before = hidden_ * static_cast<double>(exchanges_++);
        is_alone_ = std::floor(before + hidden_) == std::floor(before);
      }
      last_ = n.spot;
      if (!is_alone_) return;
      if (computed_ >= 0) deps->push_back(static_cast<uint32_t>(computed_));
      alone_.push_back(number);
    }
  }

 private:
  static bool Same(const Spot& a, const Spot& b) {
    return a.micro_batch == b.micro_batch && a.layer == b.layer && absl::string_view(a.phase) == b.phase &&
           absl::string_view(a.part) == b.part;
  }

  const double hidden_;
  int64_t exchanges_ = 0;
  int64_t computed_ = -1;  // the last computation
  Spot last_;              // of the last exchange
  bool is_alone_ = false;
  std::vector<uint32_t> alone_;  // exchanges for which the next computation waits
};

}  // namespace

void Interleave(const std::vector<MergedPasses>& merged, double hidden, StageGraph* graph) {
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
  Alone alone(hidden);
  auto range = merged.begin();
  for (const uint32_t old : order) {
    StepNode node = graph->nodes[old];
    while (range != merged.end() && number[old] >= range->end) ++range;
    const auto begin = static_cast<uint32_t>(deps.size());
    for (uint32_t d = node.dep_begin; d < node.dep_end; ++d) deps.push_back(number[graph->deps[d]]);
    alone.Add(node, number[old], range != merged.end() && number[old] >= range->begin, &deps);
    std::sort(deps.begin() + begin, deps.end());
    deps.erase(std::unique(deps.begin() + begin, deps.end()), deps.end());
    node.dep_begin = begin;
    node.dep_end = static_cast<uint32_t>(deps.size());
    nodes.push_back(node);
  }
  graph->nodes = std::move(nodes);
  graph->deps = std::move(deps);
}

}  // namespace chakra::generate
