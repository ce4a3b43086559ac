// The time of an update by an optimizer of whole matrices (Muon, SOAP).
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "replay/plan/prices.h"
#include "trace/generate/optimizer/parameters.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// In picoseconds. `host`: of the thread that launches the work, in the same time.
struct MatrixTimes {
  double device = 0, host = 0;
};

// Runs the work of generate::DescribeUpdate() in the order of generate::AddUpdate(): exchanges of batches
// overlap with kernels, everything else is one after the other. `all`: generate::ParametersOf() a stage.
// Errors: those of prices.
absl::StatusOr<MatrixTimes> TimeOfUpdate(const generate::StepPlan& step,
                                         const std::vector<generate::Parameter>& all, Prices* prices);

}  // namespace chakra::planning
