// Checks of a cluster file's fields. Errors: "cluster: FIELD is VALUE; expected ...".
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

absl::Status BadField(absl::string_view field, absl::string_view got, absl::string_view expected);

// A part of a cluster that may have a label, which then stands in its messages:
// "cluster: PLACE.FIELD is VALUE", or "LABEL: FIELD is VALUE".
class Labelled {
 public:
  Labelled(absl::string_view label, absl::string_view place);

  std::string Field(absl::string_view name) const;
  // Of the whole part; `what` goes on from its name.
  absl::Status Error(absl::string_view what) const;
  absl::Status Bad(absl::string_view name, absl::string_view got, absl::string_view expected) const;

 private:
  bool labelled_;
  std::string name_;
};

}  // namespace chakra
