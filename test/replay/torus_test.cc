// Collectives over the axes of a torus: proofs of plans, and closed forms on links without contention.
#include <gmock/gmock.h>

#include <cmath>

#include "engine_testing.h"
#include "replay/cluster/load.h"
#include "replay/cluster/topology.h"
#include "replay/collectives/validate.h"
#include "replay/engine/engine.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using T = CollectiveType;
using Blocks = std::vector<int>;
constexpr int64_t kAlpha = 500000, kBeta = 20;  // ps, ps a byte: kWire

Plan Build(T type, const Blocks& blocks, int axes) {
  PlanRequest request{.type = type, .algorithm = "torus", .members = 1, .blocks = blocks, .axes = axes};
  for (const int size : blocks) request.members *= size;
  absl::StatusOr<Plan> plan = BuildPlan(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : Plan();
}

TEST(Torus, AllPlansAreProved) {
  for (const Blocks& blocks :
       std::vector<Blocks>{{2}, {5}, {4, 4}, {2, 4}, {3, 5}, {2, 3, 4}, {4, 2, 2}, {4, 4, 2}}) {
    for (int axes = 0; axes <= static_cast<int>(blocks.size()); ++axes) {
      for (const T type : {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kAllToAll}) {
        const absl::Status valid = ValidatePlan(Build(type, blocks, axes), 0);
        EXPECT_TRUE(valid.ok()) << valid << " axes " << axes;
      }
    }
  }
}

int64_t Replayed(T type, const Blocks& axes, int64_t bytes, const char* on) {
  std::vector<TopologyDimension> dimensions;
  int ranks = 1;
  for (const int size : axes) {
    TopologyDimension d;
    d.kind = TopologyDimension::Kind::kRing;
    d.size = size;
    d.bandwidth = kWire.bandwidth;
    d.latency = kWire.latency;
    dimensions.push_back(d);
    ranks *= size;
  }
  TraceBuilder b(ranks);
  for (int r = 0; r < ranks; ++r) b.Coll(r, type, bytes);
  EngineOptions options;
  options.collectives.algorithm[std::string(Name(type))] = "torus";
  absl::StatusOr<TraceSet> traces = b.Build();
  auto fabric = MakeMachine(on, *Topology::Make(dimensions), FabricOptions());
  absl::StatusOr<Metrics> metrics = Replay(*traces, Recorded(*traces), **fabric, options);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return metrics.ok() ? metrics->makespan.picos() : -1;
}

// With d equal axes of k devices, all links carry data at all times: an all-gather of n shards of b bytes
// takes (n - 1) b / (2 d W), and d (k - 1) steps of latency; an all-reduce of B bytes takes twice (n - 1)/n B
// / (2 d W). On links that serve one message at a time it takes as long, since no two messages share a link.
TEST(Torus, EqualAxesMatchTheClosedForm) {
  for (const Blocks& axes : std::vector<Blocks>{{4, 4}, {8, 8}, {4, 4, 4}, {6}}) {
    const int64_t d = static_cast<int64_t>(axes.size()), k = axes[0];
    int64_t n = 1;
    for (const int size : axes) n *= size;
    const int64_t shard = 2 * d * 6000;
    const int64_t gather = (n - 1) * shard * kBeta / (2 * d) + d * (k - 1) * kAlpha;
    EXPECT_EQ(Replayed(T::kAllGather, axes, shard, "analytical"), gather);
    EXPECT_EQ(Replayed(T::kReduceScatter, axes, n * shard, "analytical"), gather);
    EXPECT_EQ(Replayed(T::kAllReduce, axes, n * shard, "analytical"), 2 * gather);
    EXPECT_EQ(Replayed(T::kAllGather, axes, shard, "analytical-fifo"), gather);
  }
}

// The price in closed form is that of the plan, also with unequal axes; bytes that do not divide cost the
// next multiple.
TEST(Torus, ThePriceIsThatOfThePlan) {
  for (const Blocks& axes : std::vector<Blocks>{{4, 8}, {3, 4, 5}}) {
    const int64_t parts = 2 * static_cast<int64_t>(axes.size());
    int64_t n = 1;
    for (const int size : axes) n *= size;
    const int64_t bytes = parts * n * 1000;
    for (const T type : {T::kAllGather, T::kReduceScatter, T::kAllReduce}) {
      const int64_t priced = Replayed(type, axes, bytes, "analytical");
      EXPECT_EQ(priced, Replayed(type, axes, bytes, "analytical-fifo")) << Name(type);
      EXPECT_EQ(Replayed(type, axes, bytes - 1, "analytical"), priced) << Name(type);
    }
  }
}

absl::StatusOr<BuiltTopology> TopologyOf(const std::string& cluster, int ranks) {
  absl::StatusOr<proto::Cluster> loaded = LoadCluster(cluster);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return BuildTopology(loaded->topology(), ranks);
}

// The slices of a pod: 16 of v6e close to a ring; smaller sides are lines, of half the rate.
TEST(Torus, SlicesAreAxes) {
  const auto rates = [](const std::string& cluster, int ranks) {
    const auto built = TopologyOf(cluster, ranks);
    EXPECT_TRUE(built.ok()) << built.status();
    std::vector<std::pair<int, double>> axes;
    for (const TopologyDimension& d : built->topology.dimensions())
      axes.emplace_back(d.size, static_cast<double>(d.bandwidth.bytes_per_second()) / 1e9);
    return axes;
  };
  using Axes = std::vector<std::pair<int, double>>;
  EXPECT_EQ(rates("tpu-v6e", 8), (Axes{{2, 46}, {4, 46}}));
  EXPECT_EQ(rates("tpu-v6e", 128), (Axes{{8, 46}, {16, 92}}));
  EXPECT_EQ(rates("tpu-v6e", 256), (Axes{{16, 92}, {16, 92}}));
  EXPECT_EQ(rates("tpu-v6e", 512), (Axes{{16, 92}, {16, 92}, {2, 12.5}}));
  EXPECT_EQ(rates("tpu-v7", 64), (Axes{{4, 92}, {4, 92}, {4, 92}}));
  EXPECT_EQ(rates("tpu-v5p", 4), (Axes{{2, 46}, {2, 46}}));
  EXPECT_EQ(rates("trn2", 32), (Axes{{4, 128}, {4, 128}, {2, 25}}));
  EXPECT_THAT(std::string(TopologyOf("tpu-v6e", 19).status().message()),
              HasSubstr("no v6e slice has 19 chips"));
}

TEST(Torus, OnlyGridsHaveAxes) {
  proto::Topology topology;
  proto::Dimension* d = topology.add_dimension();
  d->set_kind(proto::Dimension::NETWORK);
  d->mutable_network()->set_build("fat_tree:k=4");
  d->mutable_network()->set_span(proto::Network::EACH_AXIS);
  EXPECT_THAT(
      std::string(BuildTopology(topology, 16).status().message()),
      HasSubstr("topology.dimension[0].network.span is EACH_AXIS; expected a torus, mesh or tpu_pod"));
  d->mutable_network()->set_build("torus:shape=4x8,twist=yes");
  EXPECT_THAT(std::string(BuildTopology(topology, 32).status().message()), HasSubstr("without a twist"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
