// Checks fields of a cluster file. Errors: "cluster: FIELD is VALUE; expected ...".
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

absl::Status BadField(absl::string_view field, absl::string_view got, absl::string_view expected);

// A part of a cluster, for error messages. If the part has a label, messages name the label instead of the
// place: "cluster: PLACE.FIELD is VALUE", or "LABEL: FIELD is VALUE".
class Labelled {
 public:
  Labelled(absl::string_view label, absl::string_view place);

  std::string Field(absl::string_view name) const;
  // An error about the whole part; `what` continues the sentence after the part's name.
  absl::Status Error(absl::string_view what) const;
  absl::Status Bad(absl::string_view name, absl::string_view got, absl::string_view expected) const;

 private:
  bool labelled_;
  std::string name_;
};

}  // namespace chakra
