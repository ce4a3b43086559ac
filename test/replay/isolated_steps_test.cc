// Isolated calls without events, against a simulation of each flow.
#include "replay/collectives/registry.h"
#include "replay/engine/alone/isolated_call.h"
#include "replay/engine/price.h"
#include "test/replay/library_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;

void Agree(const std::string& preset, int ranks, T type, const std::string& rule, int root = 0) {
  TestMachine m = Preset(preset, ranks);
  if (!rule.empty()) m.Force(type, rule);
  SCOPED_TRACE(absl::StrCat(preset, " ", ranks, " ", rule));
  PlanCache plans;
  for (const uint64_t bytes : {1ul, 1000ul, 70001ul, 1ul << 20, (1ul << 25) + 13})
    ExpectPricedAsFlows(&m, "analytical", type, bytes, root, &plans);
}

TEST(IsolatedSteps, StepsEqualFlows) {
  for (const char* rule : {"tree/ll", "tree/ll128", "tree/simple", "nvls_tree/simple"})
    Agree("dgx-h100", 24, T::kAllReduce, rule);
  for (const int root : {0, 5}) {
    Agree("dgx-b200", 16, T::kBroadcast, "ring/simple", root);
    Agree("dgx-b200", 16, T::kBroadcast, "ring/ll", root);
    Agree("mi300x", 16, T::kReduce, "ring/ll", root);
    Agree("dgx-v100", 16, T::kBroadcast, "binomial/simple", root);
  }
  Agree("rtx-pro-6000", 16, T::kAllReduce, "");
  Agree("gb200-nvl72", 9, T::kAllGather, "nvls/simple");
  Agree("dgx-h100", 8, T::kGather, "");
}

// TimeOfSteps() itself gives the times: the plans above do not fall back to events.
TEST(IsolatedSteps, TimesTreesAndChainsWithoutEvents) {
  TestMachine m = Preset("dgx-h100", 24);
  TestMachine shared = Preset("dgx-h100", 24);
  shared.AnotherFabric("analytical-fifo");
  const std::vector<int> members = m.All();
  CollectivePlanner planner(*m.fabric, m.costs(), PriceUncontended);
  for (const T type : {T::kAllReduce, T::kBroadcast}) {
    const auto call = planner.Get(type, 1 << 16, 0, members, "");
    ASSERT_TRUE(call.ok()) << call.status();
    EXPECT_TRUE(TimeOfSteps(*m.fabric, m.costs(), **call, 1 << 16, 0, members).has_value());
    EXPECT_FALSE(TimeOfSteps(*shared.fabric, m.costs(), **call, 1 << 16, 0, members).has_value());
  }
}

// A stream waits for another stream of its node. A plan with a message that nobody sends is left to the event
// loop.
TEST(IsolatedSteps, AwaitsStreamsAndLeavesDeadlocks) {
  TestMachine m = Preset("dgx-h100", 2);
  const std::vector<int> members = m.All();
  Plan plan;
  plan.members = 2;
  plan.chunks = 1;
  plan.programs.resize(2);
  // Member 0: its second stream sends when its first one has received.
  plan.programs[0].streams = {{0, 1}, {1, 3}};
  plan.programs[0].steps = {
      {StepOp::kRecv, 0, 1, 0, 1}, {StepOp::kAwait, 0, 0, 1, 1}, {StepOp::kSend, 0, 1, 0, 1}};
  plan.programs[0].connections = 1;
  plan.programs[1].streams = {{0, 2}};
  plan.programs[1].steps = {{StepOp::kSend, 0, 0, 0, 1}, {StepOp::kRecv, 0, 0, 0, 1}};
  plan.programs[1].connections = 1;
  NumberThrough(&plan);
  PlannedCall call;
  call.plan = &plan;
  CollectiveCosts costs;
  const auto times = TimeOfSteps(*m.fabric, costs, call, 1 << 20, 0, members);
  ASSERT_TRUE(times.has_value());
  const Time once = m.fabric->Cost(1, 0, 1 << 20).received();
  EXPECT_EQ(times->root, once);
  EXPECT_EQ(times->last, once + once);
  plan.programs[1].steps[0].op = StepOp::kCopy;
  EXPECT_FALSE(TimeOfSteps(*m.fabric, costs, call, 1 << 20, 0, members).has_value());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
