// Helpers of the tests of the engine: a mesh, and runs on recorded durations.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "test/replay/interpreter.h"
#include "test/replay/trace_builder.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {

inline constexpr int64_t kUs = 1000000;  // picoseconds

inline const Wire kWire = {Time::Nanos(500), Bandwidth::BytesPerSecond(50000000000)};  // 20 ps a byte

inline Topology Mesh(int devices, Wire wire = kWire) {
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kFullyConnected;
  d.size = std::max(2, devices);
  d.bandwidth = wire.bandwidth;
  d.latency = wire.latency;
  return *Topology::Make({d});
}

// Compute times that are the recorded durations.
inline std::vector<ComputeTimes> Recorded(const TraceSet& traces) {
  std::vector<ComputeTimes> all;
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    ComputeTimes times;
    for (uint32_t row = 0; row < graph->size(); ++row) {
      times.time.push_back(graph->type[row] == NodeType::kComp ? graph->duration[row] : Time::Zero());
      times.time_source.push_back(TimeSource::kRecorded);
    }
    all.push_back(std::move(times));
  }
  return all;
}

inline absl::StatusOr<Metrics> Replayed(const TraceBuilder& builder, EngineOptions options,
                                        const char* fabric_name = "analytical") {
  absl::StatusOr<TraceSet> traces = builder.Build();
  if (!traces.ok()) return traces.status();
  auto fabric = MakeMachine(fabric_name, Mesh(static_cast<int>(traces->ranks.size())), FabricOptions());
  if (!fabric.ok()) return fabric.status();
  return Replay(*traces, Recorded(*traces), **fabric, options);
}

inline int64_t Makespan(const TraceBuilder& builder, EngineOptions options = {},
                        const char* fabric = "analytical") {
  absl::StatusOr<Metrics> metrics = Replayed(builder, options, fabric);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return metrics.ok() ? metrics->makespan.picos() : -1;
}

inline EngineOptions Lanes(LanePolicy policy) {
  EngineOptions options;
  options.lanes = policy;
  return options;
}

// The error of a run that fails.
inline std::string ErrorOf(const TraceBuilder& b, EngineOptions options = {}) {
  const absl::StatusOr<Metrics> m = Replayed(b, options);
  EXPECT_FALSE(m.ok());
  return std::string(m.status().message());
}

}  // namespace chakra
