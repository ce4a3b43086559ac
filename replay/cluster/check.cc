#include "replay/cluster/check.h"

#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

// `field` includes its prefix.
absl::Status Wrong(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", got, "; expected ", expected));
}

}  // namespace

absl::Status BadField(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return Wrong(absl::StrCat("cluster: ", field), got, expected);
}

Labelled::Labelled(absl::string_view label, absl::string_view place)
    : labelled_(!label.empty()), name_(labelled_ ? std::string(label) : absl::StrCat("cluster: ", place)) {}

std::string Labelled::Field(absl::string_view name) const {
  return absl::StrCat(name_, labelled_ ? ": " : ".", name);
}

absl::Status Labelled::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(name_, labelled_ ? ": " : " ", what));
}

absl::Status Labelled::Bad(absl::string_view name, absl::string_view got, absl::string_view expected) const {
  return Wrong(Field(name), got, expected);
}

}  // namespace chakra
