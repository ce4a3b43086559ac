// Modules from before XLA's optimisations: element-wise operations are fused into the operations that use
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/trace/hlo_testing.h"
#include "trace/import/hlo/fuse.h"
#include "trace/import/hlo/step.h"
#include "trace/import/hlo/text_reader.h"
#include "trace/import/hlo/trips.h"

namespace chakra::hlo::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Adam's update of one weight, as JAX writes it before XLA's optimisations (optax's transforms), in a loop,
// with a GEMM and a norm.
constexpr char kUpdate[] = R"(HloModule jit_train_step, num_partitions=2
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y)
}
%body (s: (s32[], f32[64,32], f32[64,32], f32[64,32])) -> (s32[], f32[64,32], f32[64,32], f32[64,32]) {
  %s = (s32[], f32[64,32], f32[64,32], f32[64,32]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %w = f32[64,32] get-tuple-element(%s), index=1
  %mu = f32[64,32] get-tuple-element(%s), index=2
  %nu = f32[64,32] get-tuple-element(%s), index=3
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %wt = f32[32,64] transpose(%w), dimensions={1,0}
  %g = f32[64,64] dot(%w, %wt), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %gs = f32[64,32] slice(%g), slice={[0:64], [0:32]}
  %ar = f32[64,32] all-reduce(%gs), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%add
  %b1 = f32[] constant(0.9)
  %b1b = f32[64,32] broadcast(%b1), dimensions={}
  %c1 = f32[] constant(0.1)
  %c1b = f32[64,32] broadcast(%c1), dimensions={}
  %mu.a = f32[64,32] multiply(%mu, %b1b)
  %mu.b = f32[64,32] multiply(%ar, %c1b)
  %mu.new = f32[64,32] add(%mu.a, %mu.b)
  %sq = f32[64,32] multiply(%ar, %ar)
  %nu.a = f32[64,32] multiply(%nu, %b1b)
  %nu.b = f32[64,32] multiply(%sq, %c1b)
  %nu.new = f32[64,32] add(%nu.a, %nu.b)
  %root = f32[64,32] sqrt(%nu.new)
  %eps = f32[64,32] add(%root, %c1b)
  %step = f32[64,32] divide(%mu.new, %eps)
  %scaled = f32[64,32] multiply(%step, %c1b)
  %clip = f32[64,32] maximum(%scaled, %c1b)
  %neg = f32[64,32] negate(%clip)
  %exp = f32[64,32] exponential(%neg)
  %log = f32[64,32] log(%exp)
  %w.new = f32[64,32] subtract(%w, %log)
  ROOT %t = (s32[], f32[64,32], f32[64,32], f32[64,32]) tuple(%next, %w.new, %mu.new, %nu.new)
}
%condition (s: (s32[], f32[64,32], f32[64,32], f32[64,32])) -> pred[] {
  %s = (s32[], f32[64,32], f32[64,32], f32[64,32]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %n = s32[] constant(3)
  ROOT %go = pred[] compare(%i, %n), direction=LT
}
ENTRY %main (w: f32[64,32]) -> f32[] {
  %w = f32[64,32] parameter(0)
  %zero = s32[] constant(0)
  %fz = f32[] constant(0)
  %init = f32[64,32] broadcast(%fz), dimensions={}
  %start = (s32[], f32[64,32], f32[64,32], f32[64,32]) tuple(%zero, %w, %init, %init)
  %loop = (s32[], f32[64,32], f32[64,32], f32[64,32]) while(%start), condition=%condition, body=%body
  %end = f32[64,32] get-tuple-element(%loop), index=1
  %square = f32[64,32] multiply(%end, %end)
  %sum = f32[] reduce(%square, %fz), dimensions={0,1}, to_apply=%add
  ROOT %norm = f32[] sqrt(%sum)
}
)";

TEST(HloFuse, FusesElementwiseOperationsIntoUsers) {
  Module m = ModuleOf(kUpdate);
  FuseElementwise(&m);
  EXPECT_TRUE(m.fused_here);
  const Step step = StepOf(m);
  std::vector<std::string> names;
  std::map<std::string, const Facts*> facts;
  for (const StepNode& n : step.nodes) {
    names.push_back(m.computations[n.computation].instructions[n.instruction].name);
    if (n.facts != kNoRow) facts[names.back()] = &step.facts[n.facts];
  }
  // A transpose that a GEMM reads, a slice that a collective sends and the state of the loop stay; three
  // rounds.
  const std::vector<std::string> round = {"next", "wt", "g", "gs", "ar", "mu.new", "nu.new", "w.new"};
  std::vector<std::string> expected = {"init"};
  for (int i = 0; i < 3; ++i) expected.insert(expected.end(), round.begin(), round.end());
  expected.insert(expected.end(), {"sum", "norm"});
  EXPECT_EQ(names, expected);
  constexpr int64_t kArray = 64 * 32 * 4;
  EXPECT_EQ(facts["mu.new"]->bytes, 3 * kArray);  // mu and the gradient, and the new one
  EXPECT_EQ(facts["nu.new"]->bytes, 3 * kArray);
  EXPECT_EQ(facts["w.new"]->bytes, 4 * kArray);  // w, both averages, and the new one
  EXPECT_EQ(facts["w.new"]->operations, 9 * 64 * 32);
  EXPECT_EQ(facts["sum"]->op, "xla::reduce");
  EXPECT_EQ(facts["sum"]->bytes, kArray + 4);
  ASSERT_THAT(step.warnings, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(step.warnings[0], HasSubstr("before XLA's optimisations"));
  // Dependencies keep their order.
  const auto at = [&](const char* name) {
    return static_cast<uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const StepNode& w = step.nodes[at("w.new")];
  const std::vector<uint32_t> deps(step.deps.begin() + w.dep_begin, step.deps.begin() + w.dep_end);
  EXPECT_THAT(deps, ElementsAre(at("mu.new"), at("nu.new")));
}

// A module without collectives was not partitioned: each device would do the work of all.
TEST(HloFuse, WarnsOfUnpartitionedModules) {
  const auto warnings = [](const std::string& head) {
    const Step step = StepOf(ModuleOf(absl::StrCat(
        head,
        "\nENTRY %e (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0), sharding={devices=[4]<=[4]}\n  ROOT "
        "%a = f32[8] negate(%p)\n}\n")));
    return absl::StrJoin(step.warnings, "\n");
  };
  EXPECT_THAT(warnings("HloModule m, num_partitions=4"),
              HasSubstr("runs on 4 partitions and has no collectives"));
  EXPECT_THAT(warnings("HloModule m, num_partitions=4, is_scheduled=true"), testing::IsEmpty());
  EXPECT_THAT(warnings("HloModule m"), testing::Not(HasSubstr("collectives: it is from before")));
}

TEST(HloFuse, LeavesFusedAndSmallModules) {
  Module fused = ModuleOf(kUpdate);
  FuseElementwise(&fused);
  const size_t computations = fused.computations.size();
  FuseElementwise(&fused);
  EXPECT_EQ(fused.computations.size(), computations);
  Module small = ModuleOf(
      "HloModule m\nENTRY %e (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0)\n  %a = f32[8] negate(%p)\n "
      " "
      "ROOT %b = f32[8] sqrt(%a)\n}\n");
  FuseElementwise(&small);
  EXPECT_FALSE(small.fused_here);
  EXPECT_THAT(StepOf(small).nodes, SizeIs(2));
}

// A chain that doubles at each of 2,000 steps: fusions stay small, and take little time.
TEST(HloFuse, FusionsStaySmall) {
  std::string text = "HloModule m\nENTRY %e (p: f32[8]) -> f32[8] {\n  %a0 = f32[8] parameter(0)\n";
  for (int i = 0; i < 2000; ++i)
    absl::StrAppend(&text, i == 1999 ? "  ROOT" : " ", " %a", i + 1, " = f32[8] add(%a", i, ", %a", i, ")\n");
  Module m = ModuleOf(text + "}\n");
  FuseElementwise(&m);
  const Step step = StepOf(m);
  EXPECT_GT(step.nodes.size(), 250u);
  EXPECT_LT(step.nodes.size(), 1000u);
  int64_t operations = 0;
  for (const StepNode& n : step.nodes) operations += step.facts[n.facts].operations;
  EXPECT_EQ(operations, 2000 * 8);
}

}  // namespace
}  // namespace chakra::hlo::CHAKRA_FILE
