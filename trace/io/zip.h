// Reads a zip archive as a tar stream, so that the readers of tar archives can read it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/io/byte_source.h"

namespace chakra {

// Whether `head`, the first four bytes of a stream, begins a zip archive that is not empty.
bool LooksLikeZip(absl::string_view head);

// Returns the files of the archive `raw`, in the order of its directory, as a tar archive. Reads all of `raw`
// into memory, because the directory is at the end. Errors: a directory that is missing or does not fit the
// file; a member that is encrypted or has another compression method than deflate. Errors of Read(): damage.
// All errors give `file` and the byte, those of a member also its name.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenZip(std::unique_ptr<ByteSource> raw, absl::string_view file);

}  // namespace chakra
