// Results for other programs.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/sweep/results.h"

namespace chakra::sweep {

// CSV with the columns point, id, the axes, the metrics, error; nothing where a point has no such metric.
// With `wall`, wall_s follows, which no two runs have the same.
std::string ToCsv(const Results& results, bool wall);

// One JSON object a line: {"point":0,"id":"...","axes":{...},"metrics":{...},"error":"...","command":"..."};
// numbers of axes are numbers; error only where it failed.
absl::StatusOr<std::string> ToJsonLines(const Results& results, bool wall);

// An SQLite database at `path`, which appears when it is complete. Tables: `point` with the columns of the
// CSV and command, a row a point (texts and numbers as such); `sweep` with name, description, source,
// version, spec.
absl::Status WriteSqlite(const Results& results, bool wall, const std::string& path);

// `chakra-replay replay ...` of a point.
absl::StatusOr<std::string> CommandOf(const Space& space, const Place& place);

}  // namespace chakra::sweep
