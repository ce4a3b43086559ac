// ApartFabrics of FluidFabric: isolated calls run on another FluidFabric and are counted here.
#include <algorithm>
#include <memory>

#include "backends/fluid/fluid.h"

namespace chakra {

std::unique_ptr<Fabric> FluidFabric::MakeApart() const {
  if (!changes_.empty() || link_series_) return nullptr;
  return std::make_unique<FluidFabric>(cost_.topology(), all_options_);
}

bool FluidFabric::LinksBetween(int src, int dst, std::vector<Hop>* links) {
  if (cost_.router() == nullptr) {
    cost_.topology().Path(src, dst, links);
    return true;
  }
  // The route of a flow with tag 0. Its links outside of networks are the same for all flows.
  const Route& route = cost_.router()->Find(src, dst, 0);
  bool fixed = route.found;
  for (const RouteHop& h : route.hops) {
    links->push_back(h.hop);
    fixed = fixed && cost_.topology().dimensions()[h.hop.dimension].network == nullptr;
  }
  return fixed;
}

std::vector<double> FluidFabric::Peaks() const {
  std::vector<double> peaks(link_of_.size());
  for (size_t l = 0; l < link_of_.size(); ++l) {
    if (link_of_[l] != kNone) peaks[l] = log_.peak(link_of_[l]);
  }
  return peaks;
}

void FluidFabric::CountApart(int src, int dst, uint64_t bytes, uint64_t wire_bytes, uint64_t times,
                             int like_src, int like_dst, const std::vector<double>& peaks) {
  if (src == dst) return;
  cost_.Account(src, dst, bytes, times);
  hops_.clear();
  cost_.topology().Path(src, dst, &hops_);
  like_hops_.clear();
  if (src != like_src || dst != like_dst) cost_.topology().Path(like_src, like_dst, &like_hops_);
  const std::vector<Hop>& like = like_hops_.empty() ? hops_ : like_hops_;
  for (size_t h = 0; h < hops_.size(); ++h) {
    const uint32_t link = LinkOf(hops_[h]);
    links_[link].flows += times;
    links_[link].bytes += static_cast<double>(wire_bytes) * static_cast<double>(times);
    log_.Peak(link, peaks[like[h].link]);
  }
}

}  // namespace chakra
