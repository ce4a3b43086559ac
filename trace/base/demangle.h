// Names of C++ functions as compilers mangle them.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// A mangled name ("_Z...") as c++filt writes it. Floating types of few bits (DF16b, DF16_), which not all
// demanglers know, are written as float where this one does not. Of a name that no rule fits, the path alone:
// "a::f". "": `name` is not mangled, is longer than 64 KiB, or tells no path.
std::string Demangle(absl::string_view name);

}  // namespace chakra
