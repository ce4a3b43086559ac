// The cost of a step of a run, on an owned and on a rented machine.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/economics.pb.h"
#include "proto/report.pb.h"
#include "replay/economics/tree.h"
#include "replay/energy/bill.h"
#include "replay/energy/model.h"

namespace chakra::economics {

// A step of a metered run on the simulated machine. Nothing is owned.
struct PricedStep {
  const energy::Bill& bill;
  const energy::Constants& constants;
  const proto::EnergyReport& energy;
  double seconds = 0;
  double tokens = 0;   // 0: unknown
  double samples = 0;  // of a recommendation model; 0: unknown
};

// Owned: an hour of the machine costs its capital over lifetime and use (straight line, or an annuity if
// there is interest), its share of staff and site, and the electricity of the step. The cost includes the
// whole simulated machine, also devices without a rank. `tree` may be null. Errors: a device without a price;
// the error names the field and the nearest device.
absl::StatusOr<proto::CostReport> CostOf(const PricedStep& step, const proto::Prices& prices, Tree* tree);

// The share of a price that a year of ownership costs: 1 / years, or r / (1 - (1 + r)^-years).
double YearlyShare(double years, double interest);

}  // namespace chakra::economics
