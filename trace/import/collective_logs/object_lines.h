// Logs of one JSON object a line that a formatter has laid out over several lines, as `jq` and NCCL's own
// documentation show them.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra::collective_logs {

// Whether the first object goes on behind its first line.
bool GoOverLines(absl::string_view content);

// The same objects, each on the line that it began on, with blank lines in place of its others. `padding`
// bytes can be read behind the result.
std::string InOneLineEach(absl::string_view content, size_t padding);

}  // namespace chakra::collective_logs
