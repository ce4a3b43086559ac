// Times that ASTRA-sim 2.x gives for its own inputs, against this engine with the same model: its GB/s (2^30
// bytes in 1e9 ns), chunks, overhead of each step and cost of reductions. The test prints the table;
// test/README.md has a copy, with the reason for each difference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "backends/analytical/options.h"
#include "backends/registry.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "test/replay/trace_builder.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;
using Kind = TopologyDimension::Kind;

struct Row {
  T type;
  int ranks;
  int64_t bytes;
  Kind kind;
  bool aware;  // congestion-aware: analytical-fifo, store and forward
  double astra_ns;
};

double ReplayNs(const Row& row) {
  TraceBuilder b(row.ranks);
  for (int r = 0; r < row.ranks; ++r) b.Coll(r, row.type, row.bytes);
  const TraceSet traces = *b.Build();
  TopologyDimension d;
  d.kind = row.kind;
  d.size = row.ranks;
  d.bandwidth = Bandwidth::BytesPerSecond(int64_t{50} << 30);
  d.latency = Time::Nanos(500);
  FabricOptions fabric_options;
  fabric_options.Ask<PathOptions>().store_and_forward = row.aware;
  auto fabric =
      *MakeMachine(row.aware ? "analytical-fifo" : "analytical", *Topology::Make({d}), fabric_options);
  EngineOptions options;
  options.lanes = LanePolicy::kSingle;
  options.collectives.splits = 4;
  options.collectives.algorithm["all_to_all"] = "direct";
  options.collectives.step_overhead = Time::Nanos(10);
  options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(1600000000000);
  std::vector<ComputeTimes> compute(1);
  compute[0].time.resize(1);
  compute[0].time_source.resize(1, TimeSource::kNone);
  compute.resize(DistinctGraphs(traces).graphs.size(), compute[0]);
  const absl::StatusOr<Metrics> metrics = Replay(traces, compute, *fabric, options);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return metrics.ok() ? static_cast<double>(metrics->makespan.picos()) / 1000 : 0;
}

TEST(AstraSimTable, CollectivesMatchAstraSim) {
  constexpr int64_t kMi = 1 << 20, kGi = 1 << 30;
  const Row rows[] = {
      {T::kAllReduce, 4, kMi, Kind::kRing, false, 43000},
      {T::kAllReduce, 4, 8, Kind::kRing, false, 12280},
      {T::kAllReduce, 64, kGi, Kind::kRing, true, 41613556},
      {T::kAllReduce, 64, kMi, Kind::kSwitch, false, 548896},
      {T::kAllReduce, 64, kMi, Kind::kSwitch, true, 587200},
      {T::kAllReduce, 64, kGi, Kind::kSwitch, false, 41865556},
      {T::kAllReduce, 64, kGi, Kind::kSwitch, true, 81240556},
      {T::kAllReduce, 256, kMi, Kind::kRing, false, 1079200},
      {T::kAllReduce, 256, kGi, Kind::kRing, true, 42887980},
      {T::kAllReduce, 256, kMi, Kind::kSwitch, true, 2137960},
      {T::kAllReduce, 1024, kGi, Kind::kRing, false, 46129156},
      {T::kAllReduce, 1024, kMi, Kind::kSwitch, false, 8298616},
      // Direct all-to-all: all messages leave at once and queue at the port.
      {T::kAllToAll, 64, kMi, Kind::kSwitch, true, 23536},
      {T::kAllToAll, 8, kMi, Kind::kSwitch, true, 23600},
  };
  std::printf("%-12s %5s %11s %-7s %-5s %14s %16s %9s\n", "collective", "ranks", "bytes", "network", "",
              "ASTRA-sim, ns", "chakra-replay, ns", "ratio");
  for (const Row& row : rows) {
    const double ns = ReplayNs(row);
    std::printf("%-12s %5d %11lld %-7s %-5s %14.0f %16.3f %9.5f\n", std::string(Name(row.type)).c_str(),
                row.ranks, static_cast<long long>(row.bytes), row.kind == Kind::kRing ? "Ring" : "Switch",
                row.aware ? "A" : "U", row.astra_ns, ns, ns / row.astra_ns);
    const double steps = row.ranks - 1;
    if (row.type == T::kAllReduce) {
      // ASTRA-sim cuts each of 2 (n - 1) transfers, and on a switch each of its
      // two hops, and three memory accesses of n - 1 reductions, to whole ns.
      const double cut = 4 * (2 * steps * (row.aware && row.kind == Kind::kSwitch ? 2 : 1) + 3 * steps);
      EXPECT_GE(ns, row.astra_ns) << row.ranks << " ranks, " << row.bytes << " bytes";
      EXPECT_LE(ns, row.astra_ns + cut) << row.ranks << " ranks, " << row.bytes << " bytes";
    } else {
      EXPECT_GE(ns, row.astra_ns) << row.ranks << " ranks";
      EXPECT_LE(ns, row.astra_ns + 4 * (steps + 2)) << row.ranks << " ranks";  // cut to whole ns
    }
  }
}

TEST(AstraSimTable, OneMessageMatchesAstraSim) {
  TraceBuilder b(2);
  b.Send(0, 1, 1 << 20, 0);
  b.Recv(1, 0, 1 << 20, 0);
  const TraceSet traces = *b.Build();
  TopologyDimension d;
  d.kind = Kind::kRing;
  d.size = 2;
  d.bandwidth = Bandwidth::BytesPerSecond(int64_t{50} << 30);
  d.latency = Time::Nanos(500);
  auto fabric = *MakeMachine("analytical", *Topology::Make({d}), FabricOptions());
  ComputeTimes none;
  none.time.resize(1);
  none.time_source.resize(1, TimeSource::kNone);
  const absl::StatusOr<Metrics> metrics = Replay(traces, {none, none}, *fabric, EngineOptions());
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_EQ(metrics->makespan.picos(), 20031250);  // ASTRA-sim: 20,031 ns, cut to whole ns
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
