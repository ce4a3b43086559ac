// The closed forms of pipelined plans, against a simulation of each flow.
#include "replay/nccl/together.h"

#include <random>

#include "replay/engine/price.h"
#include "replay/nccl/planner.h"
#include "test/replay/library_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;

// Expects equal times of `rule` from a simulation of each flow and from PriceCall(), which uses the closed
// form if there is one.
void Agree(const std::string& preset, int ranks, const std::string& rule, uint64_t bytes, bool closed,
           T type = T::kAllReduce) {
  TestMachine m = Preset(preset, ranks);
  m.Force(type, rule);
  const std::vector<int> members = m.All();
  const int64_t slow = CallPicos(m, type, bytes, false);
  Time now = Time::Nanos(3);
  const auto priced = PriceCall(*m.fabric, m.costs(), type, bytes, 0, members, &now);
  ASSERT_TRUE(priced.ok()) << priced.status();
  EXPECT_EQ(priced->time.picos(), slow) << preset << " " << ranks << " " << rule << " " << bytes;
  EXPECT_EQ(now, Time::Nanos(3) + priced->time);
  CollectivePlanner planner(*m.fabric, m.costs(), PriceUncontended, true);
  const auto call = planner.Get(type, bytes, 0, members, "");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ((*call)->together.has_value(), closed) << preset << " " << ranks << " " << rule;
  EXPECT_EQ((*call)->plan == nullptr, closed);
}

TEST(Together, ClosedFormEqualsFlows) {
  std::mt19937_64 random(29);
  for (const int ranks : {2, 3, 5, 8}) {
    std::vector<uint64_t> sizes = {1, 7, 1000, 1 << 20, (1 << 20) + 13, uint64_t{1} << 28};
    for (int i = 0; i < 6; ++i) sizes.push_back(1 + random() % (uint64_t{1} << (10 + 4 * i)));
    for (const uint64_t bytes : sizes) {
      for (const T type : {T::kAllReduce, T::kAllGather, T::kReduceScatter})
        Agree("dgx-h100", ranks, "nvls/simple", bytes, true, type);
      for (const char* rule : {"tree/ll", "tree/ll128", "tree/simple"})
        Agree("dgx-a100", ranks, rule, bytes, true);
    }
  }
  Agree("gb200-nvl72", 72, "nvls/simple", 100000000, true);
  // Slow shares: a piece is back before the next has left.
  for (const T type : {T::kAllReduce, T::kAllGather, T::kReduceScatter})
    Agree("dgx-h100:nvlink_latency_ns=90000", 8, "nvls/simple", 1 << 24, true, type);
}

// In a replay, members that arrive at one instant use the closed form; for other arrivals, each flow is
// simulated. Ends and bytes are equal.
TEST(Together, ReplayUsesClosedFormForEqualArrivals) {
  for (const int late : {0, 1, 5}) {  // members that come later
    TestMachine m = Preset("dgx-h100", 8);
    m.Force(T::kAllReduce, "nvls/simple");
    std::vector<Time> begin(8, Time::Nanos(70));
    for (int i = 0; i < late; ++i) begin[static_cast<size_t>(i)] += Time::Nanos(1000 * i + 1);
    RunResult run[2];
    uint64_t bytes[2];
    for (const bool fast : {false, true}) {
      m.AnotherFabric("analytical");
      run[fast] = RunCall(m, T::kAllReduce, 5000000, m.All(), begin, fast);
      ASSERT_EQ(run[fast].error, "");
      bytes[fast] = m.fabric->Traffic()[0].bytes;
    }
    EXPECT_EQ(run[true].end, run[false].end) << late;
    EXPECT_EQ(bytes[true], bytes[false]) << late;
    EXPECT_EQ(run[true].flows == 0, late == 0);
  }
}

TEST(Together, OtherCasesRunThePlan) {
  Agree("dgx-h100", 16, "nvls_tree/simple", 1 << 24, false);
  Agree("dgx-h100", 16, "tree/simple", 1 << 24, false);
  Agree("dgx-h100", 8, "ring/simple", 1 << 24, false);
  Agree("mi300x", 8, "tree/simple", 1 << 24, true);
  TestMachine m = Preset("dgx-h100", 8);
  m.Force(T::kAllReduce, "nvls/simple");
  m.AnotherFabric("analytical-fifo");
  CollectivePlanner planner(*m.fabric, m.costs(), PriceUncontended, true);
  const std::vector<int> members = m.All();
  const auto call = planner.Get(T::kAllReduce, 1 << 20, 0, members, "");
  ASSERT_TRUE(call.ok());
  EXPECT_FALSE((*call)->together.has_value());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
