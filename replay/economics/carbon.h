// Emissions of a step of a run: of its electricity, and its share of the emissions of manufacturing the
// machine.
#pragma once

#include "absl/status/statusor.h"
#include "proto/economics.pb.h"
#include "proto/report.pb.h"
#include "replay/economics/cost.h"
#include "replay/economics/tree.h"

namespace chakra::economics {

// Operational: kWh of the metered run x the grid's intensity, location-based and market-based (by contracts).
// Embodied: the kg of the whole machine x the step's time / the machine's years in use (ACT's T / LT), by
// ACT's equations and by product footprints. The two differ by several times, so both are reported. `start`:
// seconds since 1970, for grids by the hour. `tree` may be null. Errors: a device that the tables do not
// have.
absl::StatusOr<proto::CarbonReport> CarbonOf(const PricedStep& step, const proto::Grid& grid, double start, Tree* tree);

// LLMCarbon (Faiz et al., arXiv 2309.14393): the kWh of a training run are hours x devices x watts x PUE.
double HoursTimesWattsKwh(double devices, double hours, double watts, double pue);

}  // namespace chakra::economics
