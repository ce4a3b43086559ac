// Plans over nested blocks: rings level by level, and a chosen algorithm for each level.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "replay/collectives/levels.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

std::vector<int> Upwards(const PlanRequest& request) {
  std::vector<int> order(request.blocks.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Each part visits the levels in the order of their load, the least loaded first, because the first level of
// a part carries the most.
std::vector<std::vector<int>> Balanced(const PlanRequest& request) {
  std::vector<double> load(request.blocks.size(), 0);
  std::vector<std::vector<int>> orders;
  for (int p = 0; p < request.pieces; ++p) {
    std::vector<int> order = Upwards(request);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return load[static_cast<size_t>(a)] < load[static_cast<size_t>(b)];
    });
    double data = 1;
    for (const int level : order) {
      const auto l = static_cast<size_t>(level);
      const double kept = data / request.blocks[l];
      load[l] += 2 * (data - kept) / (request.bandwidth.empty() ? 1.0 : request.bandwidth[l]);
      data = kept;
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

}  // namespace

absl::Status BuildHierarchical(const PlanRequest& request, Plan* plan) {
  RETURN_IF_ERROR(NeedBlocks(request));
  LevelOptions options;
  options.order = {Upwards(request)};
  return BuildLevels(request, options, plan);
}

absl::Status BuildThemis(const PlanRequest& request, Plan* plan) {
  RETURN_IF_ERROR(NeedBlocks(request));
  LevelOptions options;
  options.order = Balanced(request);
  return BuildLevels(request, options, plan);
}

absl::Status BuildByLevel(const PlanRequest& request, Plan* plan) {
  const auto algorithms = ParseLevelAlgorithms(request.algorithm);
  if (!algorithms || algorithms->size() != request.blocks.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.algorithm, " for ", std::string(Name(request.type)), " on ", request.members,
        " ranks: expected ring, direct or halving_doubling for each of ", request.blocks.size(), " levels"));
  }
  LevelOptions options;
  options.order.assign(static_cast<size_t>(request.parts), Upwards(request));
  options.algorithm = *algorithms;
  options.stream_for_phase = true;
  options.at_once = std::min(request.at_once, request.parts);
  options.took = request.took;
  return BuildLevels(request, options, plan);
}

absl::Status BuildTorus(const PlanRequest& request, Plan* plan) {
  PlanRequest own = request;
  if (own.blocks.empty()) {
    own.blocks = {own.members};
    own.axes = 1;
  }
  LevelOptions options;
  options.axes = std::min(own.axes, static_cast<int>(own.blocks.size()));
  options.torus = RoutesOnTorus(static_cast<int>(own.blocks.size()), options.axes);
  options.stream_for_phase = true;
  options.took = own.took;
  return BuildLevels(own, options, plan);
}

}  // namespace chakra
