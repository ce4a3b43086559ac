#include "replay/engine/simulated/collective_counts.h"

#include <algorithm>
#include <string>

#include "replay/collectives/accounting.h"

namespace chakra {

CollectiveCounts::CollectiveCounts(const Matching& matching)
    : matching_(matching), totals_(matching.groups.size()) {
  int ranks = 0;
  for (const GroupInfo& group : matching.groups) {
    for (int member : group.members) ranks = std::max(ranks, member + 1);
    for (const auto* copy : group.copies) {
      for (int member : copy->second) ranks = std::max(ranks, member + 1);
    }
  }
  waited_.resize(static_cast<size_t>(ranks));
  kept_waiting_.resize(static_cast<size_t>(ranks));
}

void CollectiveCounts::CountCall(const CollectiveCall& call, const std::vector<Time>& begin,
                                 Time last_arrival, Time last_end) {
  const std::vector<int>& members = matching_.groups[call.group].members;
  const Time first = *std::min_element(begin.begin(), begin.end());
  CollectiveMetrics& total = Total(call);
  ++total.count;
  total.ranks = static_cast<int>(members.size());
  total.bytes += BufferBytes(call.type, call.bytes, total.ranks);
  total.time += last_end - last_arrival;
  total.wait += last_arrival - first;
  if (last_arrival == first) return;
  // If several members arrived last, the others waited for the first of them in the group's order.
  const auto last = std::find(begin.begin(), begin.end(), last_arrival) - begin.begin();
  AddWaits(members, begin, last_arrival, static_cast<size_t>(last));
  for (const auto* copy : matching_.groups[call.group].copies)
    AddWaits(copy->second, begin, last_arrival, static_cast<size_t>(last));
}

void CollectiveCounts::AddWaits(const std::vector<int>& members, const std::vector<Time>& begin,
                                Time last_arrival, size_t last) {
  Time& kept = kept_waiting_[static_cast<size_t>(members[last])];
  for (size_t m = 0; m < members.size(); ++m) {
    waited_[static_cast<size_t>(members[m])] += last_arrival - begin[m];
    kept += last_arrival - begin[m];
  }
}

void CollectiveCounts::CountChoice(const CollectiveCall& call, const PlannedCall& planned) {
  CollectiveMetrics& total = Total(call);
  const uint64_t bytes = BufferBytes(call.type, call.bytes, total.ranks);
  auto used = std::find_if(total.chosen.begin(), total.chosen.end(),
                           [&](const ChosenAlgorithm& c) { return c.algorithm == planned.algorithm; });
  if (used == total.chosen.end()) {
    used = total.chosen.insert(used, {planned.algorithm, 0, bytes, bytes, planned.why});
  }
  ++used->count;
  used->least_bytes = std::min(used->least_bytes, bytes);
  used->most_bytes = std::max(used->most_bytes, bytes);
  if (total.algorithm.empty()) total.algorithm = planned.algorithm;
}

void CollectiveCounts::AddTo(Metrics* metrics) const {
  for (size_t g = 0; g < totals_.size(); ++g) {
    for (int type = 0; type < kCollectiveTypes; ++type) {
      const CollectiveMetrics& total = totals_[g][static_cast<size_t>(type)];
      if (total.count == 0) continue;
      const std::string kind(Name(static_cast<CollectiveType>(type)));
      metrics->collectives[{kind, matching_.groups[g].name}] = total;
      for (const auto* copy : matching_.groups[g].copies) metrics->collectives[{kind, copy->first}] = total;
    }
  }
  for (size_t r = 0; r < std::min(waited_.size(), metrics->ranks.size()); ++r) {
    metrics->ranks[r].waited += waited_[r];
    metrics->ranks[r].kept_waiting += kept_waiting_[r];
  }
  metrics->flows += flows_;
  metrics->fast_collectives += closed_;
}

}  // namespace chakra
