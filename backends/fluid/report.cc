// FluidFabric's report on links.
#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/fluid/fluid.h"

namespace chakra {

LinkUses FluidFabric::Links(size_t most) const {
  LinkUses uses;
  const Topology& topology = cost_.topology();
  std::vector<std::pair<double, uint32_t>> by_load;
  for (uint32_t i = 0; i < links_.size(); ++i) {
    if (links_[i].flows == 0) continue;
    ++uses.links;
    by_load.push_back({-links_[i].bytes / links_[i].capacity, i});
  }
  std::sort(by_load.begin(), by_load.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : links_[a.second].hop.link < links_[b.second].hop.link;
  });
  if (by_load.size() > most) by_load.resize(most);
  LinkLog log = log_;
  log.Finish(now_);
  if (link_series_) uses.bucket = log.bucket();
  for (const auto& [load, i] : by_load) {
    const LinkRecord& r = links_[i];
    const LinkClass& c = topology.link_classes()[r.hop.link_class];
    LinkUse use;
    use.link = r.hop.link;
    use.name = topology.LinkName(r.hop.link);
    use.link_class = c.name;
    use.dimension = r.hop.dimension;
    use.bandwidth = c.bandwidth;
    use.bytes = static_cast<uint64_t>(std::llround(r.bytes));
    use.flows = r.flows;
    use.peak = log.peak(i) / r.capacity;
    const double full = static_cast<double>(log.bucket().picos()) * r.capacity;
    for (const double bytes : log.Series(i)) use.series.push_back(static_cast<float>(bytes / full));
    uses.busiest.push_back(std::move(use));
  }
  return uses;
}

}  // namespace chakra
