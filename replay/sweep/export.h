// Exports results for other programs.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/sweep/results.h"

namespace chakra::sweep {

// CSV with the columns point, id, the axes, the metrics, error; a metric that a point lacks is empty. With
// `wall`, wall_s follows, which differs between runs.
std::string ToCsv(const Results& results, bool wall);

// One JSON object on each line:
// {"point":0,"id":"...","axes":{...},"metrics":{...},"error":"...","command":"..."}; numbers of axes are
// numbers; `error` only if the point failed.
absl::StatusOr<std::string> ToJsonLines(const Results& results, bool wall);

// An SQLite database at `path`, which appears when it is complete. Tables: `point` with the columns of the
// CSV and command, a row for each point (with types of texts and numbers); `sweep` with name, description,
// source, version, spec.
absl::Status WriteSqlite(const Results& results, bool wall, const std::string& path);

// `chakra-replay replay ...` of a point.
absl::StatusOr<std::string> CommandOf(const Space& space, const Place& place);

}  // namespace chakra::sweep
