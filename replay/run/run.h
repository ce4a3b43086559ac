// One run: a machine that is built, traces that are priced, and the replay of them.
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

// What a caller sees of a run on its way. All may be null.
struct RunHooks {
  FlowLog* flow_log = nullptr;                    // the caller's; told its ranks, and of every flow
  std::string needs_flows;                        // who needs flows, for the error where there are none
  std::function<void(const Progress&)> progress;  // see EngineOptions
  const std::atomic<bool>* stop = nullptr;        // likewise
  std::function<void(const Topology&)> machine;   // once, before the run
};

class Run {
 public:
  // The arguments must outlive the run. `each_rank`: the caller looks at each rank by itself, and none may
  // stand for its twins.
  Run(const LoadedTraces& traces, const RunOptions& options, const RunHooks& hooks, bool each_rank)
      : traces_(traces), options_(options), hooks_(hooks), each_rank_(each_rank), set_(&traces.set) {}

  // Settles what the options leave open, builds the machine and prices the traces. Call it once, before all
  // below. Errors: options that are no good for these traces or this machine, files that cannot be read.
  absl::Status Prepare();

  const LoadedTraces& traces() const { return traces_; }
  const RunOptions& options() const { return options_; }
  const TraceSet& set() const { return *set_; }  // as it is replayed
  // The step that the traces were generated for, which their metadata say; null: there is none, or the
  // metadata cannot be read, as step_error() says.
  const generate::StepPlan* step() const { return made_.ok() && made_->has_value() ? &**made_ : nullptr; }
  const absl::Status& step_error() const { return made_.status(); }
  const ClusterModel& cluster() const { return cluster_; }
  const Machine& machine() const { return *machine_; }
  bool recorded_comm() const { return recorded_comm_; }
  // One for each distinct graph; may be changed before Go().
  std::vector<ComputeTimes>* times() { return &times_; }
  // What the run is, as far as it is known; whoever measures adds to it.
  RunDescription* description() { return &description_; }
  absl::Status AddInput(const std::string& path, const std::string& role);

  // What Go() takes: meters are the caller's to add.
  Simulation simulation() const;
  // Replays it on the machine. Errors: those of Replay().
  absl::StatusOr<Metrics> Go(const Simulation& simulation);
  // Puts into the description what the machine did. `path`: null: not asked for.
  void Describe(const Metrics& metrics, const CriticalPath* path);

 private:
  absl::Status ChooseSources();  // for captures, what was measured
  absl::Status BuildMachine();
  // Whether times of a capture are carried to the cluster's device.
  void ChooseDevice();
  // What varies, and where the ranks sit.
  absl::Status DescribeRanks();
  // Whether one rank stands for its twins.
  bool TwinsAreEqual() const;
  // Warns of programs from files that no call ran.
  void TellUnusedPrograms(const Metrics& metrics);
  std::string spec() const;

  const LoadedTraces& traces_;
  const RunOptions& options_;
  const RunHooks& hooks_;
  const bool each_rank_;
  const TraceSet* set_;
  std::optional<TraceSet> resolved_;  // of several jobs: with the groups that the machine's dimensions give;
                                      // of twins: with their peers
  bool twins_ = false;                // one rank is simulated for all its twins
  RunDescription description_;
  bool recorded_comm_ = false;
  ClusterModel cluster_;
  absl::StatusOr<std::optional<generate::StepPlan>> made_ = std::optional<generate::StepPlan>();
  std::unique_ptr<Machine> machine_;
  std::vector<ComputeTimes> times_;
};

}  // namespace chakra
