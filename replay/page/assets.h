// The files of this folder, embedded in the library by embed.cmake.
#pragma once

#include "absl/strings/string_view.h"

namespace chakra::page {

// What is in the file of that name ("page.css", "vendor/LICENSE.md"); empty where there is none.
absl::string_view Asset(absl::string_view name);

}  // namespace chakra::page
