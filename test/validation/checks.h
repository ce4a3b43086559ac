// The figures that the predictions must reach.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/measured.h"
#include "test/validation/predict.h"

namespace chakra::validation {

struct Finding {
  std::string text;  // the figure and the expected value, one line
  bool ok = false;
};

// Bounds on the median of |error|, as shares; 0: none.
struct MedianBounds {
  double large = 0;   // of all rows from 1 MiB up
  double small = 0;   // of all rows below
  double subset = 0;  // of each machine, source and number of ranks, from 1 MiB up
};

std::vector<Finding> CheckMedians(const std::vector<MeasuredRow>& rows, const PredictedColumn& column,
                                  const MedianBounds& bounds);

// Compares the points at which the choices of the preset and of the machine change: to NVLS by size and by
// GPUs, to ring/simple on the wiring of dgx-v100. Errors: a preset that cannot be priced; missing measured
// rows that the comparison needs.
absl::StatusOr<std::vector<Finding>> CheckSwitches(const std::vector<MeasuredRow>& rows,
                                                   const PredictedColumn& column, Machines& machines);

}  // namespace chakra::validation
