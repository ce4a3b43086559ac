// The runner on plans with copies, local additions, awaits and switches.
#include <gmock/gmock.h>

#include "engine_testing.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/collectives/registry.h"
#include "replay/engine/engine.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;
using testing::HasSubstr;

constexpr int64_t kBandwidth = 1000000000;  // of reductions and copies: 1000 ps a byte

absl::StatusOr<Metrics> OnSwitch(const TraceBuilder& b, const EngineOptions& options,
                                 const char* fabric_name) {
  const absl::StatusOr<TraceSet> traces = b.Build();
  if (!traces.ok()) return traces.status();
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kSwitch;
  d.size = static_cast<int>(traces->ranks.size());
  d.bandwidth = kWire.bandwidth;
  d.latency = kWire.latency;
  auto fabric = MakeMachine(fabric_name, *Topology::Make({d}), FabricOptions());
  return Replay(*traces, Recorded(*traces), **fabric, options);
}

TraceBuilder Call(T type, int ranks, int64_t bytes) {
  TraceBuilder b(ranks);
  for (int r = 0; r < ranks; ++r) b.Coll(r, type, bytes);
  return b;
}

EngineOptions With(const std::string& algorithm, T type) {
  EngineOptions options;
  options.collectives.algorithm[std::string(Name(type))] = algorithm;
  return options;
}

// The bytes that one member copies, in a plan with equal members. Each byte is read and written.
int64_t Copied(const Plan& plan, uint64_t bytes) {
  int64_t copied = 0;
  for (const Step& s : plan.program(0).steps)
    copied += s.op == StepOp::kCopy ? static_cast<int64_t>(ChunkBytes(plan, bytes, s.chunk, s.count)) : 0;
  return copied;
}

TEST(PlanSteps, CopiesTakeTimeOfMemory) {
  for (const int n : {2, 4, 8}) {
    const int64_t bytes = int64_t{960} * n;
    const auto plan = BuildPlan({.type = T::kAllToAll, .algorithm = "bruck", .members = n});
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->program(0).streams.size(), 1u);
    ASSERT_GT(Copied(*plan, static_cast<uint64_t>(bytes)), 0);
    EngineOptions options = With("bruck", T::kAllToAll);
    const int64_t free = Makespan(Call(T::kAllToAll, n, bytes), options);
    options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(kBandwidth);
    const int64_t priced = Makespan(Call(T::kAllToAll, n, bytes), options);
    EXPECT_EQ(priced - free, 2 * Copied(*plan, static_cast<uint64_t>(bytes)) * 1000) << n;
  }
}

// Two members on a mesh. Each sends its half and adds the half of the other; a second stream awaits this
// half.
TEST(PlanSteps, AdditionsAndAwaitsTakeTheirTime) {
  auto program = std::make_shared<CustomProgram>();
  program->name = "mine";
  program->source = "mine.xml";
  Plan& plan = program->plan;
  plan.algorithm = "mine";
  plan.members = 2;
  plan.chunks = 2;  // the second is scratch
  plan.parts = 1;
  for (int m = 0; m < 2; ++m) {
    Program p;
    p.connections = 1;
    p.steps = {{StepOp::kSendWait, 0, 1 - m, 0, 1},
               {StepOp::kRecv, 0, 1 - m, 1, 1},
               {StepOp::kAwait, 0, 0, 2, 0},
               {StepOp::kReduce, 0, 1, 0, 1}};
    p.streams = {{0, 2}, {2, 4}};
    plan.programs.push_back(p);
  }
  NumberThrough(&plan);
  ASSERT_EQ(ValidatePlan(plan, 0), absl::OkStatus());
  EngineOptions options = With("mine", T::kAllReduce);
  options.collectives.programs = {program};
  const int64_t arrival = 500000 + 1000 * 20;  // kWire
  EXPECT_EQ(Makespan(Call(T::kAllReduce, 2, 1000), options), arrival);
  options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(kBandwidth);
  EXPECT_EQ(Makespan(Call(T::kAllReduce, 2, 1000), options), arrival + 3 * 1000 * 1000);
  // With two parts, an await is for its own part: the second part's message arrives at 40,000 + 500,000 ps,
  // during the addition of the first.
  options.collectives.splits = 2;
  EXPECT_EQ(Makespan(Call(T::kAllReduce, 2, 2000), options), arrival + 2 * 3 * 1000 * 1000);
  // An await of a send that waits ends when the message has left.
  for (Program& p : plan.programs) p.steps[2].chunk = 1;
  for (Program& p : plan.programs) p.steps[3] = {StepOp::kCopy, 0, 0, 1, 1};
  for (Program& p : plan.programs) p.streams = {{0, 2}, {2, 4}};
  options.collectives.splits = 1;
  EXPECT_EQ(Makespan(Call(T::kAllReduce, 2, 1000), options), 1000 * 20 + 2 * 1000 * 1000);
  EXPECT_THAT(ErrorOf(Call(T::kAllReduce, 3, 1000), options),
              HasSubstr("mine.xml: algorithm \"mine\" for all_reduce on 3 ranks; it is for 2 ranks"));
}

// An in-switch all-reduce of one piece: up and down one link each.
TEST(PlanSteps, SwitchAddsWithoutTime) {
  EngineOptions options = With("nvls", T::kAllReduce);
  options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(kBandwidth);
  const auto priced = OnSwitch(Call(T::kAllReduce, 4, 4096), options, "analytical");
  options.collectives.reduce_bandwidth = Bandwidth();
  const auto free = OnSwitch(Call(T::kAllReduce, 4, 4096), options, "analytical");
  ASSERT_TRUE(priced.ok()) << priced.status();
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_EQ(priced->makespan, free->makespan);
}

TEST(PlanSteps, RefusesMachineWithoutSwitch) {
  EXPECT_THAT(
      ErrorOf(Call(T::kAllReduce, 4, 4096), With("nvls", T::kAllReduce)),
      HasSubstr(
          "plan nvls for all_reduce in group \"\": the machine has no switch between members 0 (rank 0) "
          "and 1 (rank 1)"));
}

// Ranks that arrive one after another, several parts, sizes that do not divide, links with queues.
TEST(PlanSteps, EveryPlanFinishes) {
  const int n = 6;
  for (int t = 0; t < kCollectiveTypes; ++t) {
    const T type = static_cast<T>(t);
    for (const std::string& name : AlgorithmsFor(type)) {
      if (!BuildPlan({.type = type, .algorithm = name, .members = n}).ok()) continue;  // needs several blocks
      for (const char* fabric : {"analytical", "analytical-fifo"}) {
        for (const int splits : {1, 3}) {
          EngineOptions options = With(name, type);
          options.collectives.splits = splits;
          options.collectives.step_overhead = Time::Nanos(7);
          options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(kBandwidth);
          TraceBuilder b(n);
          for (int r = 0; r < n; ++r) {
            const uint64_t before = b.Comp(r, static_cast<uint64_t>(r * r % 5 + 1)).id();
            const uint64_t call = b.Coll(r, type, 10007, {before}).id();
            b.Coll(r, type, 10007, {call});  // uses the state that the first call left
          }
          const auto metrics = OnSwitch(b, options, fabric);
          EXPECT_TRUE(metrics.ok()) << name << " for " << Name(type) << " on " << fabric << ": "
                                    << metrics.status();
        }
      }
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
