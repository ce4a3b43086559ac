// What a step of a run costs, owned and rented.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/economics.pb.h"
#include "proto/report.pb.h"
#include "replay/economics/tree.h"
#include "replay/energy/bill.h"
#include "replay/energy/model.h"

namespace chakra::economics {

// A step of a metered run on the machine that was simulated. All is the caller's.
struct PricedStep {
  const energy::Bill& bill;
  const energy::Constants& constants;
  const proto::EnergyReport& energy;
  double seconds = 0;
  double tokens = 0;   // 0: not known
  double samples = 0;  // likewise; of a model of tables
};

// Owned: an hour of the machine costs its capital over lifetime and use (straight line, or an annuity where
// there is interest), its share of staff and site, and the electricity that the step drew. The whole machine
// that was simulated is paid for, devices without a rank too. `tree` may be null. Errors: a device that the
// prices do not have, by field, with the nearest.
absl::StatusOr<proto::CostReport> CostOf(const PricedStep& step, const proto::Prices& prices, Tree* tree);

// Share of a price that a year of ownership costs: 1 / years, or r / (1 - (1 + r)^-years).
double YearlyShare(double years, double interest);

}  // namespace chakra::economics
