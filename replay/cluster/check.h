// Checks of a cluster file's fields. Errors: "cluster: FIELD is VALUE; expected ...".
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/units.h"

namespace chakra {

absl::Status BadField(absl::string_view field, absl::string_view got, absl::string_view expected);
// Finite and in [0, limit]; > 0 where required.
absl::Status CheckNumber(absl::string_view field, double v, double limit, bool required);
absl::StatusOr<Bandwidth> CheckBandwidth(absl::string_view field, double gigabytes_per_s, bool required);
absl::StatusOr<Time> CheckNanos(absl::string_view field, double ns);

// A part of a cluster that may have a label, which then stands in its messages:
// "cluster: PLACE.FIELD is VALUE", or "LABEL: FIELD is VALUE".
class Labelled {
 public:
  Labelled(absl::string_view label, absl::string_view place);

  std::string Field(absl::string_view name) const;
  // Of the whole part; `what` goes on from its name.
  absl::Status Error(absl::string_view what) const;
  absl::Status Bad(absl::string_view name, absl::string_view got, absl::string_view expected) const;
  // As CheckNumber() above.
  absl::Status CheckNumber(absl::string_view name, double v, double limit, bool required) const;

 private:
  bool labelled_;
  std::string name_;
};

inline constexpr double kMaxGigabytesPerSecond = 1e9;

}  // namespace chakra
