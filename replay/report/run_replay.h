// Runs one replay, from options to the report.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "proto/report.pb.h"
#include "replay/energy/meter.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/spans.h"
#include "replay/run/options.h"
#include "replay/run/run.h"
#include "replay/run/traces.h"

namespace chakra {

// A finished run. Valid only during the call of a hook.
struct FinishedRun {
  const TraceSet& traces;  // the traces as they were replayed
  const NodeSpans& spans;
  const Metrics& metrics;
  const CriticalPath* path;  // null: RunOptions::critical_path is not set
  const MachineView& machine;
  // As in EngineOptions:
  LanePolicy lanes;
  std::vector<int> dimension_sizes;
  bool recorded_comm;
  const energy::PowerMeter* meter = nullptr;  // null: RunOptions::energy is not set
};

// Callbacks for the run and its end. All may be null.
struct ReplayHooks : RunHooks {
  // Called once after the run, which ended at `end`.
  std::function<void(const MachineView& machine, Time end)> finished;
  // Called after `finished`. Null: the spans of nodes are not kept.
  std::function<void(const FinishedRun& run)> replayed;
  // Reads the traces again without their edits. The report then says how much of the edits' effect
  // fixed time hides; null: the report leaves that out.
  std::function<absl::StatusOr<LoadedTraces>()> unedited;
};

// Replays `traces`. The same inputs give the same report. Any number of calls may share `traces` at the same
// time. Errors: those of Run.
absl::StatusOr<proto::Report> RunReplay(const LoadedTraces& traces, const RunOptions& options,
                                        const ReplayHooks& hooks = {});

}  // namespace chakra
