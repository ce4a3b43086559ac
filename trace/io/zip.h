// Zip archives as streams of tar, so that what reads tar archives reads them.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/io/byte_source.h"

namespace chakra {

// True when `head`, the first four bytes of a stream, opens a zip archive that is not empty.
bool LooksLikeZip(absl::string_view head);

// The files of the archive `raw`, in the order of its directory, as a tar archive. Reads all of `raw` into
// memory, for the directory stands at the end. Errors: a directory that is not there or does not fit the
// file, a member that is encrypted, or packed by another method than deflate. Errors of Read(): damage. They
// name `file`, the member and the byte.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenZip(std::unique_ptr<ByteSource> raw, absl::string_view file);

}  // namespace chakra
