// What a step of a run emits: of its electricity, and its share of what making the machine emitted.
#pragma once

#include "absl/status/statusor.h"
#include "proto/economics.pb.h"
#include "proto/report.pb.h"
#include "replay/economics/cost.h"
#include "replay/economics/tree.h"

namespace chakra::economics {

// Operational: kWh of the metered run x the grid's intensity, by location and by contracts. Embodied: that of the whole
// machine x the step's time over the machine's years in use (ACT's T / LT), by ACT's equations and by product footprints,
// which differ by several times: both are told. `start`: seconds since 1970, for grids by the hour. `tree` may be null.
// Errors: a device that the tables do not have.
absl::StatusOr<proto::CarbonReport> CarbonOf(const PricedStep& step, const proto::Grid& grid, double start, Tree* tree);

// LLMCarbon (Faiz et al., arXiv 2309.14393): kWh of a training run by hours x devices x watts x PUE, and its tonnes.
double HoursTimesWattsKwh(double devices, double hours, double watts, double pue);

}  // namespace chakra::economics
