// Reads the JSON of `rocprofv3 --output-format json`.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/rocprof/recording.h"
#include "trace/io/byte_source.h"

namespace chakra::rocprof {

// Adds a recording for each process of the file. `text` is the file's content; its memory grows by the
// padding that the parser wants. Errors name the file, the byte or the record, and what was expected: text
// that is no JSON or was cut short; a record without times; times outside of a clock's range. Counted
// instead: ends before begins ("rocprof_negative_duration"), names and agents that are not in the file.
absl::Status ReadJson(Buffer* text, const std::string& file, std::vector<Recording>* out);

// Whether content begins like such a file.
bool LooksLikeJson(absl::string_view head);

}  // namespace chakra::rocprof
