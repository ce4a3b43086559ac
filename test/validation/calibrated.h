// Predictions after `calibrate` on a third of a machine's sizes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

// For each machine and source with at least six sizes of the library's own choice: fits the preset to the
// sizes whose place among them is `third` modulo three, and predicts the other sizes.
absl::StatusOr<PredictedColumn> CalibratedColumn(const std::vector<MeasuredRow>& rows, size_t third);

// Checks medians of |error| on the sizes that were not fitted, over all rows and by machine and source, for
// each third.
absl::StatusOr<std::vector<Finding>> CheckCalibrated(const std::vector<MeasuredRow>& rows);

}  // namespace chakra::validation
