// The results of a sweep as a page to send around.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "replay/sweep/results.h"

namespace chakra::sweep {

struct PageOptions {
  std::string where;  // only points for which that is true; "": all
  std::string by;     // an aim, as ParseAim() reads it; "": the objective of the sweep
  bool wall = false;  // with wall_s, which no two runs have the same
};

// The data of the page, as JSON. `rows` are those of ToCsv(): number, id, for each axis the index of its
// value, metrics (null: it has none), the indices of the command's `words`, and the error of a point that
// failed. `points` are what questions are asked about: the value of the objective and the indices of the rows
// of a point, several where it was repeated.
absl::StatusOr<std::string> PageData(const Results& results, const PageOptions& options);

// One HTML file with charts and tables of the results, which needs no network (see page/frame.h). The data is
// in <script type="application/json" id="sweep">. The same results give the same bytes. Errors: expressions.
absl::StatusOr<std::string> MakePage(const Results& results, const PageOptions& options);

}  // namespace chakra::sweep
