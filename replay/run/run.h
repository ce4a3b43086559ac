// One run: builds the machine, prices the traces and replays them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "backends/topology/topology.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "replay/run/cluster_model.h"
#include "replay/run/description.h"
#include "replay/run/options.h"
#include "replay/run/simulate.h"
#include "replay/run/traces.h"
#include "trace/generate/sizes.h"

namespace chakra {

// Callbacks and outputs for the caller of a run. All may be null.
struct RunHooks {
  FlowLog* flow_log = nullptr;  // not owned; gets the ranks, and every flow
  std::string needs_flows;      // the option that needs flows, for the error if there are none
  std::function<void(const Progress&)> progress;  // see EngineOptions
  const std::atomic<bool>* stop = nullptr;        // see EngineOptions
  std::function<void(const Topology&)> machine;   // called once, before the run
};

class Run {
 public:
  // The arguments must outlive the run. `each_rank`: the caller needs each rank, so none may stand for
  // symmetric ranks.
  Run(const LoadedTraces& traces, const RunOptions& options, const RunHooks& hooks, bool each_rank)
      : traces_(traces), options_(options), hooks_(hooks), each_rank_(each_rank), set_(&traces.set) {}

  // Resolves what the options leave open, builds the machine and prices the traces. Call it once, before the
  // functions below. Errors: options that do not fit these traces or this machine, files that cannot be read.
  absl::Status Prepare();

  const LoadedTraces& traces() const { return traces_; }
  const RunOptions& options() const { return options_; }
  const TraceSet& set() const { return *set_; }  // the traces as they are replayed
  // The step that the traces were generated for, from their metadata. Null: there is none, or the metadata
  // cannot be read; step_error() then says why.
  const generate::StepPlan* step() const { return made_.ok() && made_->has_value() ? &**made_ : nullptr; }
  const absl::Status& step_error() const { return made_.status(); }
  const ClusterModel& cluster() const { return cluster_; }
  const Machine& machine() const { return *machine_; }
  bool recorded_comm() const { return recorded_comm_; }
  // One entry for each distinct graph; may be changed before Go().
  std::vector<ComputeTimes>* times() { return &times_; }
  // The description of the run so far; whoever measures the run adds to it.
  RunDescription* description() { return &description_; }
  absl::Status AddInput(const std::string& path, const std::string& role);

  // The arguments of Go(). The caller may add meters.
  Simulation simulation() const;
  // Replays the traces on the machine. Errors: those of Replay().
  absl::StatusOr<Metrics> Go(const Simulation& simulation);
  // Adds the results of the machine to the description. `path`: null: no critical path was asked for.
  void Describe(const Metrics& metrics, const CriticalPath* path);

 private:
  // The defaults of compute and comm, which for captures are the recorded times.
  absl::Status ChooseSources();
  absl::Status BuildMachine();
  // Decides whether times of a capture are repriced for the cluster's device.
  void ChooseDevice();
  // Describes the variation and the placement of ranks.
  absl::Status DescribeRanks();
  // Whether one rank may stand for the symmetric ranks.
  bool SymmetricRanksAreEqual() const;
  // Warns of programs from files that no call used.
  void TellUnusedPrograms(const Metrics& metrics);
  std::string spec() const;

  const LoadedTraces& traces_;
  const RunOptions& options_;
  const RunHooks& hooks_;
  const bool each_rank_;
  const TraceSet* set_;
  // A changed copy of the set: for several jobs, with the groups that the machine's dimensions give; for
  // symmetric ranks, with their peers.
  std::optional<TraceSet> resolved_;
  bool symmetric_ = false;  // one rank is simulated for all that are symmetric to it
  RunDescription description_;
  bool recorded_comm_ = false;
  ClusterModel cluster_;
  absl::StatusOr<std::optional<generate::StepPlan>> made_ = std::optional<generate::StepPlan>();
  std::unique_ptr<Machine> machine_;
  std::vector<ComputeTimes> times_;
};

}  // namespace chakra
