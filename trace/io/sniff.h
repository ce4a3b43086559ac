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

// A format that no reader takes, told by its first bytes.
struct Signature {
  absl::string_view magic;
  absl::string_view what;    // "a zip archive"
  absl::string_view remedy;  // a command, in which "PATH" stands for the file; "": there is none
};
// The signature that `content` begins with; null: none of those that are known.
const Signature* FindSignature(absl::string_view content);

// A hint for the error about content that is not a trace: "; it looks like a zip archive", or "" if the
// format is unknown.
std::string LooksLike(absl::string_view content);

}  // namespace chakra
