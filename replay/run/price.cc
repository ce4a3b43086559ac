#include "replay/run/price.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/compute/kernel_table.h"
#include "replay/compute/model/kernel_model.h"
#include "replay/run/description.h"
#include "trace/generate/write.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

// nullopt: the device gives no rates at all, or too few, which `run` then notes.
std::optional<KernelModel> ModelOf(const proto::Device& device, absl::string_view what, KernelLoad load,
                                   RunDescription* run) {
  if (device.peak_tflops().empty() && device.memory_gbytes_per_s() <= 0) return std::nullopt;
  auto model = KernelModel::Create(device, load);
  if (model.ok()) return *std::move(model);
  run->warnings.push_back(absl::StrCat(what, ": ", model.status().message(), "; it answers nothing"));
  return std::nullopt;
}

}  // namespace

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
  std::optional<KernelModel> kernels, captured_on;
  const auto asked = [&](ComputeRung r) {
    return std::find(rungs->begin(), rungs->end(), r) != rungs->end();
  };
  if (asked(ComputeRung::kModel) || asked(ComputeRung::kRepriced)) {
    const auto step = generate::PlanOf(traces.set);
    const bool generated = step.ok() && step->has_value();
    kernels = ModelOf(device, "kernel model", generated ? KernelLoad::kSteady : KernelLoad::kAlone, run);
    if (kernels.has_value()) model.kernels = &*kernels;
  }
  if (asked(ComputeRung::kRepriced) && run->captured_on.has_value()) {
    captured_on = ModelOf(run->captured_on->device, "kernel model of the capture's device",
                          KernelLoad::kAlone, run);
    if (captured_on.has_value()) model.captured_on = &*captured_on;
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
