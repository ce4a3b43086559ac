// Recognizes the format of a file by its first bytes.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// Whether `content` is JSON text. False for a binary trace whose first frame has the length 0x7b or 0x5b ('{'
// or '[').
bool LooksLikeJson(absl::string_view content);

// Whether `content` is an AppleDouble file: macOS writes one as "._NAME" next to NAME on disks and in
// archives that cannot hold its attributes. No trace begins like that: its second frame would have a tag with
// a wire type that protobuf does not define.
bool LooksLikeAppleDouble(absl::string_view content);

// The first bytes of a format that no reader supports.
struct Signature {
  absl::string_view magic;
  absl::string_view what;    // "a zip archive"
  absl::string_view remedy;  // a command, in which "PATH" is to be replaced by the file; "": there is none
};
// Returns the signature at the beginning of `content`, or null if there is no known one.
const Signature* FindSignature(absl::string_view content);

// Returns a hint for the error about content that is not a trace: "; it looks like a zip archive", or "" if
// the format is unknown.
std::string LooksLike(absl::string_view content);

}  // namespace chakra
