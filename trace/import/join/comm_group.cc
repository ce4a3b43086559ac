#include "trace/import/join/comm_group.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace chakra::pytorch {

bool OwnGroup(const CaptureRank& rank, const CommCall& call, int world_size, std::vector<int>* members) {
  members->clear();
  if (!call.own_group || !call.group.empty() || world_size <= 1) return true;
  std::vector<int> world(static_cast<size_t>(world_size));
  std::iota(world.begin(), world.end(), 0);
  std::set<std::vector<int>> fit = {world};
  const auto add = [&](const Groups& groups) {
    for (const auto& [name, ranks] : groups) {
      if (ranks.size() > 1 && std::find(ranks.begin(), ranks.end(), rank.rank) != ranks.end())
        fit.insert(ranks);
    }
  };
  if (rank.device != nullptr) add(rank.device->groups);
  if (rank.host != nullptr) add(rank.host->groups);
  if (call.group_size > 0)
    std::erase_if(
        fit, [&](const std::vector<int>& g) { return static_cast<int64_t>(g.size()) != call.group_size; });
  if (fit.size() != 1) return false;
  if (*fit.begin() != world) *members = *fit.begin();
  return true;
}

}  // namespace chakra::pytorch
