// The background flows of FluidFabric: they are simulated elsewhere and share its links.
#include <algorithm>

#include "backends/fluid/fluid.h"

namespace chakra {

uint32_t FluidFabric::AddBackground(const std::vector<RouteHop>& hops, int service_class, Bandwidth limit) {
  if (clocks_ != nullptr) Unclock();
  for (const RouteHop& h : hops) Join(LinkOf(h.hop));
  path_links_.clear();
  for (const RouteHop& h : hops) path_links_.push_back({LinkOf(h.hop), h.share});
  if (limit.bytes_per_second() > 0) {
    const uint32_t own = TakeOwnLink(static_cast<double>(limit.bytes_per_second()) * 1e-12);
    path_links_.push_back({own, 1});
  }
  const ServiceClass c = options_.ClassOf(service_class);
  const uint32_t background = network_.AddFlow(path_links_, c.weight, c.priority);
  if (background >= transfer_of_.size()) transfer_of_.resize(background + 1, kNone);
  transfer_of_[background] = kNone;
  for (const FluidHop& h : path_links_) {
    if (!links_[h.link].own) background_on_[h.link].push_back({background, h.share});
  }
  return background;
}

void FluidFabric::RemoveBackground(uint32_t background) {
  network_.ForEachHop(background, [&](uint32_t link, double) {
    if (links_[link].own) return own_links_[links_[link].capacity].push_back(link);
    const auto it = background_on_.find(link);
    std::vector<BackgroundShare>& on = it->second;
    on.erase(std::find_if(on.begin(), on.end(),
                          [&](const BackgroundShare& g) { return g.background == background; }));
    if (on.empty()) background_on_.erase(it);
  });
  network_.RemoveFlow(background);
}

double FluidFabric::BackgroundOn(uint32_t link) const {
  const auto it = background_on_.find(link);
  if (it == background_on_.end()) return 0;
  double rate = 0;
  for (const BackgroundShare& g : it->second) rate += network_.rate(g.background) * g.share;
  return rate;
}

double FluidFabric::Left(const Hop& hop) {
  constexpr double kNothing = 1e-9;  // share of the bandwidth that may be left by rounding
  const uint32_t link = LinkOf(hop);
  const double taken = links_[link].taken / network_.capacity(link);
  return taken > kNothing ? std::max(0.0, 1 - taken) : 1;
}

void FluidFabric::TakeChanged(std::vector<uint32_t>* links) {
  links->clear();
  for (const uint32_t link : told_links_) {
    links_[link].told = false;
    links->push_back(links_[link].hop.link);
  }
  told_links_.clear();
}

const Route* FluidFabric::RouteOf(const Flow& flow) {
  return cost_.router() == nullptr ? nullptr : &cost_.router()->Find(flow.src, flow.dst, flow.tag);
}

}  // namespace chakra
