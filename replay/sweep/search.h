// A walk over the grid of a sweep towards its objective.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/sweep.pb.h"

namespace chakra::sweep {

using GridPoint = std::vector<uint64_t>;  // an index for each axis of the grid

struct SearchProblem {
  std::vector<uint64_t> sizes;  // of each axis, at least 1
  // Whether constraints allow a point.
  std::function<absl::StatusOr<bool>(const GridPoint&)> allowed;
  // The costs of points, in their order: the less the better, nothing where the point failed.
  std::function<absl::StatusOr<std::vector<std::optional<double>>>(const std::vector<GridPoint>&)> evaluate;
};

struct SearchResult {
  GridPoint best;
  std::optional<double> cost;  // nothing: every point failed
  uint64_t evaluations = 0;
  uint64_t rounds = 0;
  uint32_t starts = 0;     // allowed points that did not fail
  bool converged = false;  // nothing better is next to what was found; false: evaluations ran out
};

// Walks from all starts at once, a round of evaluate() for a step of each, so that rounds are as large as can
// be. Deterministic: same problem and options, same rounds. No point is evaluated twice. Errors: those of
// `problem`; no allowed point was found to start from.
absl::StatusOr<SearchResult> RunSearch(const SearchProblem& problem, const proto::Search& options);

// One line on it.
std::string DescribeSearch(const SearchResult& result, const proto::Search& options);

}  // namespace chakra::sweep
