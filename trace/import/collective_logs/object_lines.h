// Joins the lines of JSON objects in a log that should have one object on each line, but was formatted, as
// `jq` and NCCL's own documentation do.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra::collective_logs {

// Whether the first object has more than one line.
bool GoOverLines(absl::string_view content);

// Returns the same objects with one line each. An object starts on the line where it started before; blank
// lines replace its other lines. `padding` bytes can be read behind the result.
std::string InOneLineEach(absl::string_view content, size_t padding);

}  // namespace chakra::collective_logs
