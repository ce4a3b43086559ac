// A training step that was generated from the configuration of its model, in its report.
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

// EngineOptions::comm_kinds of generated traces: kinds by the streams of trace/generate/step.h, in the order
// of the names of ExposedReport::kind. Communication that blocks computation at once comes first,
// communication in the background last.
std::vector<std::vector<uint8_t>> CommKindsOf(const TraceSet& traces);

// The device's peak for GEMMs of `dtype`, in FLOP/s. If the device gives none, the peak of its default dtype,
// which is then written to `dtype`. 0: neither is known.
double PeakFlops(const proto::Device& device, std::string* dtype);
// "bf16"
std::string DtypeName(proto::Training::Dtype dtype);
// "tp 8, pp 4, dp 4, cp 2": the sizes of the split, and other settings that matter
std::string SplitText(const generate::StepPlan& plan);

// By distinct graph and row: an index for PhaseName(). Empty: the rows are not those of the step, since an
// edit added or removed some. A graph that no stage's first rank has was made by an edit, and has no phases.
using RowPhases = std::vector<std::vector<uint8_t>>;
RowPhases PhasesOf(const generate::StepPlan& plan, const TraceSet& traces);
// "forward", "recompute", "backward", "step"
const char* PhaseName(size_t phase);

// A replayed step. Nothing is owned.
struct ReplayedStep {
  const generate::StepPlan& plan;
  const TraceSet& traces;
  const std::vector<ComputeTimes>& times;  // of each distinct graph
  const Metrics& metrics;
  const RowPhases& phases;
  const proto::Device& device;
  uint64_t device_memory = 0;  // bytes; 0: unknown
};

// Fills Report::training and the memory of ranks, and warns of ranks that do not fit.
void AddTraining(const ReplayedStep& step, proto::Report* report);

// Returns "" if the report has no training.
std::string PrintTraining(const proto::Report& report, TextPage* page);

}  // namespace chakra
