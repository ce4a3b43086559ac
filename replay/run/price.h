// Computes the compute times of all graphs of a run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/run/description.h"
#include "replay/run/options.h"
#include "replay/run/traces.h"
#include "trace/generate/sizes.h"

namespace chakra {

// Prices graphs with the time sources of a run. Holds the kernel table and the kernel models, which are made
// once for any number of graphs.
class GraphPricer {
 public:
  // `compute`: for ParseTimeSources(). `device` must outlive the pricer. `zeros_recorded`: as in
  // ComputeModel. `load`: of the device, for its kernel model. Adds the kernel table to the inputs of `run`,
  // and a warning if the rates of the device do not suffice. `repriced` uses run->captured_on. Errors: a
  // wrong `compute`, the kernel table's file.
  static absl::StatusOr<std::unique_ptr<GraphPricer>> Make(const RunOptions& options,
                                                           const std::string& compute,
                                                           const proto::Device& device, bool zeros_recorded,
                                                           KernelLoad load, RunDescription* run);

  // Errors: those of PriceGraph().
  absl::StatusOr<ComputeTimes> Price(const Graph& graph) { return PriceGraph(graph, model_, &notes_); }
  const ComputeNotes& notes() const { return notes_; }

 private:
  GraphPricer() = default;
  absl::Status ReadTable(const RunOptions& options, bool interpolate, RunDescription* run);

  absl::StatusOr<KernelTableIndex> index_ = absl::NotFoundError("");
  std::optional<KernelInterpolation> between_;
  std::optional<KernelModel> kernels_, captured_on_;
  ComputeModel model_;
  ComputeNotes notes_;
};

// Prices each of DistinctGraphs(traces.set) with a GraphPricer. `step`: the generated step that the traces
// are of (generate::PlanOf()), whose device is priced under steady load; null: none. Errors: those of the
// pricer, and too little memory for the replay.
absl::StatusOr<std::vector<ComputeTimes>> PriceTraces(const LoadedTraces& traces, const RunOptions& options,
                                                      const std::string& compute, const proto::Device& device,
                                                      const generate::StepPlan* step, RunDescription* run);

// The share by which computation takes longer while experts are exchanged (Split::merges_exchanges()): the
// kernels of the exchange occupy multiprocessors, 24 for DeepEP (deepseek-ai/DeepEP, README.md). 0: the
// cluster has no collective library, or its library gives a slowdown itself.
double ExchangeSlowdown(const proto::Cluster& cluster);

}  // namespace chakra
