// HLO modules: text and proto, groups in all forms, loops, asynchronous collectives, and the bytes that
// fusions read and write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/trace/hlo_testing.h"
#include "test/trace/xspace_builder.h"
#include "trace/import/hlo/collectives.h"
#include "trace/import/hlo/proto_reader.h"
#include "trace/import/hlo/step.h"
#include "trace/import/hlo/text_reader.h"
#include "trace/import/hlo/text_values.h"
#include "trace/import/hlo/write.h"
#include "trace/import/reader.h"

namespace chakra::hlo::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A step of two layers in a loop, sharded over 8 devices as 2 x 4, in the grammar of XLA's dumps (HloParser
// in openxla/xla, xla/hlo/parser); composed for this test.
constexpr char kStep[] =
    R"(HloModule jit_train_step, is_scheduled=true, entry_computation_layout={(bf16[16,64]{1,0})->bf16[16,64]{1,0}}, replica_count=1, num_partitions=8

%add.clone (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%x, %y)
}

%fused_slice (param_0: bf16[32,16,64], param_1: s32[]) -> bf16[16,64] {
  %param_0 = bf16[32,16,64]{2,1,0:T(8,128)(2,1)} parameter(0)
  %param_1 = s32[] parameter(1)
  %zero = s32[] constant(0)
  %slice = bf16[1,16,64]{2,1,0} dynamic-slice(%param_0, %param_1, %zero, %zero), dynamic_slice_sizes={1,16,64}
  ROOT %flat = bf16[16,64]{1,0} bitcast(%slice)
}

%body (state: (s32[], bf16[16,64], bf16[64,128])) -> (s32[], bf16[16,64], bf16[64,128]) {
  %state = (s32[], bf16[16,64]{1,0}, bf16[64,128]{1,0:T(8,128)S(1)}) parameter(0)
  %i = s32[] get-tuple-element(%state), index=0
  %h = bf16[16,64]{1,0} get-tuple-element(%state), index=1
  %w = bf16[64,128]{1,0} get-tuple-element(%state), index=2
  %ag-start = (bf16[64,128]{1,0}, bf16[128,128]{1,0}) all-gather-start(%w), channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0), dimensions={0}, use_global_device_ids=true, metadata={op_name="jit(train_step)/while/body/all_gather" source_file="a \"b\".py" source_line=7}
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %norm = bf16[16,64]{1,0} multiply(%h, %h)
  %ag-done = bf16[128,128]{1,0} all-gather-done(%ag-start)
  %dot.5 = f32[16,128]{1,0} dot(%norm, /*index=1*/%w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %ar = f32[16,128]{1,0} all-reduce(%dot.5), channel_id=2, replica_groups={{0,1,2,3},{4,5,6,7}}, use_global_device_ids=true, to_apply=%add.clone
  %big = bf16[128,128]{1,0} add(%ag-done, %ag-done)
  ROOT %out = (s32[], bf16[16,64]{1,0}, bf16[64,128]{1,0}) tuple(%next, %norm, %w)
}

%condition (state.1: (s32[], bf16[16,64], bf16[64,128])) -> pred[] {
  %state.1 = (s32[], bf16[16,64]{1,0}, bf16[64,128]{1,0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%state.1), index=0
  %layers = s32[] constant(3)
  ROOT %go = pred[] compare(%i.1, %layers), direction=LT
}

ENTRY %main.77 (p0: bf16[16,64], p1: bf16[64,128], p2: bf16[32,16,64]) -> bf16[16,64] {
  %p0 = bf16[16,64]{1,0} parameter(0), sharding={replicated}
  %p1 = bf16[64,128]{1,0} parameter(1)
  %p2 = bf16[32,16,64]{2,1,0} parameter(2)
  %c0 = s32[] constant(0)
  %init = (s32[], bf16[16,64]{1,0}, bf16[64,128]{1,0}) tuple(%c0, %p0, %p1)
  %while.9 = (s32[], bf16[16,64]{1,0}, bf16[64,128]{1,0}) while(%init), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"2"}}
  %h.end = bf16[16,64]{1,0} get-tuple-element(%while.9), index=1
  %ring = bf16[16,64]{1,0} collective-permute(%h.end), channel_id=3, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  %fusion.12 = bf16[16,64]{1,0} fusion(%p2, %c0), kind=kLoop, calls=%fused_slice
  ROOT %sum = bf16[16,64]{1,0} add(%ring, %fusion.12)
}
)";

