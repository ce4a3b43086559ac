// Closed forms of the algorithms that are no collective's default, on a mesh without contention: a message of
// B bytes takes alpha + B beta. It occupies its sender for B beta, if the plan waits until the message has
// left.
#include <bit>
#include <map>

#include "engine_testing.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;
constexpr int64_t kAlpha = 500000, kBeta = 20;  // ps, ps a byte: kWire

int64_t Time1(const char* algorithm, T type, int ranks, int64_t bytes, bool fast) {
  TraceBuilder b(ranks);
  for (int r = 0; r < ranks; ++r) b.Coll(r, type, bytes);
  EngineOptions options;
  options.fast_paths = fast;
  options.collectives.algorithm[std::string(Name(type))] = algorithm;
  return Makespan(b, options);
}

int Log2(int n) {
  int k = 0;
  while (2 << k <= n) ++k;
  return k;
}

TEST(Algorithms, DirectAlgorithmsMatchClosedForms) {
  for (const bool fast : {true, false}) {
    for (const int n : {2, 3, 5, 8, 16}) {
      const int64_t s = int64_t{960} * n;
      // All messages of a member are under way at the same time.
      EXPECT_EQ(Time1("one_shot", T::kAllReduce, n, s, fast), s * kBeta + kAlpha);
      EXPECT_EQ(Time1("direct", T::kAllReduce, n, s, fast), 2 * (s / n * kBeta + kAlpha));
      EXPECT_EQ(Time1("direct", T::kReduceScatter, n, s, fast), s / n * kBeta + kAlpha);
      EXPECT_EQ(Time1("direct", T::kAllGather, n, s, fast), s * kBeta + kAlpha);
    }
  }
}

TEST(Algorithms, BidirectionalRingsMatchClosedForms) {
  for (const bool fast : {true, false}) {
    for (const int n : {2, 3, 5, 8, 16}) {
      const int64_t s = int64_t{960} * n;
      const int64_t step = kAlpha + s / (2 * n) * kBeta;
      EXPECT_EQ(Time1("bidirectional_ring", T::kAllReduce, n, s, fast), 2 * (n - 1) * step);
      EXPECT_EQ(Time1("bidirectional_ring", T::kReduceScatter, n, s, fast), (n - 1) * step);
      EXPECT_EQ(Time1("bidirectional_ring", T::kAllGather, n, s, fast), (n - 1) * (kAlpha + s / 2 * kBeta));
    }
  }
  for (const T type : {T::kAllReduce, T::kAllGather}) {  // on many ranks, in closed form
    TraceBuilder b(64);
    for (int r = 0; r < 64; ++r) b.Coll(r, type, 6400);
    EngineOptions options;
    options.collectives.algorithm[std::string(Name(type))] = "bidirectional_ring";
    const absl::StatusOr<Metrics> metrics = Replayed(b, options);
    ASSERT_TRUE(metrics.ok()) << metrics.status();
    EXPECT_EQ(metrics->fast_collectives, 1u);
  }
}

// Each member sends as many blocks as in a ring, but in ceil(log2 n) rounds.
TEST(Algorithms, AggregatedTreesMatchClosedForms) {
  for (const bool fast : {true, false}) {
    for (const int n : {2, 3, 4, 5, 7, 8, 12, 16, 33}) {
      const int64_t s = int64_t{960} * n, rounds = Log2(2 * n - 1);
      EXPECT_EQ(Time1("pat", T::kAllGather, n, s, fast), rounds * kAlpha + (n - 1) * s * kBeta);
      EXPECT_EQ(Time1("pat", T::kReduceScatter, n, s, fast), rounds * kAlpha + (n - 1) * (s / n) * kBeta);
    }
  }
}

