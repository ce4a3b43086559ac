// Describes a run: the parts of its report that are not measured.
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

// The description of a run, in addition to its metrics. The pointers are not owned and must be valid during
// the call.
struct RunDescription {
  std::string version;
  std::string cluster;  // "": no time depends on the cluster
  std::string fabric;   // "": no communication was simulated
  std::string lanes;
  std::string compute;                               // time sources in order, separated by commas
  std::string comm;                                  // "simulated" or "recorded"
  const TraceSet* traces = nullptr;                  // required
  const std::vector<ComputeTimes>* times = nullptr;  // required; one entry for each distinct graph
  std::vector<DimensionTraffic> traffic;
  std::vector<DimensionFacts> dimensions;           // one for each entry of `traffic`, or empty
  LinkUses links;                                   // of a fabric that follows links
  PacketTotals packets;                             // of a fabric that simulates packets
  std::vector<FlowTimesRow> flow_times;             // if flows were logged
  std::vector<StepMetrics> steps;                   // of captures
  std::string variation;                            // the variation of the machine; "": none
  std::string placement;                            // rule or file; "": rank i on device i
  std::vector<Job> jobs;                            // empty: a single job
  const proto::EditReport* edits = nullptr;         // outcome of the edits; null: none
  const proto::CriticalPathReport* path = nullptr;  // null: not asked for
  const proto::FixedTimeReport* fixed_time = nullptr;  // the fixed time; null: the traces have no delays
  std::vector<InputFile> inputs;                    // in addition to traces->inputs
  std::optional<CapturedOn> captured_on;            // if it differs from the device of the run
  std::optional<MakespanRange> range;               // if the kernel model answered
  std::vector<std::string> warnings;                // in addition to those of the metrics
};

}  // namespace chakra
