// Tells the format of a file from its first bytes.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// True for JSON text; false for a first frame whose length happens to be 0x7b or 0x5b ('{' or '[').
bool LooksLikeJson(absl::string_view content);

// What macOS writes beside a file, as "._NAME", on disks and in archives that
// have no room for its attributes. No trace begins so: its second frame would
// have a tag with a wire type that protobuf does not define.
bool LooksLikeAppleDouble(absl::string_view content);

// A hint for the error about content that is not a trace: "; it looks like a zip archive", or "" if the
// format is unknown.
std::string LooksLike(absl::string_view content);

}  // namespace chakra
