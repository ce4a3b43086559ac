// From what devices drew to what the site did: hosts, fans, power supplies, the network, cooling.
#pragma once

#include <array>
#include <cstdint>

#include "replay/energy/amounts.h"
#include "replay/energy/bill.h"
#include "replay/energy/model.h"
#include "trace/base/units.h"

namespace chakra::energy {

// Which of a figure's values.
enum class Bound : uint8_t { kLow, kValue, kHigh };
double At(const proto::Figure& figure, Bound bound);

// Beside the devices, by what draws it.
struct SiteEnergy {
  Femtojoules hosts = 0, fans = 0, supplies = 0, network = 0, cooling = 0;
  Femtojoules sum() const { return hosts + fans + supplies + network + cooling; }
};

// The power of a site is `of_devices` times that of its devices, and `rest`.
struct SitePower {
  double of_devices = 1;
  double rest_watts = 0;
  double Of(Milliwatts devices) const { return of_devices * ToWatts(devices) + rest_watts; }
};

class Site {
 public:
  // `nodes`: those with ranks. `bits`: that crossed ports of switches. All is borrowed.
  Site(const Constants& constants, const Bill& bill, uint32_t nodes, double bits)
      : constants_(constants), bill_(bill), nodes_(nodes), bits_(bits) {}

  // What a run of `time` needs beside `devices`.
  SiteEnergy Energy(Femtojoules devices, Time time, Bound bound = Bound::kValue) const;
  // The network without what follows traffic.
  Milliwatts NetworkPower(Bound bound = Bound::kValue) const;
  // Of one node at its plug, and of all.
  SitePower NodePower() const;
  SitePower AllPower(Time time) const;
  // Of the machines, without the site, with all devices at their most.
  double FullWatts(Bound bound) const;

 private:
  const Constants& constants_;
  const Bill& bill_;
  uint32_t nodes_;
  double bits_;
};

}  // namespace chakra::energy