TEST(Algorithms, AllToAllAlgorithmsMatchClosedForms) {
  for (const int n : {2, 3, 4, 5, 8, 12, 16, 33}) {
    const int64_t block = 960, s = block * n;
    EXPECT_EQ(Time1("direct", T::kAllToAll, n, s, true), kAlpha + block * kBeta);
    EXPECT_EQ(Time1("direct", T::kAllToAll, n, s, false), kAlpha + block * kBeta);
    for (const bool fast : {true, false})  // a block for the rank d places on is passed on d times
      EXPECT_EQ(Time1("ring", T::kAllToAll, n, s, fast), n * (n - 1) / 2 * (kAlpha + block * kBeta));
    // In round d, the blocks move whose distance has bit d set.
    int64_t moved = 0;
    for (int j = 1; j < n; ++j) moved += std::popcount(static_cast<unsigned>(j));
    EXPECT_EQ(Time1("bruck", T::kAllToAll, n, s, true), Log2(2 * n - 1) * kAlpha + moved * block * kBeta);
  }
}

TEST(Algorithms, RecursiveAlgorithmsMatchClosedForms) {
  for (const int n : {2, 4, 8, 16, 64}) {
    const int64_t s = int64_t{960} * n;
    EXPECT_EQ(Time1("recursive_doubling", T::kAllReduce, n, s, true), Log2(n) * (kAlpha + s * kBeta));
    EXPECT_EQ(Time1("halving_doubling", T::kAllReduce, n, s, true),
              2 * (Log2(n) * kAlpha + (n - 1) * (s / n) * kBeta));
    EXPECT_EQ(Time1("halving_doubling", T::kReduceScatter, n, s, true),
              Log2(n) * kAlpha + (n - 1) * (s / n) * kBeta);
    EXPECT_EQ(Time1("halving_doubling", T::kAllGather, n, s, true), Log2(n) * kAlpha + (n - 1) * s * kBeta);
  }
  // With halving, no member has a result before the data of all folded members has arrived: one additional
  // round of all bytes before, and one after.
  for (const int n : {3, 5, 6, 7, 12}) {
    const int64_t s = int64_t{960} * 16, p = int64_t{1} << Log2(n);
    EXPECT_EQ(Time1("halving_doubling", T::kAllReduce, n, s, true),
              2 * (Log2(n) * kAlpha + (p - 1) * (s / p) * kBeta) + 2 * (kAlpha + s * kBeta));
  }
  // With doubling, a member returns the result as soon as its own partners have sent theirs. So the second
  // round costs time only if members were folded into these partners, too.
  const std::map<int, int> rounds = {{3, 2}, {5, 3}, {6, 3}, {7, 4}, {12, 4}};
  for (const auto& [n, r] : rounds) {
    EXPECT_EQ(Time1("recursive_doubling", T::kAllReduce, n, 15360, true), r * (kAlpha + 15360 * kBeta)) << n;
  }
}

TEST(Algorithms, BruckAllGatherMatchesItsClosedForm) {
  for (const int n : {2, 4, 8, 16, 64}) {
    EXPECT_EQ(Time1("bruck", T::kAllGather, n, 1000, true), Log2(n) * kAlpha + (n - 1) * 1000 * kBeta);
  }
}

// Each tree carries eight pieces, each a sixteenth of the bytes. With two members, the eight pieces leave one
// after the other, and the last one comes back. With four, pieces go up two hops, and down to a member that
// sends to two children in turn.
TEST(Algorithms, DoubleBinaryTreeMatchesItsClosedForm) {
  const int64_t s = 16000, piece = s / 16 * kBeta;
  EXPECT_EQ(Time1("double_binary_tree", T::kAllReduce, 2, s, true), 9 * piece + 2 * kAlpha);
  EXPECT_EQ(Time1("double_binary_tree", T::kAllReduce, 4, s, true), 19 * piece + 4 * kAlpha);
}

// The latency of the double tree grows with the logarithm of the number of ranks.
TEST(Algorithms, DoubleBinaryTreeBeatsRingOnManyRanks) {
  EXPECT_LT(Time1("double_binary_tree", T::kAllReduce, 256, 16384, true) * 10,
            Time1("ring", T::kAllReduce, 256, 16384, true));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
