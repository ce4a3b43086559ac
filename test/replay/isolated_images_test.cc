// Isolated calls in which some flows stand for others, against a simulation of each flow.
#include <random>

#include "backends/fluid/options.h"
#include "replay/cluster/options.h"
#include "replay/collectives/loops.h"
#include "replay/engine/alone/isolated_call.h"
#include "replay/engine/symmetry/call_images.h"
#include "test/replay/library_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;

// An all-reduce on a machine, and its symmetric parts.
struct ImageCall {
  ImageCall(TestMachine* machine, uint64_t bytes, std::vector<int> members)
      : m(machine), planner(*m->fabric, m->costs(), PriceUncontended) {
    matching.groups.push_back({"", std::move(members), m->fabric->devices()});
    matching.calls.push_back({.type = T::kAllReduce, .root = 0, .bytes = bytes});
    const auto call = planner.Get(T::kAllReduce, bytes, 0, matching.groups[0].members, "");
    EXPECT_TRUE(call.ok()) << call.status();
    planned = **call;
  }
  bool OneRail() { return ImagesOf(*m->fabric, planned, matching).one_rail; }
  bool Mirrored() { return ImagesOf(*m->fabric, planned, matching).mirrored(); }
  std::optional<StepTimes> Time() {
    return TimeByImages(*m->fabric, m->costs(), planned, matching, &planner);
  }

  TestMachine* m;
  CollectivePlanner planner;
  Matching matching;
  PlannedCall planned;
};

void ImagesAgree(const std::string& preset, int ranks, const std::string& rule, int root = 0) {
  TestMachine m = Preset(preset, ranks);
  m.Force(T::kAllReduce, rule);
  SCOPED_TRACE(absl::StrCat(preset, " ", ranks, " ", rule));
  PlanCache plans;
  for (const uint64_t bytes : {1ul, 1000ul, 70001ul, 1ul << 20, (1ul << 24) + 13, 1ul << 28})
    ExpectPricedAsFlows(&m, "fluid", T::kAllReduce, bytes, root, &plans);
}

TEST(IsolatedImages, ImagesEqualFlows) {
  for (const char* rule : {"tree/ll", "tree/ll128", "tree/simple"}) {
    for (const int ranks : {16, 24, 32, 48, 104, 128}) ImagesAgree("dgx-h100", ranks, rule);
  }
  ImagesAgree("dgx-h100", 512, "tree/ll128");
  ImagesAgree("dgx-h100", 480, "tree/simple", 479);
  ImagesAgree("dgx-h100", 48, "tree/simple", 13);
  ImagesAgree("dgx-h100", 32, "nvls_tree/simple");
  ImagesAgree("dgx-h100", 24, "ring/ll");
  ImagesAgree("dgx-b200", 64, "tree/ll128");
  ImagesAgree("mi300x", 32, "tree/ll");
  ImagesAgree("dgx-v100", 32, "tree/simple");
  ImagesAgree("gb200-nvl72", 144, "tree/ll128");
  ImagesAgree("rtx-pro-6000", 32, "tree/simple");
}

TEST(IsolatedImages, FindsSymmetricRailsAndTrees) {
  for (const int nodes : {2, 3, 4, 5, 16, 33}) {
    TestMachine m = Preset("dgx-h100", 8 * nodes);
    m.Force(T::kAllReduce, "tree/ll128");
    m.AnotherFabric("fluid");
    ImageCall call(&m, 1 << 20, m.All());
    EXPECT_TRUE(call.OneRail()) << nodes;
    EXPECT_EQ(call.Mirrored(), nodes % 2 == 0) << nodes;  // else the second tree is the first, shifted by one
    EXPECT_TRUE(call.Time().has_value()) << nodes;
  }
}

TEST(IsolatedImages, RefusedIfPathsDifferOrLinksChange) {
  TestMachine m = Preset("dgx-h100", 32);
  m.Force(T::kAllReduce, "tree/ll128");
  FabricOptions faulty;
  faulty.changes.push_back({.at = Time::Micros(50), .link = 3, .bandwidth = 0.5});
  m.fabric = *MakeMachine("fluid", m.model.topology, faulty);
  EXPECT_FALSE(ImageCall(&m, 1 << 20, m.All()).Time().has_value());
  FabricOptions series;
  series.link_series = true;
  m.fabric = *MakeMachine("fluid", m.model.topology, series);
  EXPECT_FALSE(ImageCall(&m, 1 << 20, m.All()).Time().has_value());
  m.AnotherFabric("analytical-fifo");
  EXPECT_FALSE(ImageCall(&m, 1 << 20, m.All()).Time().has_value());

  proto::Cluster cluster = *LoadCluster("dgx-h100");
  std::vector<std::string> notes;
  ASSERT_TRUE(ApplyTopologyOptions({"fat_tree", "", {}}, &cluster, &notes).ok());
  TestMachine net = MachineOf(cluster, 32);
  net.Force(T::kAllReduce, "tree/ll128");
  net.AnotherFabric("fluid");
  ImageCall call(&net, 1 << 20, net.All());
  EXPECT_FALSE(call.OneRail());
  EXPECT_FALSE(call.Time().has_value());
}

