// What a report says of a training step that was generated from the configuration of its model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/cluster.pb.h"
#include "proto/report.pb.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/measure/metrics.h"
#include "trace/base/text_page.h"
#include "trace/generate/sizes.h"
#include "trace/model/trace.h"

namespace chakra {

// EngineOptions::comm_kinds of generated traces: by the streams of trace/generate/step.h, in the order in
// which ExposedReport::kind lists the names. What blocks computation at once comes first, what runs behind it
// last.
std::vector<std::vector<uint8_t>> CommKindsOf(const TraceSet& traces);

// The device's peak for products of `dtype`, in FLOP/s; where the device gives none, that of its default
// dtype, which then is in `dtype`. 0: neither.
double PeakFlops(const proto::Device& device, std::string* dtype);
// "bf16"
std::string DtypeName(proto::Training::Dtype dtype);
// "tp 8, cp 1, dp 4, pp 4": what is not 1, and what else matters.
std::string SplitText(const generate::StepPlan& plan);

// By distinct graph and row: an index for PhaseName(). Empty: the rows are not those of the step, since an edit added or
// removed some. Of graphs that are not the one of a stage's first rank none: an edit made them.
using RowPhases = std::vector<std::vector<uint8_t>>;
RowPhases PhasesOf(const generate::StepPlan& plan, const TraceSet& traces);
// "forward", "recompute", "backward", "step".
const char* PhaseName(size_t phase);

// A step that was replayed. All is the caller's.
struct ReplayedStep {
  const generate::StepPlan& plan;
  const TraceSet& traces;
  const std::vector<ComputeTimes>& times;  // of each distinct graph
  const Metrics& metrics;
  const RowPhases& phases;
  const proto::Device& device;
  uint64_t device_memory = 0;  // bytes; 0: not known
};

// Fills Report::training and what ranks hold, and warns of ranks that do not fit.
void AddTraining(const ReplayedStep& step, proto::Report* report);

// "": the report has none.
std::string PrintTraining(const proto::Report& report, TextPage* page);

}  // namespace chakra
