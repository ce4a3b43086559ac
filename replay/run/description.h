// What a run was: what the report says of it beside what was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/fabric_report.h"
#include "proto/report.pb.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/measure/flow_times.h"
#include "replay/run/captured_on.h"
#include "replay/run/jobs.h"
#include "replay/run/machine.h"
#include "replay/run/makespan_range.h"
#include "replay/run/steps.h"
#include "trace/model/trace.h"

namespace chakra {

// What a run was, beside its metrics. The pointers are borrowed for the call.
struct RunDescription {
  std::string version;
  std::string cluster;  // "": nothing was priced by one
  std::string fabric;   // "": nothing crossed one
  std::string lanes;
  std::string compute;                               // rungs in order, comma separated
  std::string comm;                                  // "simulated" or "recorded"
  const TraceSet* traces = nullptr;                  // required
  const std::vector<ComputeTimes>* times = nullptr;  // required; one for each distinct graph
  std::vector<DimensionTraffic> traffic;
  std::vector<DimensionFacts> dimensions;           // as `traffic`, or empty
  LinkUses links;                                   // of a fabric that follows them
  PacketTotals packets;                             // of a fabric that sends them
  std::vector<FlowTimesRow> flow_times;             // where flows were logged
  std::vector<StepMetrics> steps;                   // of captures
  std::string variation;                            // what was varied; "": nothing
  std::string placement;                            // rule or file; "": rank i on device i
  std::vector<Job> jobs;                            // empty: one
  const proto::EditReport* edits = nullptr;         // what was edited; null: nothing
  const proto::CriticalPathReport* path = nullptr;  // null: not asked for
  const proto::PinnedReport* pinned = nullptr;      // null: the traces have no delays
  std::vector<InputFile> inputs;                    // beside traces->inputs
  std::optional<CapturedOn> captured_on;            // where it is another than the run's
  std::optional<MakespanRange> range;               // where the kernel model answered
  std::vector<std::string> warnings;                // beside the metrics' own
};

}  // namespace chakra