// Ranks in any order. An order with images has the times of a simulation of each flow. Other orders are
// refused.
TEST(IsolatedImages, AcceptsMembersInAnyOrder) {
  std::mt19937_64 random(7);
  int with = 0, without = 0;
  for (int round = 0; round < 40; ++round) {
    TestMachine m = Preset("dgx-h100", 32);
    m.Force(T::kAllReduce, "tree/ll128");
    m.AnotherFabric("fluid");
    std::vector<int> members = m.All();
    for (uint64_t swaps = random() % 3; swaps > 0; --swaps)
      std::swap(members[random() % 32], members[random() % 32]);
    const uint64_t bytes = 1 + random() % (1 << 24);
    const std::optional<StepTimes> time = ImageCall(&m, bytes, members).Time();
    ++(time ? with : without);
    if (!time) continue;
    m.AnotherFabric("fluid");
    Time now;
    const auto slow = PriceCall(*m.fabric, m.costs(), T::kAllReduce, bytes, 0, members, &now);
    ASSERT_TRUE(slow.ok());
    EXPECT_EQ(time->last, slow->time) << round;
    EXPECT_EQ(time->root, slow->root_time) << round;
  }
  EXPECT_GT(with, 5);
  EXPECT_GT(without, 5);
}

// One step without an image makes the whole plan not symmetric.
TEST(IsolatedImages, OneChangedStepBreaksSymmetry) {
  TestMachine m = Preset("dgx-h100", 32);
  m.Force(T::kAllReduce, "tree/ll128");
  m.AnotherFabric("fluid");
  ImageCall call(&m, 1 << 20, m.All());
  ASSERT_TRUE(call.Mirrored());
  const Plan plan = *call.planned.plan;
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    Plan changed = plan;
    Program& program = changed.programs[random() % 32];
    std::vector<Step>& steps = program.steps;
    Step& step = steps[random() % steps.size()];
    switch (random() % 4) {
      case 0:
        step.count += 1;
        break;
      case 1:
        step.op = step.op == StepOp::kAwait ? StepOp::kCopy : StepOp::kAwait;
        step.peer = 0;
        break;
      case 2:
        if (step.op == StepOp::kAwait) {
          step.chunk += 1;
        } else {
          step.peer = (step.peer + 1) % 32;
          step.connection = 0;
        }
        break;
      default:
        steps.pop_back();
        --program.streams.back().end;
        break;
    }
    FindLoops(&changed);
    call.planned.plan = &changed;
    EXPECT_FALSE(call.Mirrored()) << round;
  }
}

TEST(Loops, EqualTheStepsOfThePlan) {
  TestMachine m = Preset("dgx-h100", 256);
  m.Force(T::kAllReduce, "tree/ll128");
  m.AnotherFabric("fluid");
  const ImageCall call(&m, 1 << 20, m.All());
  const Plan& plan = *call.planned.plan;
  ASSERT_EQ(plan.loops.size(), plan.stream_base.back());
  size_t looped = 0;
  for (int node = 0; node < plan.nodes(); ++node) {
    const Program& program = plan.program(node);
    for (size_t s = 0; s < program.streams.size(); ++s) {
      const StreamLoop& loop = plan.loops[plan.stream_base[static_cast<size_t>(node)] + s];
      const Stream& stream = program.streams[s];
      for (uint32_t i = 0; loop.period > 0 && i < stream.end - stream.begin; ++i, ++looped) {
        const LoopStep& said = plan.loop_steps[loop.begin + i % loop.period];
        const Step& step = program.steps[stream.begin + i];
        ASSERT_EQ(said.step.op, step.op);
        ASSERT_EQ(said.step.peer, step.peer);
        ASSERT_EQ(said.step.connection, step.connection);
        ASSERT_EQ(said.step.count, step.count);
        ASSERT_EQ(said.step.chunk + static_cast<int32_t>(i / loop.period) * said.move, step.chunk);
      }
    }
  }
  EXPECT_GT(looped, 10000u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
