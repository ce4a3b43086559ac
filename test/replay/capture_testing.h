// Replays captures through the library, with all spans, for tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "replay/cluster/load.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "replay/run/cluster_model.h"
#include "replay/run/steps.h"
#include "trace/et/read_options.h"
#include "trace/import/pytorch/read_capture.h"
#include "trace/import/reader.h"
#include "trace/model/capture_info.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::acceptance {

// A capture, and its replay.
struct Replayed {
  TraceSet traces;
  std::vector<ComputeTimes> times;
  NodeSpans spans;
  Metrics metrics;
  std::vector<StepMetrics> steps;

  const Graph& graph(uint32_t rank) const { return *traces.ranks[rank].graph; }
  // The time of a step on one rank.
  const StepMetrics* Step(int rank, const std::string& name) const {
    for (const StepMetrics& s : steps) {
      if (s.recorded_rank == rank && s.name == name) return &s;
    }
    return nullptr;
  }
};

// `change` edits compute times before the run; null: no edit.
inline void Run(Replayed* r, LanePolicy lanes, const std::function<void(Replayed*)>& change) {
  auto proto = LoadCluster("dgx-h100");
  ASSERT_TRUE(proto.ok()) << proto.status();
  auto cluster = BuildCluster(*proto, static_cast<int>(r->traces.ranks.size()));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  auto fabric = MakeMachine("analytical", cluster->topology, {});
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  ComputeModel model;
  model.time_sources = {TimeSource::kRecorded};
  model.zeros_recorded = true;
  ComputeNotes notes;
  for (const Graph* graph : DistinctGraphs(r->traces).graphs) {
    auto times = PriceGraph(*graph, model, &notes);
    ASSERT_TRUE(times.ok()) << times.status();
    r->times.push_back(*std::move(times));
  }
  if (change != nullptr) change(r);
  EngineOptions options;
  options.lanes = lanes;
  options.recorded_comm = true;
  options.spans = &r->spans;
  auto metrics = Replay(r->traces, r->times, **fabric, options);
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  r->metrics = *std::move(metrics);
  std::vector<std::optional<CaptureInfo>> captures;
  for (const RankTrace& trace : r->traces.ranks) {
    auto info = ReadCaptureInfo(trace);
    ASSERT_TRUE(info.ok()) << info.status();
    ASSERT_TRUE(info->has_value());
    captures.push_back(*std::move(info));
  }
  r->steps = MeasureSteps(r->traces, captures, r->spans);
}

inline Replayed ReplayOf(const std::vector<std::string>& inputs,
                         const std::function<void(Replayed*)>& change = nullptr,
                         LanePolicy lanes = LanePolicy::kRecorded) {
  Replayed r;
  ReadOptions options;
  options.threads = 2;
  auto traces = ReadTraceSet(inputs, options);
  EXPECT_TRUE(traces.ok()) << traces.status();
  if (!traces.ok()) return r;
  r.traces = *std::move(traces);
  Run(&r, lanes, change);
  return r;
}

inline pytorch::Capture MustRead(const std::vector<std::string>& inputs, const ReadOptions& options = {}) {
  auto capture = pytorch::ReadCapture(inputs, options);
  EXPECT_TRUE(capture.ok()) << capture.status();
  return capture.ok() ? *std::move(capture) : pytorch::Capture();
}

}  // namespace chakra::acceptance
