// Reads PyTorch's execution traces (of the host), schemas 1.0.1 to 1.1.1. The reader uses the fields that the
// file has, not its version.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// `content` is plain JSON (already unpacked). A file that was cut short (by a killed job) is read up to its
// last whole node, with a repair "truncated_host_trace". Errors name the file, the node (id and name), the
// field and the byte, and say what was expected.
//
// Other repairs, with their counts: "unknown_schema", "missing_parent" (the id stays as written), "bare_nan",
// "cut_arguments" (more than 64 KiB of one list), "unknown_collective", "bad_splits", "bad_process_groups",
// "truncated_process_groups", "changed_process_group", "too_many_group_members".
absl::StatusOr<HostTrace> ReadHostTrace(absl::string_view content, absl::string_view file);

// Whether JSON text begins like a host trace (has "nodes" and "schema").
bool LooksLikeHostTrace(absl::string_view head);

}  // namespace chakra::pytorch
