// The results of a sweep as a self-contained page.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "replay/sweep/results.h"

namespace chakra::sweep {

struct PageOptions {
  std::string where;  // only points for which this expression is true; "": all
  std::string by;     // an aim, in the form of ParseAim(); "": the objective of the sweep
  bool wall = false;  // with wall_s, which differs between runs
};

// The data of the page, as JSON. `rows` are those of ToCsv(): number, id, for each axis the index of its
// value, metrics (null: absent), the indices of the command's `words`, and the error if the point failed.
// `points` are the points that questions are about: for each, the value of the objective and the indices of
// its rows (several if it was repeated).
absl::StatusOr<std::string> PageData(const Results& results, const PageOptions& options);

// One HTML file with charts and tables of the results, which needs no network (see page/frame.h). The data is
// in <script type="application/json" id="sweep">. The same results give the same bytes. Errors: expressions.
absl::StatusOr<std::string> MakePage(const Results& results, const PageOptions& options);

}  // namespace chakra::sweep
