// Meters of a run that work on the spans of nodes, rank by rank.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "proto/report.pb.h"
#include "replay/engine/spans.h"
#include "replay/report/activity.h"
#include "replay/report/overlap.h"
#include "replay/run/options.h"
#include "replay/run/simulate.h"
#include "replay/run/steps.h"
#include "replay/run/traces.h"

namespace chakra {

// Meters steps and overlap of captures, and the activity of lanes if the options ask for it.
class SpanMeters {
 public:
  // The arguments must outlive the object; `symmetric` are the symmetric ranks and may be null.
  SpanMeters(const LoadedTraces& traces, const TraceSet& set, const RunOptions& options,
             const SymmetricRanks* symmetric) {
    if (!traces.captures.empty()) {
      steps_.emplace(set, traces.captures, symmetric);
      if (OverlapMeter::Takes(set, traces.captures)) overlap_.emplace(set, symmetric, &lanes_);
    }
    if (options.activity && ActivityMeter::Takes(set.nodes()))
      activity_.emplace(set, LanesOf(options), symmetric, &lanes_);
  }
  // The function that takes the spans of each rank that is simulated itself, once for each. Thread-safe.
  // Null: nothing is measured.
  std::function<void(uint32_t rank, const std::vector<NodeSpan>& spans)> hook() {
    if (!steps_.has_value() && !activity_.has_value()) return nullptr;
    return [this](uint32_t rank, const std::vector<NodeSpan>& spans) {
      if (steps_.has_value()) steps_->Measure(rank, spans);
      if (overlap_.has_value()) overlap_->Measure(rank, spans);
      if (activity_.has_value()) activity_->Measure(rank, spans);
    };
  }
  // The lanes of the graphs, for the engine of the run.
  LaneNames* lane_names() { return &lanes_; }
  // Null: the traces are not captures.
  StepMeter* steps() { return steps_.has_value() ? &*steps_ : nullptr; }
  void AddTo(Time makespan, proto::Report* report) const {
    if (overlap_.has_value()) overlap_->AddTo(report);
    if (activity_.has_value()) activity_->AddTo(makespan, report);
  }

 private:
  LaneNames lanes_;
  std::optional<StepMeter> steps_;
  std::optional<OverlapMeter> overlap_;
  std::optional<ActivityMeter> activity_;
};

}  // namespace chakra
