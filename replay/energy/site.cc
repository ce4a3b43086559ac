#include "replay/energy/site.h"

#include <algorithm>
#include <cmath>

namespace chakra::energy {
namespace {

// A share of an energy; shares are rounded to a millionth, so that sums are the same on every machine.
Femtojoules ShareOf(Femtojoules energy, double share) { return energy * std::llround(share * 1e6) / 1000000; }

}  // namespace

double At(const proto::Figure& figure, Bound bound) {
  return bound == Bound::kLow ? Low(figure) : bound == Bound::kHigh ? High(figure) : figure.value();
}

Milliwatts Site::NetworkPower(Bound bound) const {
  const proto::NetworkPower& network = constants_.network;
  double watts = bill_.switch_gbits_per_s() * At(network.switch_watts_per_gbps(), bound);
  for (const LinkBill& links : bill_.links) {
    const int64_t copper = network.copper_first_hop() ? std::min(links.first_hop, links.switch_ports) : 0;
    watts += links.gbits_per_s * static_cast<double>(links.switch_ports - copper) *
             At(network.transceiver_watts_per_gbps(), bound);
  }
  return ToMilliwatts(watts);
}

SiteEnergy Site::Energy(Femtojoules devices, Time time, Bound bound) const {
  const proto::NodePower& node = constants_.profile.node();
  SiteEnergy out;
  out.hosts =
      EnergyOf(ToMilliwatts(At(node.host_watts(), bound)) * static_cast<int64_t>(nodes_), time.picos());
  out.fans = ShareOf(devices + out.hosts, At(node.fans_share(), bound));
  out.supplies = ShareOf(devices + out.hosts + out.fans, At(node.supply_loss_share(), bound));
  const double traffic = bits_ * At(constants_.network.switch_pj_per_bit(), bound) * 1e3;  // fJ
  out.network = EnergyOf(NetworkPower(bound), time.picos()) + static_cast<Femtojoules>(traffic);
  const Femtojoules machines = devices + out.hosts + out.fans + out.supplies + out.network;
  const double over = At(constants_.pue, bound) - 1, fixed = At(constants_.site_fixed_share, bound);
  out.cooling = ShareOf(machines, over * (1 - fixed));
  if (fixed > 0) out.cooling += EnergyOf(ToMilliwatts(over * fixed * FullWatts(bound)), time.picos());
  return out;
}

double Site::FullWatts(Bound bound) const {
  const proto::NodePower& node = constants_.profile.node();
  const double plug = (1 + At(node.fans_share(), bound)) * (1 + At(node.supply_loss_share(), bound));
  const double devices = node.devices() * constants_.profile.power().most_watts().value();
  return nodes_ * (devices + At(node.host_watts(), bound)) * plug + ToWatts(NetworkPower(bound));
}

SitePower Site::NodePower() const {
  const proto::NodePower& node = constants_.profile.node();
  SitePower out;
  out.of_devices = (1 + node.fans_share().value()) * (1 + node.supply_loss_share().value());
  out.rest_watts = node.host_watts().value() * out.of_devices;
  return out;
}

SitePower Site::AllPower(Time time) const {
  SitePower out = NodePower();
  const double seconds = time.seconds();
  double network = ToWatts(NetworkPower());
  if (seconds > 0) network += bits_ * constants_.network.switch_pj_per_bit().value() * 1e-12 / seconds;
  const double over = constants_.pue.value() - 1, fixed = constants_.site_fixed_share.value();
  const double by_load = 1 + over * (1 - fixed);
  out.rest_watts = (out.rest_watts * nodes_ + network) * by_load + over * fixed * FullWatts(Bound::kValue);
  out.of_devices *= by_load;
  return out;
}

}  // namespace chakra::energy