std::string NodeName(const Module& m, const StepNode& n) {
  return m.computations[n.computation].instructions[n.instruction].name;
}

std::vector<std::string> Names(const Module& m, const Step& step) {
  std::vector<std::string> out;
  for (const StepNode& n : step.nodes) out.push_back(NodeName(m, n));
  return out;
}

TEST(Hlo, RunsLoopsByTheirTripCount) {
  const Module m = ModuleOf(kStep);
  EXPECT_EQ(m.name, "jit_train_step");
  EXPECT_EQ(m.partitions, 8);
  const Step step = StepOf(m);
  const std::vector<std::string> round = {"ag-start", "next", "norm", "dot.5", "ar", "big"};
  std::vector<std::string> expected = round;
  expected.insert(expected.end(), round.begin(), round.end());
  for (const char* after : {"ring", "fusion.12", "sum"}) expected.emplace_back(after);
  EXPECT_EQ(Names(m, step), expected);
  EXPECT_THAT(step.warnings, SizeIs(0));
}

TEST(Hlo, CountsLoopsByTheirCondition) {
  const std::string text =
      absl::StrReplaceAll(kStep, {{", backend_config={\"known_trip_count\":{\"n\":\"2\"}}", ""}});
  const Module m = ModuleOf(text);
  EXPECT_THAT(StepOf(m).nodes, SizeIs(3 * 6 + 3));
  // The bound is no constant: the loop runs once, with a warning.
  const Step once = StepOf(ModuleOf(absl::StrReplaceAll(text, {{"constant(3)", "constant({...})"}})));
  EXPECT_THAT(once.nodes, SizeIs(6 + 3));
  EXPECT_THAT(once.warnings, ElementsAre(HasSubstr("while.9")));
}

// The ends of asynchronous collectives: operations after the end wait for the start, operations between do
// not.
TEST(Hlo, OperationsAfterAnEndWait) {
  const Module m = ModuleOf(kStep);
  const Step step = StepOf(m);
  const auto waits_for = [&](size_t node, size_t other) {
    const StepNode& n = step.nodes[node];
    return std::find(step.deps.begin() + n.dep_begin, step.deps.begin() + n.dep_end, other) !=
           step.deps.begin() + n.dep_end;
  };
  EXPECT_EQ(step.nodes[0].stream, StepStream::kCollective);
  EXPECT_FALSE(waits_for(2, 0));  // norm
  EXPECT_TRUE(waits_for(3, 0));   // dot.5 is the first on the main stream after the end
  EXPECT_TRUE(waits_for(3, 2));
  EXPECT_EQ(step.nodes[4].stream, StepStream::kCompute);  // ar blocks
  EXPECT_TRUE(waits_for(6, 5));  // the second round's start waits for what ran before it
}

