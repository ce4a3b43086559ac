#include "replay/engine/symmetry/serial_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "replay/engine/lanes.h"

namespace chakra {
namespace {

// The order of a rank's rows, from its graph's dependencies and the chains of its lanes.
class Order {
 public:
  Order(const RankTrace& trace, LanePolicy policy, const Matching& matching)
      : graph_(*trace.graph),
        lanes_(LanesOfGraph(graph_, policy)),
        own_(LanesOfRank(trace, policy, matching)) {
    std::vector<uint32_t> waits(graph_.size());
    for (uint32_t row = 0; row < graph_.size(); ++row)
      ForEachNext(row, [&](uint32_t next, bool) { ++waits[next]; });
    for (uint32_t row = 0; row < graph_.size(); ++row) {
      if (waits[row] == 0) sorted_.push_back(row);
    }
    for (size_t i = 0; i < sorted_.size(); ++i) {
      ForEachNext(sorted_[i], [&](uint32_t next, bool) {
        if (--waits[next] == 0) sorted_.push_back(next);
      });
    }
  }

  // Whether the calls of the unit follow one another. `unit_of` is the unit by index into graph.comm. Each
  // row has the number of the last call that has ended before the row begins; in a chain this is always the
  // previous call.
  bool IsChain(const std::vector<uint32_t>& unit_of, uint32_t unit) const {
    if (sorted_.size() != graph_.size()) return false;  // a cycle
    std::vector<uint32_t> before(graph_.size(), 0);     // number of the last call that has ended, from 1 on
    uint32_t calls = 0;
    for (const uint32_t row : sorted_) {
      uint32_t after = before[row];
      if (graph_.type[row] == NodeType::kCollective && unit_of[graph_.payload[row]] == unit) {
        if (before[row] != calls) return false;
        after = ++calls;
      }
      ForEachNext(row, [&](uint32_t next, bool at_end) {
        before[next] = std::max(before[next], at_end ? after : before[row]);
      });
    }
    return true;
  }

 private:
  // Calls f(next row, whether it waits for the end of `row`).
  template <typename F>
  void ForEachNext(uint32_t row, F f) const {
    for (uint32_t i = graph_.child_begin[row]; i < graph_.child_begin[row + 1]; ++i)
      f(graph_.child[i], graph_.child_release.empty() || graph_.child_release[i] == kReleaseAtEnd);
    const uint32_t chained = lanes_.chain_next.empty() ? kNoRow : lanes_.chain_next[row];
    if (chained != kNoRow) f(chained, true);
    const NodeType type = graph_.type[row];
    if (own_.comm_next.empty() || (type != NodeType::kCollective && type != NodeType::kSend)) return;
    if (const uint32_t next = own_.comm_next[graph_.payload[row]]; next != kNoRow) f(next, true);
  }

  const Graph& graph_;
  GraphLanes lanes_;
  RankLanes own_;
  std::vector<uint32_t> sorted_;  // each row after those that it waits for
};

}  // namespace

std::vector<uint32_t> GroupsOfSameRanks(const Matching& matching) {
  std::map<std::vector<int>, uint32_t> first;
  std::vector<uint32_t> of;
  for (uint32_t g = 0; g < matching.groups.size(); ++g) {
    std::vector<int> members = matching.groups[g].members;
    std::sort(members.begin(), members.end());
    of.push_back(first.try_emplace(std::move(members), g).first->second);
  }
  return of;
}

std::vector<bool> SerialGroups(const TraceSet& traces, LanePolicy policy, const Matching& matching) {
  const std::vector<uint32_t> unit_of = GroupsOfSameRanks(matching);
  std::vector<bool> serial(matching.groups.size(), policy != LanePolicy::kUnlimited);
  if (policy != LanePolicy::kRecorded) return serial;  // kSingle has one lane of communication
  // Ranks with one graph whose calls have the same pattern of units and groups share one answer, by unit in
  // the order of first use.
  std::map<std::pair<const Graph*, std::vector<uint32_t>>, std::vector<bool>> known;
  for (size_t r = 0; r < traces.ranks.size(); ++r) {
    const Graph& graph = *traces.ranks[r].graph;
    std::vector<uint32_t> kinds(2 * graph.comm.size(), kNoRow);  // numbers of units, then of groups
    absl::flat_hash_map<uint32_t, uint32_t> number, number_of_group;
    std::vector<uint32_t> units;
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] != NodeType::kCollective) continue;
      const uint32_t payload = graph.payload[row];
      const uint32_t group = matching.calls[matching.slots[r][payload].index].group;
      const auto [at, fresh] = number.try_emplace(unit_of[group], static_cast<uint32_t>(units.size()));
      if (fresh) units.push_back(unit_of[group]);
      kinds[payload] = at->second;
      const auto n = static_cast<uint32_t>(number_of_group.size());
      kinds[graph.comm.size() + payload] = number_of_group.try_emplace(group, n).first->second;
    }
    const auto [answer, fresh] = known.try_emplace({&graph, kinds});
    if (fresh) {
      const Order order(traces.ranks[r], policy, matching);
      for (uint32_t u = 0; u < units.size(); ++u) answer->second.push_back(order.IsChain(kinds, u));
    }
    for (size_t u = 0; u < units.size(); ++u) {
      if (!answer->second[u]) serial[units[u]] = false;
    }
  }
  for (size_t g = 0; g < serial.size(); ++g) serial[g] = serial[unit_of[g]];
  return serial;
}

}  // namespace chakra
