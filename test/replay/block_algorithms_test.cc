// Algorithms for groups of nested blocks, and algorithms that compute in switches: proofs, closed forms on
// links without contention (a message takes alpha, and beta for each byte, to a switch or between members),
// and bytes.
#include <gmock/gmock.h>

#include <set>

#include "engine_testing.h"
#include "plan_clock.h"
#include "replay/collectives/validate.h"
#include "replay/engine/engine.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;
using Kind = TopologyDimension::Kind;
using Blocks = std::vector<int>;
constexpr int64_t kAlpha = 500000, kBeta = 20;  // ps, ps a byte: kWire
constexpr int kPieces = 8;                      // unless a test gives another number

Plan Build(const char* algorithm, T type, const Blocks& blocks, int pieces = kPieces) {
  PlanRequest request{.type = type, .algorithm = algorithm, .members = 1, .blocks = blocks, .pieces = pieces};
  for (const int size : blocks) request.members *= size;
  absl::StatusOr<Plan> plan = BuildPlan(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : Plan();
}

// On a machine with a dimension for each level of blocks: a switch for level `switched`, meshes for the
// others.
int64_t Replayed(const char* algorithm, T type, const Blocks& blocks, int switched, int64_t bytes,
                 const char* on = "analytical") {
  std::vector<TopologyDimension> dimensions;
  int ranks = 1;
  for (size_t l = 0; l < blocks.size(); ++l) {
    TopologyDimension d;
    d.kind = static_cast<int>(l) == switched ? Kind::kSwitch : Kind::kFullyConnected;
    d.size = blocks[l];
    d.bandwidth = kWire.bandwidth;
    d.latency = kWire.latency;
    dimensions.push_back(d);
    ranks *= blocks[l];
  }
  TraceBuilder b(ranks);
  for (int r = 0; r < ranks; ++r) b.Coll(r, type, bytes);
  EngineOptions options;
  options.collectives.algorithm[std::string(Name(type))] = algorithm;
  absl::StatusOr<TraceSet> traces = b.Build();
  auto fabric = MakeMachine(on, *Topology::Make(dimensions), FabricOptions());
  absl::StatusOr<Metrics> metrics = Replay(*traces, Recorded(*traces), **fabric, options);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return metrics.ok() ? metrics->makespan.picos() : -1;
}

int64_t Clock(const char* algorithm, T type, const Blocks& blocks, int pieces, int64_t bytes) {
  const Plan plan = Build(algorithm, type, blocks, pieces);
  return PlanClock(plan, bytes, kAlpha, kBeta).Run();
}

// The time by the replay, which must equal the time by the clock. It must be the same on links that serve one
// message at a time, because streams of a plan do not share links. The two trees are an exception: they share
// the links of a member.
int64_t Took(const char* algorithm, T type, const Blocks& blocks, int64_t bytes, int switched = -1) {
  const int64_t replayed = Replayed(algorithm, type, blocks, switched, bytes);
  EXPECT_EQ(Clock(algorithm, type, blocks, kPieces, bytes), replayed) << algorithm;
  if (std::string(algorithm).find("tree") == std::string::npos) {
    EXPECT_EQ(Replayed(algorithm, type, blocks, switched, bytes, "analytical-fifo"), replayed) << algorithm;
  }
  return replayed;
}

TEST(BlockAlgorithms, AllNestedBlocksAreProved) {
  const auto prove = [](const Blocks& blocks) {
    for (const T type : {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kAllToAll}) {
      for (const std::string& name : AlgorithmsFor(type)) {
        static const std::set<std::string> nested = {"hierarchical", "themis",  "double_binary_tree",
                                                     "nvls_tree",    "collnet", "pxn"};
        if (nested.count(name) == 0) continue;
        const int all = blocks.size() == 2 ? blocks[0] * blocks[1] : blocks[0] * blocks[1] * blocks[2];
        if ((name == "nvls_tree" && blocks[0] == 1) || (name == "collnet" && blocks[0] == all)) continue;
        const absl::Status valid = ValidatePlan(Build(name.c_str(), type, blocks, all > 32 ? 2 : 3), 0);
        EXPECT_TRUE(valid.ok()) << valid;
      }
    }
  };
  std::vector<int> sizes = {64};
  for (int n = 2; n <= 33; ++n) sizes.push_back(n);
  for (const int n : sizes) {
    for (int a = 1; a <= n; ++a) {
      if (n % a != 0) continue;
      prove({a, n / a});
      for (int b = 2; b < n / a; ++b) {
        if (a > 1 && n / a % b == 0) prove({a, b, n / a / b});
      }
    }
  }
  prove({1, 3, 4});
  prove({3, 1, 4});
  prove({3, 4, 1});
}

TEST(BlockAlgorithms, SwitchAlgorithmsAreProvedForAnyPieces) {
  for (const int n : {2, 3, 8, 17, 33}) {
    for (const int pieces : {1, 2, 7}) {
      for (const T type : {T::kAllReduce, T::kAllGather, T::kReduceScatter}) {
        const absl::Status valid = ValidatePlan(Build("nvls", type, {n}, pieces), 0);
        EXPECT_TRUE(valid.ok()) << valid;
      }
    }
  }
}

// Rings level by level; each ring carries the part that the levels below have left.
TEST(BlockAlgorithms, HierarchicalMatchesClosedForms) {
  for (const Blocks& blocks : std::vector<Blocks>{{2, 2}, {4, 2}, {2, 4}, {3, 5}, {2, 3, 4}, {4, 2, 2}}) {
    int n = 1;
    for (const int k : blocks) n *= k;
    const int64_t s = int64_t{960} * n;
    int64_t reduce = 0, scatter = 0, gather = 0, below = 1;
    for (const int k : blocks) {
      below *= k;
      reduce += 2 * (k - 1) * (kAlpha + s / below * kBeta);
      scatter += (k - 1) * (kAlpha + s / below * kBeta);
      gather += (k - 1) * (kAlpha + s * n / below * kBeta);
    }
    EXPECT_EQ(Took("hierarchical", T::kAllReduce, blocks, s), reduce);
    EXPECT_EQ(Took("hierarchical", T::kReduceScatter, blocks, s), scatter);
    EXPECT_EQ(Took("hierarchical", T::kAllGather, blocks, s), gather);
  }
}

TEST(BlockAlgorithms, EachLevelMayHaveItsOwnAlgorithm) {
  int proved = 0;
  const std::vector<std::string> names = {"ring", "direct", "halving_doubling"};
  for (const Blocks& blocks : std::vector<Blocks>{{4, 4}, {8, 2}, {3, 4}, {2, 2, 4}, {3, 2, 4}}) {
    for (const std::string& below : names) {
      for (const std::string& above : names) {
        PlanRequest r{.algorithm = below, .members = 1, .blocks = blocks};
        for (size_t l = 1; l < blocks.size(); ++l) r.algorithm += "+" + above;
        for (const int k : blocks) r.members *= k;
        const bool halves = r.algorithm.find("halving") != std::string::npos;
        if (below == "halving_doubling" && blocks[0] == 3) continue;
        for (const T type : {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kAllToAll}) {
          r.type = type;
          if (type == T::kAllToAll && halves) {
            EXPECT_THAT(std::string(BuildPlan(r).status().message()), testing::HasSubstr("all_to_all"));
            continue;
          }
          for (const auto& [parts, at_once] : {std::pair{1, 1}, {3, 1}, {4, 2}}) {
            r.parts = parts;
            r.at_once = at_once;
            const absl::StatusOr<Plan> plan = BuildPlan(r);
            ASSERT_TRUE(plan.ok()) << plan.status();
            const absl::Status valid = ValidatePlan(*plan, 0);
            EXPECT_TRUE(valid.ok()) << valid;
            ++proved;
          }
        }
      }
    }
  }
  EXPECT_GT(proved, 300);
  PlanRequest r{.algorithm = "halving_doubling+ring", .members = 12, .blocks = {3, 4}};
  EXPECT_THAT(std::string(BuildPlan(r).status().message()), testing::HasSubstr("expected a power of two"));
  r.algorithm = "ring+ring+ring";
  EXPECT_THAT(std::string(BuildPlan(r).status().message()), testing::HasSubstr("for each of 2 levels"));
}

// On k x k, the parts take the levels in turn, two at a time: while one part scatters over the first level,
// another scatters over the second; then they swap.
TEST(BlockAlgorithms, ThemisKeepsBothLevelsBusy) {
  for (const int k : {2, 3, 4}) {
    const int64_t s = int64_t{960} * 8 * k * k, part = s / kPieces;
    const int64_t pair = 2 * (k - 1) * (2 * kAlpha + (part / k + part / (k * k)) * kBeta);
    EXPECT_EQ(Took("themis", T::kAllReduce, {k, k}, s), kPieces / 2 * pair);
  }
  // With one level, the parts run one after another.
  EXPECT_EQ(Clock("themis", T::kAllReduce, {2, 1}, 8, 16000), 16 * (kAlpha + 1000 * kBeta));
  EXPECT_LT(Took("themis", T::kAllReduce, {4, 2}, 1 << 26),
            Took("hierarchical", T::kAllReduce, {4, 2}, 1 << 26));
}

// Bytes over bandwidth are equal on both levels, with 64 parts.
TEST(BlockAlgorithms, ThemisBalancesTheLevels) {
  for (const std::vector<double>& bandwidth : std::vector<std::vector<double>>{{}, {2, 1}, {1, 2}}) {
    absl::StatusOr<Plan> plan = BuildPlan({.type = T::kAllReduce,
                                           .algorithm = "themis",
                                           .members = 16,
                                           .blocks = {4, 4},
                                           .bandwidth = bandwidth,
                                           .pieces = 64});
    ASSERT_TRUE(plan.ok()) << plan.status();
    double load[2] = {0, 0};
    const auto traffic = TrafficOf(*plan, 64 * 16 * 100);
    ASSERT_TRUE(traffic.ok()) << traffic.status();
    for (const PairTraffic& pair : *traffic) {
      const int level = pair.from / 4 == pair.to / 4 ? 0 : 1;
      load[level] += static_cast<double>(pair.bytes) / (bandwidth.empty() ? 1 : bandwidth[level]);
    }
    EXPECT_NEAR(load[0] / load[1], 1, 0.05);
  }
}

// A chain: each piece goes up n - 1 hops and down again; the pieces of a half follow one another.
TEST(BlockAlgorithms, DoubleTreeOfOneBlockIsAChain) {
  for (const int n : {2, 3, 5, 8}) {
    for (const int pieces : {1, 4, 8}) {
      const int64_t piece = 1000, s = 2 * pieces * piece;
      EXPECT_EQ(Clock("double_binary_tree", T::kAllReduce, {n}, pieces, s),
                2 * (n - 1) * (kAlpha + piece * kBeta) + (pieces - 1) * piece * kBeta);
    }
  }
}

// Two chains of k members: the head of one is the root, the head of the other its child. The root has a piece
// after k hops. It sends the piece to the other head and down its own chain at the same time, and the last
// piece goes k hops down.
TEST(BlockAlgorithms, DoubleTreeOfTwoBlocksJoinsChains) {
  for (const int k : {2, 3, 4}) {
    const int64_t piece = 1000;
    EXPECT_EQ(Took("double_binary_tree", T::kAllReduce, {k, 2}, 16 * piece),
              2 * k * (kAlpha + piece * kBeta) + (kPieces - 1) * piece * kBeta);
  }
}

// A piece takes c, a share of a piece takes s. All P pieces go up, with all shares but the last in between (P
// c + (P - 1) s), and the last two pieces come down in full.
TEST(BlockAlgorithms, NvlsAllReduceMatchesClosedForms) {
  for (const int n : {2, 4, 8}) {
    for (const int pieces : {2, 3, 8}) {
      const int64_t piece = int64_t{200000} * n, c = piece * kBeta, s = c / n;
      ASSERT_LE(s + 2 * kAlpha, c);
      EXPECT_EQ(Clock("nvls", T::kAllReduce, {n}, pieces, pieces * piece),
                (pieces + 2) * c + (pieces - 1) * s + 2 * kAlpha);
      // Without bytes: two round trips, and two pieces in flight at once.
      EXPECT_EQ(Clock("nvls", T::kAllReduce, {n}, pieces, 0), (2 * ((pieces + 1) / 2) + 2) * kAlpha);
    }
    const int64_t c = int64_t{200000} * n * kBeta;
    EXPECT_EQ(Took("nvls", T::kAllReduce, {n}, int64_t{8} * 200000 * n, 0),
              10 * c + 7 * (c / n) + 2 * kAlpha);
  }
}

TEST(BlockAlgorithms, NvlsGatherAndScatterMatchClosedForms) {
  for (const int n : {2, 3, 8}) {
    const int64_t chunk = 960;
    EXPECT_EQ(Took("nvls", T::kAllGather, {n}, kPieces * chunk, 0),
              (1 + n * kPieces) * chunk * kBeta + 2 * kAlpha);
    EXPECT_EQ(Took("nvls", T::kReduceScatter, {n}, n * kPieces * chunk, 0),
              (1 + n * kPieces) * chunk * kBeta + 2 * kAlpha);
  }
}

TEST(BlockAlgorithms, NvlsTreeMatchesClosedForms) {
  for (const int k : {2, 4}) {
    // One piece between two blocks: up, share down, to the root and back, share up, down.
    const int64_t c = 16000 * kBeta, s = c / k;
    EXPECT_EQ(Clock("nvls_tree", T::kAllReduce, {k, 2}, 1, 16000), 2 * c + 4 * s + 6 * kAlpha);
    EXPECT_EQ(Clock("nvls_tree", T::kAllReduce, {k, 2}, 5, 0), 6 * kAlpha);
  }
  // Two large pieces: two up, then the first share, and both down; they hide the traffic between the blocks.
  const int64_t c = 800000 * kBeta, s = c / 4;
  EXPECT_EQ(Clock("nvls_tree", T::kAllReduce, {4, 2}, 2, 1600000), 4 * c + s + 2 * kAlpha);
  EXPECT_GT(Took("nvls_tree", T::kAllReduce, {4, 2}, 8000000, 0), 0);
}

// One piece, with a share for each member: direct, up, down, direct. With many pieces, the links inside the
// block never idle, because they hide the network's share.
TEST(BlockAlgorithms, CollnetMatchesClosedForms) {
  for (const int k : {1, 2, 4}) {
    EXPECT_EQ(Clock("collnet", T::kAllReduce, {k, 3}, 1, 16000),
              2 * 16000 * kBeta + (k == 1 ? 2 : 4) * kAlpha);
  }
  for (const int k : {2, 3, 4, 8}) {
    const int64_t share = 160000, r = (k - 1) * share * kBeta;
    ASSERT_GE(4 * r, 2 * share * kBeta + 3 * kAlpha);  // four pieces in flight
    EXPECT_EQ(Took("collnet", T::kAllReduce, {k, 2}, kPieces * k * share, 1), 2 * kPieces * r + kAlpha);
  }
}

TEST(BlockAlgorithms, AllToAllMatchesClosedForms) {
  for (const Blocks& blocks : std::vector<Blocks>{{2, 2}, {4, 2}, {2, 4}, {3, 5}}) {
    const int64_t k = blocks[0], b = blocks[1], block = 960;
    EXPECT_EQ(Took("hierarchical", T::kAllToAll, blocks, k * b * block),
              2 * kAlpha + ((k - 1) * b + (b - 1) * k) * block * kBeta);
    // The members wait only for the bytes to the first of the other blocks.
    EXPECT_EQ(Took("pxn", T::kAllToAll, blocks, k * b * block),
              2 * kAlpha + (k - 1 + (b - 1) * k) * block * kBeta);
  }
}

// Sizes that do not divide evenly: chunks differ by a byte, and the replay still equals the clock to the
// picosecond.
TEST(BlockAlgorithms, UnevenBytesMatchTheClock) {
  for (const int64_t bytes : {1, 7, 1000003}) {
    for (const char* name : {"hierarchical", "themis", "double_binary_tree"}) {
      EXPECT_GT(Took(name, T::kAllReduce, {4, 3}, bytes), 0);
    }
    EXPECT_GT(Took("hierarchical", T::kReduceScatter, {2, 2, 3}, bytes), 0);
    EXPECT_GT(Took("hierarchical", T::kAllGather, {2, 2, 3}, bytes), 0);
    EXPECT_GT(Took("hierarchical", T::kAllToAll, {4, 3}, bytes), 0);
    EXPECT_GT(Took("pxn", T::kAllToAll, {4, 3}, bytes), 0);
    for (const T type : {T::kAllReduce, T::kAllGather, T::kReduceScatter}) {
      EXPECT_GT(Took("nvls", type, {5}, bytes, 0), 0);
    }
    EXPECT_GT(Took("nvls_tree", T::kAllReduce, {3, 5}, bytes, 0), 0);
    EXPECT_GT(Took("collnet", T::kAllReduce, {3, 5}, bytes, 1), 0);
  }
}

// The bytes that a node of `plan` sends to, and receives from, the nodes that `where` accepts.
template <typename Where>
std::pair<uint64_t, uint64_t> BytesOf(const Plan& plan, uint64_t bytes, int node, Where where) {
  const auto traffic = TrafficOf(plan, bytes);
  EXPECT_TRUE(traffic.ok()) << traffic.status();
  std::pair<uint64_t, uint64_t> sum{0, 0};
  for (const PairTraffic& pair : *traffic) {
    if (pair.from == node && where(pair.to)) sum.first += pair.bytes;
    if (pair.to == node && where(pair.from)) sum.second += pair.bytes;
  }
  return sum;
}
using Sum = std::pair<uint64_t, uint64_t>;

TEST(BlockAlgorithms, MembersMoveTheExpectedBytes) {
  const auto any = [](int) { return true; };
  const uint64_t s = 96000;
  for (const int n : {2, 4, 8}) {
    const uint64_t each = s + s / static_cast<uint64_t>(n);
    const Plan nvls = Build("nvls", T::kAllReduce, {n});
    for (const int m : {0, n - 1}) EXPECT_EQ(BytesOf(nvls, s, m, any), (Sum{each, each}));
    EXPECT_EQ(BytesOf(Build("nvls", T::kAllGather, {n}), s, 1, any), (Sum{s, s * n}));
    EXPECT_EQ(BytesOf(Build("nvls", T::kReduceScatter, {n}), s, 1, any), (Sum{s, s / n}));
    const uint64_t half = s * static_cast<uint64_t>(n - 1) / n;  // to each neighbour
    const auto right = [](int peer) { return peer == 1; };
    if (n > 2) {
      EXPECT_EQ(BytesOf(Build("bidirectional_ring", T::kAllReduce, {n}), s, 0, right), (Sum{half, half}));
    }
  }
  // Three blocks of 4.
  const auto other_block = [](int peer) { return peer >= 4 && peer < 12; };
  const auto own_block = [](int peer) { return peer < 4; };
  const auto in_switch = [](int peer) { return peer >= 12; };
  const Plan rings = Build("hierarchical", T::kAllReduce, {4, 3});
  EXPECT_EQ(BytesOf(rings, s, 1, own_block), (Sum{s * 3 / 2, s * 3 / 2}));
  EXPECT_EQ(BytesOf(rings, s, 1, other_block), (Sum{s / 3, s / 3}));
  const Plan tree = Build("nvls_tree", T::kAllReduce, {4, 3});
  EXPECT_EQ(BytesOf(tree, s, 1, in_switch), (Sum{s + s / 4, s + s / 4}));
  EXPECT_LE(BytesOf(tree, s, 1, other_block).first, 3 * s / 4);
  // With four blocks: a member that passes shares on to two others in one tree has no children in the other
  // tree.
  const Plan two_trees = Build("nvls_tree", T::kAllReduce, {4, 4});
  for (const int m : {0, 5, 10, 15}) {
    const Sum moved = BytesOf(two_trees, s, m, [m](int peer) { return peer < 16 && peer / 4 != m / 4; });
    EXPECT_LE(moved.first, 2 * s / 4);
    EXPECT_LE(moved.second, 2 * s / 4);
  }
  const Plan collnet = Build("collnet", T::kAllReduce, {4, 3});
  EXPECT_EQ(BytesOf(collnet, s, 1, in_switch), (Sum{s / 4, s / 4}));
  EXPECT_EQ(BytesOf(collnet, s, 1, own_block), (Sum{s * 3 / 2, s * 3 / 2}));
  EXPECT_EQ(BytesOf(collnet, s, 1, other_block), (Sum{0, 0}));
  for (const char* name : {"hierarchical", "pxn"}) {  // only to the same place of another block
    const Plan plan = Build(name, T::kAllToAll, {4, 3});
    EXPECT_EQ(BytesOf(plan, s, 1, other_block), (Sum{s * 2 / 3, s * 2 / 3}));
    EXPECT_EQ(BytesOf(plan, s, 1, [](int peer) { return peer == 5 || peer == 9; }),
              (Sum{s * 2 / 3, s * 2 / 3}));
    EXPECT_EQ(BytesOf(plan, s, 1, own_block), (Sum{s * 3 / 4, s * 3 / 4}));
  }
}

std::string Refused(PlanRequest request, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  const absl::StatusOr<Plan> plan = BuildPlan(request);
  EXPECT_EQ(plan.status().code(), code) << request.algorithm;
  return std::string(plan.status().message());
}

TEST(BlockAlgorithms, RefusalsNameTheExpectedValue) {
  using ::testing::HasSubstr;
  PlanRequest r{.algorithm = "hierarchical", .members = 8};
  for (const char* name : {"hierarchical", "themis", "nvls_tree", "collnet"}) {
    for (const Blocks& blocks : std::vector<Blocks>{{}, {8}}) {
      r.algorithm = name;
      r.blocks = blocks;
      EXPECT_THAT(Refused(r, absl::StatusCode::kFailedPrecondition), HasSubstr("expected at least 2"));
    }
  }
  r.blocks = {3, 3};
  EXPECT_THAT(Refused(r), HasSubstr("blocks 3 x 3 hold more ranks, expected 8"));
  r.blocks = {2, 3};
  EXPECT_THAT(Refused(r), HasSubstr("blocks 2 x 3 hold 6 ranks, expected 8"));
  r.blocks = {8, 0};
  EXPECT_THAT(Refused(r), HasSubstr("blocks[1] is 0"));
  r.blocks = {8, 1};
  EXPECT_THAT(Refused(r), HasSubstr("at least 2 blocks"));  // collnet
  r.algorithm = "nvls_tree";
  r.blocks = {1, 8};
  EXPECT_THAT(Refused(r), HasSubstr("blocks[0] is 1"));
  r.algorithm = "themis";
  r.bandwidth = {1};
  EXPECT_THAT(Refused(r), HasSubstr("bandwidth has 1 levels, expected 2"));
  r.bandwidth = {1, 0};
  EXPECT_THAT(Refused(r), HasSubstr("bandwidth[1] is 0"));
  r.bandwidth.clear();
  r.pieces = 0;
  EXPECT_THAT(Refused(r), HasSubstr("pieces is 0, expected 1 to"));
  r = {.type = T::kAllToAll, .algorithm = "hierarchical", .members = 1 << 14, .blocks = {128, 128}};
  EXPECT_THAT(Refused(r), HasSubstr("steps, expected at most"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
