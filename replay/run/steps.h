// How near the replay of a capture comes to what was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/spans.h"
#include "trace/model/capture_info.h"
#include "trace/model/trace.h"
#include "trace/model/twins.h"

namespace chakra {

// One step of one rank: a ProfilerStep, or "window", all that was captured.
struct StepMetrics {
  int rank = 0;           // as replayed
  int recorded_rank = 0;  // as captured
  std::string name;
  Time measured;  // window: from time 0, when the window that all ranks share began
  Time replayed;  // window: from time 0 to the end of the rank's last node
  // Over the device operations that were recorded to start within the step: the
  // median of the distance between replayed and recorded start, both since time
  // 0. Of an even number, the mean of the two in the middle.
  Time kernel_start_error;
  uint64_t kernels = 0;  // such operations
};

// `captures` and `spans` by rank; a rank without a capture, or with one that
// has no times (a host trace alone: its window is 0), has no steps. For each
// other rank the window comes first, then its steps as recorded. Twins (null: there are none) have no spans
// but the steps of the lower rank whose twins they are.
std::vector<StepMetrics> MeasureSteps(const TraceSet& traces,
                                      const std::vector<std::optional<CaptureInfo>>& captures,
                                      const NodeSpans& spans, const Twins* twins = nullptr);

}  // namespace chakra
