// The error for valid settings for which no step can be generated yet.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace chakra::generate {

// `what`: the settings, by the names of their fields; `known`: the nearest setting that can be generated.
inline absl::Status NotYet(absl::string_view what, absl::string_view known) {
  return absl::UnimplementedError(absl::StrCat(what, " is not generated yet; known: ", known));
}

}  // namespace chakra::generate
