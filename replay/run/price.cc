#include "replay/run/price.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/compute/kernel_table.h"
#include "replay/run/description.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {

absl::StatusOr<std::vector<ComputeTimes>> PriceTraces(const LoadedTraces& traces, const RunOptions& options,
                                                      const std::string& compute, const proto::Device& device,
                                                      RunDescription* run) {
  const auto rungs = ParseRungs(compute);
  if (!rungs.ok()) return rungs.status();
  ComputeModel model;
  model.rungs = *rungs;
  model.device = &device;
  model.zeros_recorded = traces.HasTimes();
  absl::StatusOr<KernelTableIndex> index = absl::NotFoundError("");
  std::optional<KernelInterpolation> between;
  const bool interpolate = std::find(rungs->begin(), rungs->end(), ComputeRung::kInterpolate) != rungs->end();
  if (interpolate && options.kernels.empty()) {
    run->warnings.push_back("--compute interpolate has no kernel table (--kernels) and answers nothing");
  }
  if (!options.kernels.empty()) {
    auto table = LoadKernelTable(options.kernels);
    if (!table.ok()) return table.status();
    index = KernelTableIndex::Make(*table, options.kernels);
    if (!index.ok()) return index.status();
    model.table = &*index;
    if (interpolate) model.interpolation = &between.emplace(*table);
    auto input = DescribeInput(options.kernels, "kernels");
    if (!input.ok()) return input.status();
    run->inputs.push_back(*std::move(input));
  }
  ComputeNotes notes;
  std::vector<ComputeTimes> times;
  for (const Graph* graph : DistinctGraphs(traces.set).graphs) {
    auto priced = PriceGraph(*graph, model, &notes);
    if (!priced.ok()) return priced.status();
    times.push_back(*std::move(priced));
  }
  for (const auto& [dtype, nodes] : notes.unknown_peak) {
    run->warnings.push_back(absl::StrCat("the device gives no peak for ",
                                         dtype.empty() ? "an unknown type" : dtype, ": ", nodes,
                                         " nodes take the default type's"));
  }
  return times;
}

}  // namespace chakra
