// Reads the JSON of `rocprofv3 --output-format json`.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/rocprof/recording.h"
#include "trace/io/byte_source.h"

namespace chakra::rocprof {

// Adds a recording for each process of the file. `text`: the file's content; its memory grows by the padding
// that the parser needs. Errors name the file, the byte or the record, and what was expected: the text is not
// JSON or was cut short; a record has no times; times are outside of a clock's range. Repairs count ends
// before begins ("rocprof_negative_duration"), and names and agents that the file lacks.
absl::Status ReadJson(Buffer* text, const std::string& file, std::vector<Recording>* out);

// Whether a file that begins with `head` is the JSON of rocprofv3.
bool LooksLikeJson(absl::string_view head);

}  // namespace chakra::rocprof
