// The constants of a run's energy: built-in constants, constants from a file, and the constants of one
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

// The built-in constants if `file` is "", else these with the fields of the file. Errors: those of
// ReadMessageFile(); a range that does not contain its value; a profile without a device, or two profiles of
// one device.
absl::StatusOr<proto::EnergyModel> LoadEnergyModel(const std::string& file);

// The constants of one device.
struct Constants {
  proto::PowerProfile profile;
  proto::NetworkPower network;
  proto::Figure pue;
  proto::Figure site_fixed_share;
  bool assumed = false;  // the device has no complete profile: shares of its rated power are used
  double cap_watts = 0;  // 0: none
};

// The constants of `device`, by its name or another known name (FindDevice()). For what its profile lacks,
// the default profile's shares of the rated power are used; the rated power must be in the model. Errors: a
// device of unknown rated power; the error lists the profiles.
absl::StatusOr<Constants> ConstantsOf(const proto::EnergyModel& model, const std::string& device);

// Sets the cap: "500W", "device=500W" or "rack=40kW". From a rack's cap the hosts are subtracted, and each
// device gets an equal part. Errors: malformed text; a cap that no clock can hold (the error has the
// minimum).
absl::Status SetCap(absl::string_view text, Constants* constants);

// The levels of a device; `most` is the cap if there is one.
DeviceLevels LevelsOf(const Constants& constants);

// The factor on times at the clock where dynamic power is `share`, in (0, 1], of that without a cap. The
// curve is documented at FrequencyCurve. The clock is at least kLeastClock.
double SlowdownAt(const proto::FrequencyCurve& curve, double share);
inline constexpr double kLeastClock = 0.1;
// The share of dynamic power at kLeastClock.
double LeastShare(const proto::FrequencyCurve& curve);

// The figures that a run used, with their names, for its report.
struct NamedFigure {
  std::string name;
  const proto::Figure* figure;
};
std::vector<NamedFigure> FiguresOf(const Constants& constants);

// The minimum and maximum of a figure; both are the value if the figure has no range.
double Low(const proto::Figure& f);
double High(const proto::Figure& f);

}  // namespace chakra::energy
