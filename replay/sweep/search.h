// Searches the grid of a sweep for the best value of the objective.
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
  std::vector<uint64_t> sizes;  // number of values of each axis, at least 1
  // Whether the constraints allow a point.
  std::function<absl::StatusOr<bool>(const GridPoint&)> allowed;
  // The costs of points, in the order of the points; less is better. nullopt: the point failed.
  std::function<absl::StatusOr<std::vector<std::optional<double>>>(const std::vector<GridPoint>&)> evaluate;
};

struct SearchResult {
  GridPoint best;
  std::optional<double> cost;  // nullopt: every point failed
  uint64_t evaluations = 0;
  uint64_t rounds = 0;
  uint32_t starts = 0;     // number of starts that are allowed and did not fail
  bool converged = false;  // no neighbour of the best point is better; false: the evaluations ran out first
};

// Walks from all starts in parallel. Each round of evaluate() has one step of every walk, so that rounds are
// as large as possible. Deterministic: the same problem and options give the same rounds. No point is
// evaluated twice. Errors: those of `problem`; no allowed point to start from was found.
absl::StatusOr<SearchResult> RunSearch(const SearchProblem& problem, const proto::Search& options);

// A line that describes the search.
std::string DescribeSearch(const SearchResult& result, const proto::Search& options);

}  // namespace chakra::sweep
