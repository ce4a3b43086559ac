// Checks of a cluster file's fields. Errors: "cluster: FIELD is VALUE; expected ...".
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/units.h"

namespace chakra {

absl::Status BadField(absl::string_view field, absl::string_view got, absl::string_view expected);
// Finite and in [0, limit]; > 0 where required.
absl::Status CheckNumber(absl::string_view field, double v, double limit, bool required);
absl::StatusOr<Bandwidth> CheckBandwidth(absl::string_view field, double gigabytes_per_s, bool required);
absl::StatusOr<Time> CheckNanos(absl::string_view field, double ns);

inline constexpr double kMaxGigabytesPerSecond = 1e9;

}  // namespace chakra
