// What a file's first bytes say that it is.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// JSON text, rather than a first frame whose length happens to be 0x7b or 0x5b.
bool LooksLikeJson(absl::string_view content);

// What macOS writes beside a file, as "._NAME", on disks and in archives that
// have no room for its attributes. No trace begins so: its second frame would
// have a tag with a wire type that protobuf does not define.
bool LooksLikeAppleDouble(absl::string_view content);

// For the error of a content that is no trace: "; it looks like a zip archive",
// or "" when nothing is known of it.
std::string LooksLike(absl::string_view content);

}  // namespace chakra
