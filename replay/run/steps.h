// Compares the steps of a replayed capture with the measured steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/spans.h"
#include "trace/model/capture_info.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// One step of one rank: a ProfilerStep, or "window" for everything that was captured.
struct StepMetrics {
  int rank = 0;           // as replayed
  int recorded_rank = 0;  // as captured
  std::string name;
  Time measured;  // of the window: from time 0, the common start of the window on all ranks
  Time replayed;  // of the window: from time 0 to the end of the rank's last node
  // The median, over the device operations that were recorded to start within the step, of the distance
  // between replayed and recorded start (both since time 0). For an even number, the mean of the two in the
  // middle.
  Time kernel_start_error;
  uint64_t kernels = 0;  // number of these operations
};

// Measures the steps of ranks, one rank after the other. A rank has no steps if it has no capture, or one
// without times (a host trace alone, whose window is 0). For each other rank the window comes first, then its
// steps as recorded. A symmetric rank gets the steps of the lower rank that is simulated for it. `symmetric`:
// the symmetric ranks; null: none.
class StepMeter {
 public:
  // Keeps the windows of all ranks, and of the other steps at most `most`, those that are furthest off. The
  // arguments must outlive the object; `captures` by rank.
  StepMeter(const TraceSet& traces, const std::vector<std::optional<CaptureInfo>>& captures,
            const SymmetricRanks* symmetric, size_t most = kMost);
  // Measures a rank that is simulated itself, from its spans. Call once for each such rank. Thread-safe.
  void Measure(uint32_t rank, const std::vector<NodeSpan>& spans);
  // Call after all ranks were measured. Returns the kept steps by rank; `left_out` gets the number of the
  // others.
  std::vector<StepMetrics> Steps(uint64_t* left_out);

  static constexpr size_t kMost = 100000;

 private:
  // A step, ordered by how far off it is.
  struct Ranked {
    double off = 0;
    uint32_t index = 0;  // index among the steps of its rank; 0: the window
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
  std::vector<std::vector<uint32_t>> symmetric_;  // by rank: the ranks that are symmetric to it; empty: none
  uint64_t all_ = 0, windows_ = 0;
  std::mutex mutex_;
  std::vector<Ranked> kept_, kept_windows_;
};

// Measures all steps, by rank, from the spans of all ranks.
std::vector<StepMetrics> MeasureSteps(const TraceSet& traces,
                                      const std::vector<std::optional<CaptureInfo>>& captures,
                                      const NodeSpans& spans, const SymmetricRanks* symmetric = nullptr);

}  // namespace chakra
