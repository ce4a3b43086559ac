// Compute times of all graphs of a run.
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

// The rungs of a run, with the kernel table and the models of devices that they ask: made once, for any
// number of graphs.
class GraphPricer {
 public:
  // `compute`: ParseRungs(). `device` must outlive the pricer. `zeros_recorded`: as ComputeModel. `load`: of
  // the device, as its kernel model takes it. What the table is, and what the device leaves open, is put down
  // in `run`; `repriced` goes by run->captured_on.
  // Errors: `compute`, the table's file.
  static absl::StatusOr<std::unique_ptr<GraphPricer>> Make(const RunOptions& options,
                                                           const std::string& compute,
                                                           const proto::Device& device, bool zeros_recorded,
                                                           KernelLoad load, RunDescription* run);

  // Errors: nodes that no rung answers.
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

// One for each of DistinctGraphs(traces.set), by a GraphPricer. `step`: what the traces were made of
// (generate::PlanOf()), whose device is under load; null: of no step. Errors: the pricer's.
absl::StatusOr<std::vector<ComputeTimes>> PriceTraces(const LoadedTraces& traces, const RunOptions& options,
                                                      const std::string& compute, const proto::Device& device,
                                                      const generate::StepPlan* step, RunDescription* run);

// How much longer computations take beside exchanges of experts (Split::merges_exchanges()): the exchanges'
// kernels hold multiprocessors that the others go without, 24 of DeepEP's (deepseek-ai/DeepEP, README.md). 0:
// the cluster has no collective library, or says itself what these take.
double ExchangeSlowdown(const proto::Cluster& cluster);

}  // namespace chakra
