// Power limits of a V100, as measured, against the law of a cap.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace chakra::validation {

// A table in Markdown. `holds` becomes false where a row is more than 6 % off in watts or seconds. Errors: no
// profile of a V100.
absl::StatusOr<std::string> PowerLimitTable(bool* holds);

}  // namespace chakra::validation
