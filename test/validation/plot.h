// The rows as pictures.
#pragma once

#include <string>
#include <vector>

#include "test/validation/measured.h"
#include "test/validation/predict.h"

namespace chakra::validation {

// An SVG file: for each machine, source and number of ranks a panel of time over
// bytes (both logarithmic), measured as dots and each column as a line, with the
// errors in percent below it. Subsets of fewer than three sizes share a panel of
// their machine and source, one mark a row.
std::string Plot(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns);

}  // namespace chakra::validation
