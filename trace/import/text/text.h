// Between .et frames and protobuf's text format.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/importer.h"
#include "trace/model/trace.h"

namespace chakra {

// The blocks that EtToText() writes. No frame begins so: its first tag would
// have a wire type that protobuf does not define.
bool LooksLikeTextFormat(absl::string_view content);

// Text format: one `metadata { ... }` or `node { ... }` block for each frame.
// Same needs and errors as EtToJson() of trace/import/json.
absl::StatusOr<std::string> EtToText(const RankTrace& trace);
// The inverse, as plain .et bytes. Errors (InvalidArgument) name file, line,
// column and field.
absl::StatusOr<std::string> EtFromText(absl::string_view text, absl::string_view file);

extern const Importer kTextImporter;

}  // namespace chakra
