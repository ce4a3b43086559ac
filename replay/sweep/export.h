// Exports results for other programs.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/sweep/results.h"

namespace chakra::sweep {

// CSV with the columns point, id, the axes, the metrics, error. A metric that a point lacks is empty. With
// `wall`, there is also a column wall_s, which differs between runs.
std::string ToCsv(const Results& results, bool wall);

// One JSON object on each line:
// {"point":0,"id":"...","axes":{...},"metrics":{...},"error":"...","command":"..."}. Values of axes that are
// numbers are JSON numbers. `error` is there only if the point failed.
absl::StatusOr<std::string> ToJsonLines(const Results& results, bool wall);

// Writes an SQLite database to `path`, which appears when it is complete. The table `point` has a row for
// each point, with the columns of the CSV and command; texts and numbers keep their types. The table `sweep`
// has name, description, source, version, spec.
absl::Status WriteSqlite(const Results& results, bool wall, const std::string& path);

// The command `chakra-replay replay ...` that runs a point.
absl::StatusOr<std::string> CommandOf(const Space& space, const Place& place);

}  // namespace chakra::sweep
