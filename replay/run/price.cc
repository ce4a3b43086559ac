#include "replay/run/price.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/compute/kernel_table.h"
#include "replay/compute/model/architectures.h"
#include "replay/compute/model/kernel_model.h"
#include "replay/run/description.h"
#include "replay/run/options.h"
#include "replay/run/simulate.h"
#include "replay/run/trace_memory.h"
#include "trace/base/free_memory.h"
#include "trace/base/status_macros.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr uint64_t kFewNodes = uint64_t{1} << 16;

// nullopt: the device gives no rates, or too few; the latter adds a warning to `run`.
std::optional<KernelModel> ModelOf(const proto::Device& device, absl::string_view what, KernelLoad load,
                                   RunDescription* run) {
  if (device.peak_tflops().empty() && device.memory_gbytes_per_s() <= 0) return std::nullopt;
  auto model = KernelModel::Create(device, load);
  if (model.ok()) return *std::move(model);
  run->warnings.push_back(absl::StrCat(what, ": ", model.status().message(), "; it prices no node"));
  return std::nullopt;
}

}  // namespace

absl::Status GraphPricer::ReadTable(const RunOptions& options, bool interpolate, RunDescription* run) {
  if (interpolate && options.kernels.empty())
    run->warnings.push_back("--compute interpolate has no kernel table (--kernels) and prices no node");
  if (options.kernels.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(auto table, LoadKernelTable(options.kernels));
  index_ = KernelTableIndex::Make(table, options.kernels);
  if (!index_.ok()) return index_.status();
  model_.table = &*index_;
  if (interpolate) model_.interpolation = &between_.emplace(table);
  ASSIGN_OR_RETURN(auto input, DescribeInput(options.kernels, "kernels"));
  run->inputs.push_back(std::move(input));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<GraphPricer>> GraphPricer::Make(const RunOptions& options,
                                                               const std::string& compute,
                                                               const proto::Device& device,
                                                               bool zeros_recorded, KernelLoad load,
                                                               RunDescription* run) {
  ASSIGN_OR_RETURN(const auto time_sources, ParseTimeSources(compute));
  const auto asked = [&](TimeSource r) {
    return std::find(time_sources.begin(), time_sources.end(), r) != time_sources.end();
  };
  std::unique_ptr<GraphPricer> out(new GraphPricer);
  ComputeModel& model = out->model_;
  model.time_sources = time_sources;
  model.device = &device;
  model.zeros_recorded = zeros_recorded;
  RETURN_IF_ERROR(out->ReadTable(options, asked(TimeSource::kInterpolate), run));
  if (asked(TimeSource::kModel) || asked(TimeSource::kRepriced)) {
    out->kernels_ = ModelOf(device, "kernel model", load, run);
    if (out->kernels_.has_value()) model.kernels = &*out->kernels_;
  }
  if (asked(TimeSource::kRepriced) && run->captured_on.has_value()) {
    out->captured_on_ =
        ModelOf(run->captured_on->device, "kernel model of the capture's device", KernelLoad::Alone(), run);
    if (out->captured_on_.has_value()) model.captured_on = &*out->captured_on_;
  }
  return out;
}

double ExchangeSlowdown(const proto::Cluster& cluster) {
  constexpr double kUnits = 24;
  if (!cluster.collectives().has_library() || cluster.collectives().library().slowdown() > 0) return 0;
  const proto::Device& device = cluster.device();
  const double all = device.compute_units() > 0 ? device.compute_units() : laws::ArchitectureOf(device).units;
  return all > kUnits ? all / (all - kUnits) - 1 : 0;
}

absl::StatusOr<std::vector<ComputeTimes>> PriceTraces(const LoadedTraces& traces, const RunOptions& options,
                                                      const std::string& compute, const proto::Device& device,
                                                      const generate::StepPlan* step, RunDescription* run) {
  // A replay of few nodes needs little memory compared to the program, and many such replays may follow each
  // other.
  if (traces.set.nodes() > kFewNodes) {
    const bool recorded = run->comm == kRecordedComm && LanesOf(options) == LanePolicy::kRecorded;
    RETURN_IF_ERROR(CheckMemory(traces.set, FreeMemory(), recorded, compute == "recorded"));
  }
  const KernelLoad load = step != nullptr ? KernelLoad::Steady(step->split.ranks()) : KernelLoad::Alone();
  ASSIGN_OR_RETURN(const auto pricer,
                   GraphPricer::Make(options, compute, device, traces.HasTimes(), load, run));
  std::vector<ComputeTimes> times;
  for (const Graph* graph : DistinctGraphs(traces.set).graphs) {
    ASSIGN_OR_RETURN(auto priced, pricer->Price(*graph));
    times.push_back(std::move(priced));
  }
  for (const auto& [dtype, nodes] : pricer->notes().unknown_peak) {
    run->warnings.push_back(absl::StrCat("the device has no peak for ",
                                         dtype.empty() ? "an unknown type" : dtype, ": ", nodes,
                                         " nodes use the peak of the default type"));
  }
  return times;
}

}  // namespace chakra
