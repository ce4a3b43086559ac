// The files of this folder, embedded in the library.
#pragma once

#include "absl/strings/string_view.h"
#include "trace/base/embedded.h"

namespace chakra::page {

absl::Span<const EmbeddedFile> Embedded();

// The content of an asset by name ("page.css", "vendor/LICENSE.md"); empty if there is none.
inline absl::string_view Asset(absl::string_view name) { return FindEmbedded(Embedded(), name); }

}  // namespace chakra::page
