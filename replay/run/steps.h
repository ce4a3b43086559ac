// How near the replay of a capture comes to what was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
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

// Measures the steps of ranks, one after the other. A rank without a capture, or with one that has no times
// (a host trace alone: its window is 0), has no steps. For each other rank the window comes first, then its
// steps as recorded. Twins (null: there are none) have the steps of the lower rank whose twins they are.
class StepMeter {
 public:
  // Where ranks have more steps than `most` together, the windows of all are kept, and the `most` steps that
  // are furthest off. The arguments must outlive the object; `captures` by rank.
  StepMeter(const TraceSet& traces, const std::vector<std::optional<CaptureInfo>>& captures,
            const Twins* twins, size_t most = kMost);
  // The spans of a rank that is no twin, once. Thread-safe.
  void Measure(uint32_t rank, const std::vector<NodeSpan>& spans);
  // After all: the steps by rank. `left_out` gets how many there are beside them.
  std::vector<StepMetrics> Steps(uint64_t* left_out);

  static constexpr size_t kMost = 100000;

 private:
  // A step, in the order of what is kept.
  struct Ranked {
    double off = 0;
    uint32_t index = 0;  // among those of its rank; 0: the window
    StepMetrics step;
    bool operator<(const Ranked& o) const;
  };
  bool HasSteps(size_t rank) const;
  std::vector<StepMetrics> StepsOf(uint32_t rank, const std::vector<NodeSpan>& spans) const;
  void Keep(uint32_t rank, const std::vector<StepMetrics>& steps);
  void DropNearest();

  const TraceSet& traces_;
  const std::vector<std::optional<CaptureInfo>>& captures_;
  const size_t most_;
  std::vector<std::vector<uint32_t>> twins_;  // by rank; empty: there are none
  uint64_t all_ = 0, windows_ = 0;
  std::mutex mutex_;
  std::vector<Ranked> kept_, kept_windows_;
};

// All steps, where all spans are there; by rank.
std::vector<StepMetrics> MeasureSteps(const TraceSet& traces,
                                      const std::vector<std::optional<CaptureInfo>>& captures,
                                      const NodeSpans& spans, const Twins* twins = nullptr);

}  // namespace chakra
