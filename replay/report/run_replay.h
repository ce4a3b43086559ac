// One replay, from options to the report.
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

// A run that is over, for as long as the call lasts.
struct FinishedRun {
  const TraceSet& traces;  // as they were replayed
  const NodeSpans& spans;
  const Metrics& metrics;
  const CriticalPath* path;  // null: RunOptions::critical_path is not asked for
  const MachineView& machine;
  // As of EngineOptions:
  LanePolicy lanes;
  std::vector<int> dimension_sizes;
  bool recorded_comm;
  const energy::PowerMeter* meter = nullptr;  // null: RunOptions::energy is not asked for
};

// What a caller sees of a run and of its end. All may be null.
struct ReplayHooks : RunHooks {
  // Once, after the run, which ended at `end`.
  std::function<void(const MachineView& machine, Time end)> finished;
  // After it; null: the times of nodes are not kept.
  std::function<void(const FinishedRun& run)> replayed;
  // Reads the traces again without their edits, of which a report says what pinned time holds; null: that
  // part of the report is left out.
  std::function<absl::StatusOr<LoadedTraces>()> unedited;
};

// Replays `traces`. Same inputs, same report; any number of calls may share `traces` at once.
// Errors: those of Run.
absl::StatusOr<proto::Report> RunReplay(const LoadedTraces& traces, const RunOptions& options,
                                        const ReplayHooks& hooks = {});

}  // namespace chakra
