// Converts between .et frames and protobuf's text format.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/importer.h"
#include "trace/model/trace.h"

namespace chakra {

// Whether content begins with a block that EtToText() writes. No frame begins like this: its first tag would
// have a wire type that protobuf does not define.
bool LooksLikeTextFormat(absl::string_view content);

// Converts a trace to text format: one `metadata { ... }` or `node { ... }` block for each frame. It has the
// same preconditions and errors as EtToJson() of trace/import/json.
absl::StatusOr<std::string> EtToText(const RankTrace& trace);
// Converts text format to plain .et bytes. Errors (InvalidArgument) name file, line, column and field.
absl::StatusOr<std::string> EtFromText(absl::string_view text, absl::string_view file);

extern const Importer kTextImporter;

}  // namespace chakra
