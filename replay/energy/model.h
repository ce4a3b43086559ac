// The constants of a run's energy: what is built in, what a file says instead, and what they are for one
// device.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/energy.pb.h"
#include "replay/energy/meter.h"

namespace chakra::energy {

// The built-in constants: model.txtpb, and the `energy` of known devices.
const proto::EnergyModel& BuiltInModel();

// "": what is built in; else a file whose fields replace those. Errors: ReadMessageFile()'s; a range that
// does not hold its value; a profile without device or of a device that is there twice.
absl::StatusOr<proto::EnergyModel> LoadEnergyModel(const std::string& file);

// The constants of one device.
struct Constants {
  proto::PowerProfile profile;
  proto::NetworkPower network;
  proto::Figure pue;
  proto::Figure site_fixed_share;
  bool assumed = false;  // the device has no profile: those of a device of its rated power stand in
  double cap_watts = 0;  // 0: none
};

// The profile of `device`, by its name or another that it goes by (FindDevice()). A device without a profile
// takes the shares of rated power of the default profile; its rated power must then be in the model. Errors:
// a device whose rated power nobody gave, with the profiles that there are.
absl::StatusOr<Constants> ConstantsOf(const proto::EnergyModel& model, const std::string& device);

// Sets the cap: "500W", "device=500W" or "rack=40kW", of which each device gets an equal part after the hosts
// of its rack. Errors: no such text; a cap that no clock can hold, with the least that one can.
absl::Status SetCap(absl::string_view text, Constants* constants);

// In milliwatts; `most` is the cap where there is one.
DeviceLevels LevelsOf(const Constants& constants);

// A clock under which dynamic power is `share` of what it is without a cap, (0, 1]: how much longer things
// take. FrequencyCurve has the law. The clock is at least kLeastClock.
double SlowdownAt(const proto::FrequencyCurve& curve, double share);
inline constexpr double kLeastClock = 0.1;
// The least share of dynamic power: at kLeastClock.
double LeastShare(const proto::FrequencyCurve& curve);

// The figures that a run used, for its report: each with its name.
struct NamedFigure {
  std::string name;
  const proto::Figure* figure;
};
std::vector<NamedFigure> FiguresOf(const Constants& constants);

// The least and the largest value; both the value itself where no range is given.
double Low(const proto::Figure& f);
double High(const proto::Figure& f);

}  // namespace chakra::energy