TEST(Hlo, ReadsGroupsInAllForms) {
  const auto lists = [](const char* text) {
    const auto groups = ParseReplicaGroups(text);
    return groups.has_value() ? ListGroups(*groups) : std::vector<std::vector<int64_t>>();
  };
  using G = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(lists("{{0,1},{2,3}}"), (G{{0, 1}, {2, 3}}));
  EXPECT_EQ(lists("[2,4]<=[8]"), (G{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(lists("[2,4]<=[8]T(0)"), (G{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(lists("[2,4]<=[4,2]T(1,0)"), (G{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_EQ(lists("[4,2]<=[2,2,2]T(2,0,1)"), (G{{0, 2}, {4, 6}, {1, 3}, {5, 7}}));
  EXPECT_TRUE(ParseReplicaGroups("{}").has_value());
  EXPECT_EQ(lists("[2,3]<=[8]"), G());  // does not divide
  EXPECT_EQ(lists("[2,4]<=[4,2]T(1,1)"), G());
  for (const char* other : {"", "{0,1}", "[2,4]", "[2,4]<=8", "@mesh{axis}", "[0,4]<=[8]", "[2,4]<=[8]T1"})
    EXPECT_FALSE(ParseReplicaGroups(other).has_value()) << other;
}

// Against another definition: element (g, s) of the reshaped array is the place in the transposed array that
// its flat place comes from.
TEST(Hlo, IotaGroupsMatchTheDefinition) {
  const int64_t d[3] = {2, 3, 4};
  const int perms[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& perm : perms) {
    ReplicaGroups g;
    g.groups = 6;
    g.size = 4;
    g.reshape = {2, 3, 4};
    g.transpose = {perm[0], perm[1], perm[2]};
    std::vector<int64_t> flat;
    for (int64_t i = 0; i < d[perm[0]]; ++i) {
      for (int64_t j = 0; j < d[perm[1]]; ++j) {
        for (int64_t k = 0; k < d[perm[2]]; ++k) {
          int64_t at[3];
          at[perm[0]] = i;
          at[perm[1]] = j;
          at[perm[2]] = k;
          flat.push_back((at[0] * d[1] + at[1]) * d[2] + at[2]);
        }
      }
    }
    std::vector<int64_t> listed;
    for (const auto& group : ListGroups(g)) listed.insert(listed.end(), group.begin(), group.end());
    EXPECT_EQ(listed, flat);
  }
}

// The modes of CollectiveOpGroupMode (xla_data.proto), on 2 replicas of 4 partitions.
TEST(Hlo, IdsAreReplicasPartitionsOrBoth) {
  const auto groups_of = [](const std::string& attributes) {
    const Module m = ModuleOf(absl::StrCat(
        "HloModule m, replica_count=2, num_partitions=4\n\n%a (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] "
        "parameter(0)\n"
        "  %y = f32[] parameter(1)\n  ROOT %r = f32[] add(%x, %y)\n}\n\nENTRY %e (p: f32[8]) -> f32[8] {\n"
        "  %p = f32[8]{0} parameter(0)\n  ROOT %c = f32[8]{0} ",
        attributes, "\n}\n"));
    return StepOf(m).collectives.at(0).groups;
  };
  using G = std::vector<std::vector<int64_t>>;
  const std::string ar = "all-reduce(%p), to_apply=%a, ";
  EXPECT_EQ(groups_of(ar + "replica_groups={{0,1}}"), (G{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groups_of(ar + "replica_groups={}"), (G{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groups_of(ar + "channel_id=1, replica_groups={{0,1}}"), (G{{0, 1, 2, 3, 4, 5, 6, 7}}));
  EXPECT_EQ(groups_of(ar + "channel_id=1, replica_groups={{0},{1}}"), (G{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(
      groups_of(ar + "channel_id=1, use_global_device_ids=true, replica_groups={{0,2},{1,3},{4,5,6,7}}"),
      (G{{0, 2}, {1, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(groups_of("all-to-all(%p), channel_id=1, dimensions={0}, replica_groups={{0,1},{2,3}}"),
            (G{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(groups_of("all-to-all(%p), dimensions={0}, replica_groups={{0,1}}"),
            (G{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(Hlo, SizesAreThoseOfOneDevice) {
  const Module m = ModuleOf(kStep);
  const Step step = StepOf(m);
  const auto& gather = step.collectives[step.nodes[0].collective].what;
  EXPECT_EQ(gather.in_bytes, 64 * 128 * 2);
  EXPECT_EQ(gather.out_bytes, 128 * 128 * 2);
  const auto& reduce = step.collectives[step.nodes[4].collective].what;
  EXPECT_EQ(reduce.in_bytes, 16 * 128 * 4);
  EXPECT_EQ(reduce.out_bytes, 16 * 128 * 4);
}

// Closed forms: 2 m n k; a fusion of a slice reads only the slice.
TEST(Hlo, CountsWorkOfGemmsAndFusions) {
  const Module m = ModuleOf(kStep);
  const Step step = StepOf(m);
  const Facts& dot = step.facts[step.nodes[3].facts];
  EXPECT_EQ(dot.op, "xla::dot");
  EXPECT_EQ(dot.shapes, "[[1, 16, 64], [1, 64, 128]]");
  EXPECT_EQ(dot.types, "[\"c10::BFloat16\", \"c10::BFloat16\"]");
  EXPECT_EQ(dot.operations, 2 * 16 * 64 * 128);
  EXPECT_EQ(dot.bytes, 16 * 64 * 2 + 64 * 128 * 2 + 16 * 128 * 4);
  const Facts& slice = step.facts[step.nodes[13].facts];
  EXPECT_EQ(slice.op, "xla::copy");
  EXPECT_EQ(slice.bytes, 16 * 64 * 2 + 4 + 16 * 64 * 2);
  EXPECT_EQ(slice.operations, 0);
  EXPECT_EQ(step.facts[step.nodes[2].facts].operations, 16 * 64);
}

TEST(Hlo, CountsWorkOfLibraryCalls) {
  const Module m = ModuleOf(R"(HloModule m, num_partitions=1
ENTRY %e (a: bf16[4,16,64], b: bf16[4,64,32], x: f32[8,3,32,32], w: f32[16,3,3,3], q: bf16[2,512,16,128], k: bf16[2,512,2,4,128]) -> f32[] {
  %a = bf16[4,16,64]{2,1,0} parameter(0)
  %b = bf16[4,64,32]{2,1,0} parameter(1)
  %x = f32[8,3,32,32]{3,2,1,0} parameter(2)
  %w = f32[16,3,3,3]{3,2,1,0} parameter(3)
  %q = bf16[2,512,16,128]{3,2,1,0} parameter(4)
  %k = bf16[2,512,2,4,128]{4,3,2,1,0} parameter(5)
  %gemm = (bf16[4,16,32]{2,1,0}, s8[1024]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"alpha_real":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"]}}}
  %conv = f32[8,16,32,32]{3,2,1,0} convolution(%x, %w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  %te = (bf16[2,512,16,128]{3,2,1,0}, f32[2,16,512,1]{3,2,1,0}) custom-call(%q, %k), custom_call_target="te_fused_attn_forward_ffi", backend_config="attn_mask_type = CAUSAL"
  %mine = f32[8]{0} custom-call(%w), custom_call_target="my_kernel"
  ROOT %r = f32[] constant(0)
}
)");
  const Step step = StepOf(m);
  ASSERT_THAT(step.facts, SizeIs(4));
  EXPECT_EQ(step.facts[0].op, "xla::dot");
  EXPECT_EQ(step.facts[0].shapes, "[[4, 16, 64], [4, 64, 32]]");
  EXPECT_EQ(step.facts[0].operations, int64_t{2} * 4 * 16 * 32 * 64);
  EXPECT_EQ(step.facts[1].op, "xla::convolution");
  EXPECT_EQ(step.facts[1].shapes, "[[8, 3, 32, 32], [16, 3, 3, 3]]");
  // Of 3 x 32 pairs along a dimension, 2 would meet the padding (HloCostAnalysis).
  EXPECT_EQ(step.facts[1].operations, int64_t{2} * 8 * 16 * 3 * 94 * 94);
  EXPECT_EQ(step.facts[2].op, "xla::attention");
  EXPECT_EQ(step.facts[2].shapes, "[[2, 512, 16, 128], [2, 512, 4, 128], [2, 512, 4, 128]]");
  EXPECT_EQ(step.facts[2].operations, int64_t{4} * 2 * 16 * 512 * 512 * 128 / 2);
  EXPECT_TRUE(step.facts[3].unknown);
  EXPECT_THAT(step.warnings.back(), HasSubstr("my_kernel (1)"));
}

TEST(Hlo, ReadsAsynchronousCallsOfOtherCollectives) {
  const Module m = ModuleOf(R"(HloModule m, is_scheduled=true, num_partitions=4
%a (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %r = f32[] add(%x, %y)
}
%inner (p: f32[64]) -> f32[16] {
  %p = f32[64]{0} parameter(0)
  ROOT %rs = f32[16]{0} reduce-scatter(%p), channel_id=4, replica_groups=[1,4]<=[4], use_global_device_ids=true, dimensions={0}, to_apply=%a
}, execution_thread="parallel"
ENTRY %e (q: f32[64]) -> f32[16] {
  %q = f32[64]{0} parameter(0)
  %start = ((f32[64]{0}), f32[16]{0}) async-start(%q), calls=%inner, async_execution_thread="parallel"
  %work = f32[64]{0} multiply(%q, %q)
  ROOT %done = f32[16]{0} async-done(%start)
}
)");
  const Step step = StepOf(m);
  EXPECT_THAT(Names(m, step), ElementsAre("start", "work"));
  const auto& c = step.collectives.at(0);
  EXPECT_EQ(c.what.kind, CollectiveKind::kReduceScatter);
  EXPECT_EQ(c.what.in_bytes, 256);
  EXPECT_EQ(c.what.out_bytes, 64);
  EXPECT_EQ(step.nodes[0].stream, StepStream::kCollective);
}

TEST(Hlo, RefusesBadTextByLine) {
  const std::string good = kStep;
  const auto without = [&](absl::string_view from, absl::string_view to) {
    return absl::StrReplaceAll(good, {{from, to}});
  };
  const std::pair<std::string, const char*> cases[] = {
      {"", "HloModule NAME"},
      {"HloModule", "ENTRY"},
      {"HloModule m\n", "no ENTRY"},
      {"HloModule m, num_partitions=0\n", "num_partitions"},
      {"HloModule m, replica_count=99999999999\n", "replica_count"},
      {good.substr(0, good.size() / 2), "closed"},
      {good.substr(0, good.size() - 3), "\"}\""},
      {good.substr(0, good.find("ENTRY")), "no ENTRY"},
      {without("add(%ring, %fusion.12)", "add(%ring, %nowhere)"), "\"nowhere\""},
      {without("add(%ring, %fusion.12)", "add(%ring, %sum)"), "\"sum\""},
      {without("calls=%fused_slice", "calls=%gone"), "\"gone\""},
      {without("body=%body", "body=%main.77"), "calls itself"},
      {without("condition=%condition, body=%body", "condition=%body, body=%main.77"), "calls itself"},
      {without("[4,2]<=[2,4]T(1,0)", "[4,2]<=[2,5]T(1,0)"), "do not match"},
      {without("[4,2]<=[2,4]T(1,0)", "@mesh{x}"), "replica_groups"},
      {without("{{0,1,2,3},{4,5,6,7}}", "{{0,1,2,3},{4,5,6,8}}"), "device 8"},
      {without("{{0,1,2,3},{4,5,6,7}}", "{{0,1,2,3},{3,5,6,7}}"), "twice"},
      {without("{{0,1},{1,2},{2,3},{3,0}}", "{{0,1},{0,2}}"), "twice"},
      {without("{{0,1},{1,2},{2,3},{3,0}}", "{{0,1},{1,9}}"), "{1,9}"},
      {without("{{0,1},{1,2},{2,3},{3,0}}", "{{0,1,2}}"), "source_target_pairs"},
      {without("bf16[16,64]{1,0} multiply", "bf16[16,-4]{1,0} multiply"), "a shape"},
      {without("bf16[16,64]{1,0} multiply", "bf16 multiply"), "a shape"},
      {without("multiply(%h, %h)", "multiply(%h, %h"), "closed"},
      {without("%dot.5 = f32", "dot.5 f32"), "an instruction"},
      {without("lhs_contracting_dims={1}", "lhs_contracting_dims={x}"), "lhs_contracting_dims"},
      {without("index=1\n  %w", "index=-1\n  %w"), "index"},
      {without("channel_id=2", "channel_id=two"), "channel_id"},
      {without("parameter(0), sharding", "parameter(x), sharding"), "parameter(x)"},
      {without("%norm = ", "%h = "), "a second instruction"},
      {without("%condition (state.1", "%body (state.1"), "a second computation"},
  };
  int bad = 0;
  for (const auto& [text, says] : cases) {
    const auto module = ReadHloText(text, "bad.txt");
    const absl::Status status = module.ok() ? BuildStep(*module, "bad.txt").status() : module.status();
    EXPECT_FALSE(status.ok()) << says;
    EXPECT_THAT(std::string(status.message()), testing::AllOf(HasSubstr("bad.txt"), HasSubstr(says)));
    ++bad;
  }
  EXPECT_EQ(bad, 30);
}

// A computation that calls the next one twice, 60 deep, runs nothing: the reader must refuse it, not run
// forever.
TEST(Hlo, RefusesCallsThatDouble) {
  std::string text = "HloModule m\n";
  for (int level = 0; level < 60; ++level) {
    absl::StrAppend(&text, "%c", level, " (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n");
    if (level > 0) {
      absl::StrAppend(&text, "  %a = f32[] call(%p), to_apply=%c", level - 1,
                      "\n  %b = f32[] call(%a), to_apply=%c", level - 1, "\n");
    }
    absl::StrAppend(&text, "}\n");
  }
  absl::StrAppend(&text,
                  "ENTRY %e (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n  ROOT %r = f32[] call(%p), "
                  "to_apply=%c59\n}\n");
  const auto step = BuildStep(ModuleOf(text), "m.txt");
  EXPECT_THAT(std::string(step.status().message()), HasSubstr("runs nothing"));
}

// The same module as proto: shapes, groups and loops are those of the text.
TEST(Hlo, ProtosEqualTheText) {
  using namespace chakra::testing_xplane;  // NOLINT: a builder of messages
  std::string global;
  wire::AppendNumber(26, 2, &global);
  wire::AppendNumber(71, 1, &global);
  std::string trips;
  wire::AppendText(43, "{\"known_trip_count\":{\"n\":\"5\"}}", &trips);
  const HloShape f32{11, {16, 8}};
  const HloComputation body{
      "body",
      1,
      12,
      {{"p", "parameter", f32, 11, {}, {}, ""},
       {"ar", "all-reduce", f32, 12, {11}, {}, global + IotaGroups(2, 4, {4, 2}, {1, 0})}}};
  const HloComputation condition{"cond", 2, 21, {{"q", "parameter", f32, 21, {}, {}, ""}}};
  const HloComputation entry{"main",
                             3,
                             33,
                             {{"x", "parameter", f32, 31, {}, {}, ""},
                              {"loop", "while", f32, 32, {31}, {1, 2}, trips},
                              {"y", "add", f32, 33, {32, 32}, {}, ""}}};
  const std::string proto = EncodeHlo("jit_f", {body, condition, entry}, 8);
  EXPECT_TRUE(LooksLikeHloProto(proto));
  auto m = ReadHloProto(proto, "f.hlo.pb");
  ASSERT_TRUE(m.ok()) << m.status();
  const Step step = StepOf(*m);
  EXPECT_THAT(step.nodes, SizeIs(6));
  EXPECT_EQ(step.mesh.devices(), 8);
  EXPECT_EQ(step.collectives.at(0).groups, (std::vector<std::vector<int64_t>>{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_EQ(step.collectives[0].what.in_bytes, 16 * 8 * 4);
  // Cut anywhere: an error or a whole module, never a crash.
  for (size_t size = 0; size < proto.size(); ++size) {
    const auto cut = ReadHloProto(absl::string_view(proto).substr(0, size), "cut.pb");
    EXPECT_FALSE(cut.ok()) << size;
  }
  std::string snapshot;  // HloSnapshot.hlo
  wire::AppendText(1, proto, &snapshot);
  EXPECT_TRUE(LooksLikeHloProto(snapshot));
  const auto taken = ReadHloProto(snapshot, "f.hlo_snapshot.pb");
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->name, "jit_f");
  HloComputation recursive = body;
  recursive.instructions[1] = {"again", "call", f32, 12, {11}, {1}, ""};
  const auto loop = ReadHloProto(EncodeHlo("jit_f", {recursive, condition, entry}, 8), "f.hlo.pb");
  EXPECT_THAT(std::string(loop.status().message()), HasSubstr("calls itself"));
  HloComputation dangling = body;
  dangling.instructions[1].operands = {99};
  const auto lost = ReadHloProto(EncodeHlo("jit_f", {dangling, condition, entry}, 8), "f.hlo.pb");
  EXPECT_THAT(std::string(lost.status().message()), HasSubstr("operand 99"));
}

// Groups along axes of a mesh, and iota's form in a field of its own, as newer compilers write them.
TEST(Hlo, ReadsNewerFormsOfGroupsInProtos) {
  using namespace chakra::testing_xplane;  // NOLINT: a builder of messages
  using G = std::vector<std::vector<int64_t>>;
  const auto message = [](uint32_t field, const std::string& body) {
    std::string out;
    wire::AppendText(field, body, &out);
    return out;
  };
  const auto number = [](uint32_t field, uint64_t n) {
    std::string out;
    wire::AppendNumber(field, n, &out);
    return out;
  };
  const HloShape f32{11, {16, 8}};
  const auto groups_of = [&](const std::string& groups) -> absl::StatusOr<G> {
    const HloComputation entry{
        "main",
        1,
        12,
        {{"p", "parameter", f32, 11, {}, {}, ""},
         {"ar", "all-reduce", f32, 12, {11}, {}, number(26, 2) + number(71, 1) + groups}}};
    const auto m = ReadHloProto(EncodeHlo("jit_f", {entry}, 8), "f.hlo.pb");
    if (!m.ok()) return m.status();
    return StepOf(*m).collectives.at(0).groups;
  };
  const auto axis = [&](uint64_t size) { return message(1, number(2, size)); };
  const auto ref = [&](uint64_t i) { return message(2, number(1, i)); };
  const std::string mesh = message(1, axis(2) + axis(4));  // x = 2, y = 4
  EXPECT_EQ(*groups_of(message(93, mesh + ref(1))), (G{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(*groups_of(message(93, mesh + ref(0))), (G{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(*groups_of(message(93, mesh + ref(0) + ref(1))), (G{{0, 1, 2, 3, 4, 5, 6, 7}}));
  // The second half of y: the lower bit of the place in y.
  const std::string part = message(2, number(1, 1) + message(2, number(1, 2) + number(2, 2)));
  EXPECT_EQ(*groups_of(message(93, mesh + part)), (G{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  const std::string first = message(2, number(1, 1) + message(2, number(1, 1) + number(2, 2)));
  EXPECT_EQ(*groups_of(message(93, mesh + first)), (G{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  std::string devices;  // of the mesh, with an order of its own
  for (const uint64_t id : {7, 6, 5, 4, 3, 2, 1, 0}) devices += number(2, id);
  EXPECT_EQ(*groups_of(message(93, message(1, axis(2) + axis(4) + devices) + ref(1))),
            (G{{7, 6, 5, 4}, {3, 2, 1, 0}}));
  EXPECT_EQ(*groups_of(message(92, number(1, 4) + number(2, 2) + number(3, 8))),
            (G{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  const std::pair<std::string, const char*> kBad[] = {
      {message(93, mesh + ref(2)), "an axis that the mesh does not have"},
      {message(93, mesh + ref(1) + ref(1)), "an axis of a mesh twice"},
      {message(93, ref(0)), "a mesh without axes"},
      {message(93, message(1, axis(0)) + ref(0)), "a mesh of no device or too many devices"},
      {message(93, message(1, axis(4) + axis(2) + number(2, 1)) + ref(0)), "lists fewer devices"},
      {message(93, mesh + message(2, number(1, 1) + message(2, number(1, 3) + number(2, 2)))),
       "does not divide it"},
  };
  for (const auto& [groups, says] : kBad)
    EXPECT_THAT(std::string(groups_of(groups).status().message()), HasSubstr(says));
}

TEST(Hlo, MakesOneTraceForEachDevice) {
  const std::string path = testing::TempDir() + "/module_0001.jit_train_step.after_optimizations.txt";
  std::ofstream(path) << kStep;
  const auto set = ReadTraceSet({path}, {});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_THAT(set->ranks, SizeIs(8));
  EXPECT_EQ(set->groups.at("ranks 0,1,2,3"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(set->groups.at("ranks 0,4"), (std::vector<int>{0, 4}));
  uint64_t sends = 0, receives = 0, collectives = 0;
  for (const RankTrace& rank : set->ranks) {
    for (uint32_t row = 0; row < rank.graph->size(); ++row) {
      sends += rank.graph->type[row] == NodeType::kSend ? 1 : 0;
      receives += rank.graph->type[row] == NodeType::kRecv ? 1 : 0;
      collectives += rank.graph->type[row] == NodeType::kCollective ? 1 : 0;
    }
  }
  EXPECT_EQ(sends, 4u);  // devices 4 to 7 are in no pair
  EXPECT_EQ(receives, 4u);
  EXPECT_EQ(collectives, 8u * 2 * 2);
}

}  // namespace
}  // namespace chakra::hlo::CHAKRA_FILE
