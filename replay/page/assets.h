// The files of this folder, embedded in the library.
#pragma once

#include "absl/strings/string_view.h"
#include "trace/base/embedded.h"

namespace chakra::page {

absl::Span<const EmbeddedFile> Embedded();

// What is in the file of that name ("page.css", "vendor/LICENSE.md"); empty where there is none.
inline absl::string_view Asset(absl::string_view name) { return FindEmbedded(Embedded(), name); }

}  // namespace chakra::page
