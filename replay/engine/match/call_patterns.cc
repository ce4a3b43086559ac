#include "replay/engine/match/call_patterns.h"

#include <algorithm>
#include <utility>

#include "replay/collectives/registry.h"

namespace chakra {
namespace {

bool SameColumns(const RankTrace& a, const RankTrace& b) {
  const Graph &x = *a.graph, &y = *b.graph;
  return x.type.Shares(y.type) && x.comm.Shares(y.comm) && x.payload.Shares(y.payload) &&
         x.order.Shares(y.order) && a.peers.Shares(b.peers) && x.name.Shares(y.name) &&
         x.strings == y.strings && x.start.empty() == y.start.empty();
}

}  // namespace

std::unique_ptr<CallPattern> CallPatterns::CallsOf(const RankTrace& trace) {
  const Graph& graph = *trace.graph;
  auto calls = std::make_unique<CallPattern>();
  absl::flat_hash_map<uint32_t, uint32_t> use;  // by index into RankTrace::group_names
  std::vector<uint32_t> use_of(graph.comm.size());
  for (const uint32_t row : graph.order) {
    if (graph.type[row] < NodeType::kSend) continue;
    if (graph.type[row] != NodeType::kCollective) return nullptr;
    const uint32_t payload = graph.payload[row];
    const uint8_t type = graph.comm[payload].type;
    if (type >= kCollectiveTypes || IsRooted(static_cast<CollectiveType>(type))) return nullptr;
    const auto [at, fresh] =
        use.try_emplace(trace.peers[payload].group, static_cast<uint32_t>(calls->uses.size()));
    if (fresh) calls->uses.push_back({row, 0});
    ++calls->uses[at->second].count;
    use_of[payload] = at->second;
  }
  calls->use_of = std::move(use_of);
  return calls;
}

CallPattern* CallPatterns::Find(const RankTrace& trace) {
  const Graph& graph = *trace.graph;
  std::vector<Known>& some = known_[{graph.type.data(), graph.comm.data(), trace.peers.data()}];
  auto known =
      std::find_if(some.begin(), some.end(), [&](const Known& k) { return SameColumns(*k.like, trace); });
  if (known == some.end()) known = some.insert(known, Known{&trace, CallsOf(trace)});
  CallPattern* calls = known->calls.get();
  if (calls == nullptr) return nullptr;
  for (const CallPattern::Use& use : calls->uses) {
    if (trace.group_names[trace.peers[graph.payload[use.first_row]].group].empty()) return nullptr;
  }
  return calls;
}

bool PatternGroups::Has(const CallPattern& calls, size_t use, uint32_t group) const {
  const auto known = of_group_.find(group);
  return known != of_group_.end() && known->second.calls == &calls && known->second.use == use;
}

std::optional<size_t> PatternGroups::OneMissing(const CallPattern& calls, const std::vector<uint32_t>& groups,
                                                uint32_t* like) const {
  std::optional<size_t> missing;
  for (size_t u = 0; u < groups.size(); ++u) {
    if (Has(calls, u, groups[u])) continue;
    if (missing.has_value() || of_group_.contains(groups[u])) return std::nullopt;
    missing = u;
  }
  if (!missing.has_value()) return std::nullopt;
  const auto first = first_.find({&calls, *missing});
  if (first == first_.end() || !Has(calls, *missing, first->second)) return std::nullopt;
  *like = first->second;
  return missing;
}

bool PatternGroups::Repeat(const CallPattern& calls, const std::vector<uint32_t>& groups) {
  for (size_t u = 0; u < groups.size(); ++u) {
    if (!Has(calls, u, groups[u])) return false;
  }
  for (const uint32_t g : groups) ++of_group_[g].repeats;
  return true;
}

void PatternGroups::Join(const CallPattern& calls, const std::vector<uint32_t>& groups, size_t missing) {
  for (size_t u = 0; u < groups.size(); ++u) {
    if (u == missing) {
      of_group_[groups[u]] = {&calls, u, calls.uses[u].count, 0};
    } else {
      ++of_group_[groups[u]].repeats;
    }
  }
}

void PatternGroups::Matched(const CallPattern* calls, const std::vector<uint32_t>& groups,
                            const std::vector<size_t>& before) {
  for (size_t u = 0; u < groups.size(); ++u) {
    const auto [known, fresh] = of_group_.try_emplace(groups[u]);
    Group& group = known->second;
    if (fresh && calls != nullptr && before[u] == 0) {
      group.calls = calls;
      group.use = u;
      group.count = calls->uses[u].count;
      first_.try_emplace({calls, u}, groups[u]);
    } else if (group.calls != calls || group.use != u) {
      group.calls = nullptr;
    }
  }
}

}  // namespace chakra
