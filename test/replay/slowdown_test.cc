// Computation during collectives, against times by hand.
#include "replay/engine/slowdown.h"

#include "engine_testing.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/options.h"
#include "replay/nccl/library.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;

// An all-reduce of 100 MB on two ranks of the mesh: 2 (0.5 us + 50 MB x 20 ps) = 2,001 us.
constexpr int64_t kBytes = 100000000, kAllReduce = 2001;

EngineOptions Slowed(double slowdown) {
  LibraryModel library;
  LibraryLevel level;
  level.kind = TopologyDimension::Kind::kFullyConnected;
  level.link_gbytes_per_s = 50;
  library.levels = {level};
  library.chunk_bytes = uint64_t{1} << 40;
  library.terms[{"ring", Protocol::kSimple}] = {0, 0, 0, 1, 1};
  library.choice = {{"all_reduce", "ring/simple"}};
  library.slowdown = slowdown;
  EngineOptions options = Lanes(LanePolicy::kUnlimited);
  options.collectives.library = std::make_shared<LibraryModel>(library);
  return options;
}

TEST(SlowdownReplay, ComputationDuringACollectiveTakesLonger) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.Coll(r, T::kAllReduce, kBytes);
    b.Comp(r, 1000);
  }
  EXPECT_EQ(Makespan(b, Slowed(0)), kAllReduce * kUs);
  // 1,000 us of work take 1,500 us, within the collective, which still ends last.
  TraceBuilder chained(2);
  for (int r = 0; r < 2; ++r) {
    chained.Coll(r, T::kAllReduce, kBytes);
    chained.Comp(r, 1000);
    chained.Comp(r, 3000, {1});
  }
  // 1,500 us, then 501 us at two thirds of the speed (334 us of work), then 2,666 us at full speed.
  EXPECT_EQ(Makespan(chained, Slowed(0.5)), (2001 + 3000 - 334) * kUs);
  EXPECT_EQ(Makespan(chained, Slowed(0)), 4000 * kUs);
}

TEST(SlowdownReplay, RunningComputationSlowsFromCallStart) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.Comp(r, 4000);
    b.Comp(r, 1000);
    b.Coll(r, T::kAllReduce, kBytes, {1});
  }
  // 1,000 us at full speed, 2,001 us at half speed, the rest at full speed.
  EXPECT_EQ(Makespan(b, Slowed(1)), 1000 * kUs + 2001 * kUs + (3000 * kUs - 2001 * kUs / 2));
}

TEST(SlowdownReplay, SeveralCollectivesSlowLikeOne) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.Comp(r, 4000);
    b.Coll(r, T::kAllReduce, kBytes);
    b.Coll(r, T::kAllReduce, kBytes);
  }
  // Both collectives run at the same time, on a fabric without contention.
  EXPECT_EQ(Makespan(b, Slowed(1)), 2001 * kUs + (4000 * kUs - 2001 * kUs / 2));
}

TEST(Slowdown, WorkIsConserved) {
  Slowdown slow(0.25, 1);
  ASSERT_TRUE(slow.on());
  EXPECT_EQ(slow.Begin(0, 7, Time::Nanos(100), Time::Zero()), Time::Nanos(100));
  const auto& later = slow.Change(0, true, Time::Nanos(60));
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].row, 7u);
  EXPECT_EQ(later[0].at, Time::Nanos(110));  // 40 left take 50
  EXPECT_TRUE(slow.Change(0, true, Time::Nanos(70)).empty());
  EXPECT_TRUE(slow.Change(0, false, Time::Nanos(80)).empty());
  EXPECT_FALSE(slow.Ends(0, 7, Time::Nanos(100)));
  const auto& sooner = slow.Change(0, false, Time::Nanos(85));  // 20 of 40 done
  ASSERT_EQ(sooner.size(), 1u);
  EXPECT_EQ(sooner[0].at, Time::Nanos(105));
  EXPECT_FALSE(slow.Ends(0, 7, Time::Nanos(110)));
  EXPECT_TRUE(slow.Ends(0, 7, Time::Nanos(105)));
  EXPECT_FALSE(slow.Ends(0, 7, Time::Nanos(105)));
  EXPECT_FALSE(Slowdown(0, 1).on());
  // A time of more than 64 bits of millionths.
  Slowdown far(0.5, 1);
  far.Begin(0, 1, Time::Micros(40000000), Time::Zero());
  EXPECT_EQ(far.Change(0, true, Time::Micros(20000000))[0].at, Time::Micros(50000000));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
