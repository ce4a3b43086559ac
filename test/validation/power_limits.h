// Measured power limits of a V100, against the law of a cap.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace chakra::validation {

// A table in Markdown. `holds` becomes false if a row has an error above 6 % in watts or seconds. Errors: no
// profile of a V100.
absl::StatusOr<std::string> PowerLimitTable(bool* holds);

}  // namespace chakra::validation
