#include "trace/generate/share.h"

#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "trace/base/rank_list.h"
#include "trace/generate/layout.h"
#include "trace/generate/stage.h"

namespace chakra::generate {
namespace {

std::vector<std::vector<int>> RanksOfStages(const Layout& layout, size_t stages) {
  std::vector<std::vector<int>> ranks(stages);
  for (int r = 0; r < layout.ranks(); ++r) ranks[static_cast<size_t>(layout.GraphOf(r))].push_back(r);
  return ranks;
}

// Sets the peers that replace the ranks in the owner's trace, by the messages of the stage.
void SetPeers(const StageGraph& stage, const Layout& layout, const std::vector<int>& ranks,
              proto::RankIndex::Graph* graph) {
  const int owner = static_cast<int>(graph->rank());
  std::set<std::pair<PeerKind, int64_t>> seen;
  std::set<int> done;
  for (const StepNode& n : stage.nodes) {
    if (n.type != NodeType::kSend && n.type != NodeType::kRecv) continue;
    if (!seen.emplace(n.peer, n.stage).second) continue;
    const int peer = layout.OtherEnd(n.peer, n.stage, owner);
    if (!done.insert(peer).second) continue;
    std::map<int64_t, std::vector<int>> by_distance;
    for (const int r : ranks) by_distance[int64_t{layout.OtherEnd(n.peer, n.stage, r)} - r].push_back(r);
    proto::RankIndex::PeerPlace* place = graph->add_peer();
    place->set_rank(peer);
    for (const auto& [by, own] : by_distance) {
      proto::RankIndex::PeerPlace::Distance* distance = place->add_own();
      distance->set_ranks(FormatRanks(own));
      distance->set_by(static_cast<int32_t>(by));
    }
  }
}

}  // namespace

std::vector<int> OwnersOf(const StepGraphs& step) {
  const Layout layout(step.plan.split);
  std::vector<int> owners(step.stages.size(), -1);
  for (int r = 0; r < layout.ranks(); ++r) {
    int& owner = owners[static_cast<size_t>(layout.GraphOf(r))];
    if (owner < 0) owner = r;
  }
  return owners;
}

proto::RankIndex IndexOf(const StepGraphs& step, const std::vector<std::string>& files) {
  const Layout layout(step.plan.split);
  const std::vector<std::vector<int>> ranks = RanksOfStages(layout, step.stages.size());
  const std::vector<int> owners = OwnersOf(step);
  proto::RankIndex index;
  index.set_ranks(layout.ranks());
  std::map<GroupKind, std::vector<int>> ranks_of_kind;
  for (size_t s = 0; s < step.stages.size(); ++s) {
    proto::RankIndex::Graph* graph = index.add_graph();
    graph->set_file(files[s]);
    graph->set_rank(owners[s]);
    graph->set_ranks(FormatRanks(ranks[s]));
    for (const GroupKind kind : KindsInOrder(step.stages[s])) {
      proto::RankIndex::GroupPlace* place = graph->add_group();
      place->set_group(layout.NameOf(kind, owners[s]));
      place->set_family(Layout::NameOf(kind));
      std::vector<int>& of_kind = ranks_of_kind[kind];
      of_kind.insert(of_kind.end(), ranks[s].begin(), ranks[s].end());
    }
    SetPeers(step.stages[s], layout, ranks[s], graph);
  }
  for (const auto& [kind, members] : ranks_of_kind) {
    proto::RankIndex::Family* family = index.add_family();
    family->set_name(Layout::NameOf(kind));
    absl::flat_hash_set<int> listed;
    for (const int r : members) {
      if (!listed.insert(layout.Member(kind, r, 0)).second) continue;
      proto::RankIndex::Group* group = family->add_group();
      group->set_name(layout.NameOf(kind, r));
      group->set_ranks(FormatRanks(layout.Members(kind, r)));
    }
  }
  return index;
}

}  // namespace chakra::generate
