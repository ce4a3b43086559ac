// Names of C++ functions as compilers mangle them.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// A mangled name ("_Z...") as c++filt writes it. "": `name` is not mangled, is longer than 64 KiB, or no rule
// fits it.
std::string Demangle(absl::string_view name);

// The same, to recognize a function rather than to name it: floating types of few bits (DF16b, DF16_), which
// not all demanglers know, become float where this one does not, and of a name that no rule fits the path
// alone is left: "a::f". So several functions may get one text. "": there is not even a path.
std::string DemangleRoughly(absl::string_view name);

}  // namespace chakra
