// From the energy of devices to that of the site: hosts, fans, power supplies, the network, cooling.
#pragma once

#include <array>
#include <cstdint>

#include "replay/energy/amounts.h"
#include "replay/energy/bill.h"
#include "replay/energy/model.h"
#include "trace/base/units.h"

namespace chakra::energy {

// Selects one of a figure's values.
enum class Bound : uint8_t { kLow, kValue, kHigh };
double At(const proto::Figure& figure, Bound bound);

// Energy in addition to that of the devices, by cause.
struct SiteEnergy {
  Femtojoules hosts = 0, fans = 0, supplies = 0, network = 0, cooling = 0;
  Femtojoules sum() const { return hosts + fans + supplies + network + cooling; }
};

// The power of a site is `of_devices` times that of its devices, plus `rest_watts`.
struct SitePower {
  double of_devices = 1;
  double rest_watts = 0;
  double Of(Milliwatts devices) const { return of_devices * ToWatts(devices) + rest_watts; }
};

class Site {
 public:
  // `nodes`: the number of nodes with ranks. `bits`: bits that crossed ports of switches. Nothing is owned.
  Site(const Constants& constants, const Bill& bill, uint32_t nodes, double bits)
      : constants_(constants), bill_(bill), nodes_(nodes), bits_(bits) {}

  // The energy of a run that lasts `time`, in addition to `devices`.
  SiteEnergy Energy(Femtojoules devices, Time time, Bound bound = Bound::kValue) const;
  // The power of the network without the part that depends on traffic.
  Milliwatts NetworkPower(Bound bound = Bound::kValue) const;
  // The power of one node at its plug, and of the site.
  SitePower NodePower() const;
  SitePower AllPower(Time time) const;
  // The power of the machines, without the site's cooling, with all devices at their maximum.
  double FullWatts(Bound bound) const;

 private:
  const Constants& constants_;
  const Bill& bill_;
  uint32_t nodes_;
  double bits_;
};

}  // namespace chakra::energy
