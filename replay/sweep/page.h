// The results of a sweep as a self-contained HTML page.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "replay/sweep/results.h"

namespace chakra::sweep {

struct PageOptions {
  std::string where;  // only points for which this expression is true; "": all points
  std::string by;     // an aim in the form of ParseAim(); "": the objective of the sweep
  bool wall = false;  // include wall_s, which differs between runs
};

// The data of the page, as JSON. `rows` are those of ToCsv(): number, id, for each axis the index of its
// value, metrics (null: absent), the indices of the command's words in `words`, and the error if the point
// failed. `points` are the points that questions are about: for each, the value of the objective and the
// indices of its rows (several if the point was repeated).
absl::StatusOr<std::string> PageData(const Results& results, const PageOptions& options);

// One HTML file with charts and tables of the results (see page/frame.h). The file needs no network. The data
// is in <script type="application/json" id="sweep">. The same results give the same bytes. Errors: wrong
// expressions.
absl::StatusOr<std::string> MakePage(const Results& results, const PageOptions& options);

}  // namespace chakra::sweep
