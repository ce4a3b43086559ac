// Demangles the names of C++ functions.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// Demangles `name` ("_Z...") as c++filt does. Returns "" if `name` is not mangled, is longer than 64 KiB, or
// does not follow the mangling rules.
std::string Demangle(absl::string_view name);

// Like Demangle(), but for recognizing a function, not for showing its name: several functions may get the
// same text. Small floating types (DF16b, DF16_), which not all demanglers know, become float if this
// demangler does not know them. If `name` does not follow the rules, returns only its path: "a::f". Returns
// "" if there is no path either.
std::string DemangleRoughly(absl::string_view name);

}  // namespace chakra
