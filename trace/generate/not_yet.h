// The error of settings that are sound, but that no step can be generated for.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace chakra::generate {

// `what`: the settings, by the names of their fields; `known`: the nearest that is generated.
inline absl::Status NotYet(absl::string_view what, absl::string_view known) {
  return absl::UnimplementedError(absl::StrCat(what, " is not generated yet; known: ", known));
}

}  // namespace chakra::generate
