// A plot of the rows.
#pragma once

#include <string>
#include <vector>

#include "test/validation/measured.h"
#include "test/validation/predict.h"

namespace chakra::validation {

// An SVG file. Each machine, source and number of ranks has a panel of time over bytes (both logarithmic):
// measurements are dots, each column is a line, and the errors in percent are below. Subsets of fewer than
// three sizes share a panel of their machine and source, with one mark for each row.
std::string Plot(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns);

}  // namespace chakra::validation
