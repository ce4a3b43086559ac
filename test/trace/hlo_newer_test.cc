// HLO modules as newer versions of XLA and other backends write them: tables of stack frames, groups along
// the axes of a mesh, operations that run beside others, GEMMs written as convolutions, loops of all kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/trace/hlo_testing.h"
#include "trace/import/hlo/collectives.h"
#include "trace/import/hlo/products.h"
#include "trace/import/hlo/step.h"
#include "trace/import/hlo/text_reader.h"
#include "trace/import/hlo/text_values.h"
#include "trace/import/hlo/write.h"

namespace chakra::hlo::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<std::string> NodeNames(const Module& m, const Step& step) {
  std::vector<std::string> out;
  for (const StepNode& n : step.nodes)
    out.push_back(m.computations[n.computation].instructions[n.instruction].name);
  return out;
}

bool WaitsFor(const Step& step, size_t node, uint32_t other) {
  const StepNode& n = step.nodes[node];
  const auto end = step.deps.begin() + n.dep_end;
  return std::find(step.deps.begin() + n.dep_begin, end, other) != end;
}

// Groups as text: "0,1 2,3".
std::string GroupText(const std::string& text) {
  const auto groups = ParseReplicaGroups(text);
  if (!groups.has_value()) return "refused";
  return absl::StrJoin(ListGroups(*groups), " ", [](std::string* out, const std::vector<int64_t>& group) {
    absl::StrAppend(out, absl::StrJoin(group, ","));
  });
}

// The head and the tables are those of HloModule::ToString (openxla/xla, hlo_parser_test.cc: StackFrameIndex,
// DebugAttributes, OriginalValueRecoveryTable), attributes over several lines those of its tests.
TEST(HloNewer, ReadsTablesAndAttributesOverLines) {
  const Module m = ModuleOf(
      R"(HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}, num_partitions=2, origin_recovery_table={
  {"constant"} : {"constant__ovp0"},
  "
    HloModule recovery, frontend_attributes={foo=\"bar\"}
    ENTRY %r (p: s32[2]) -> s32[2] {
      ROOT %p = s32[2]{0} parameter(0)
    }
  "
},
debug_attributes={
  {"constant"}:({log_mode=default,callback_id=123})
}

FileNames
1 "<embedded module>"
2 "yet/{another}/test.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=153 end_line=153 column=2 end_column=31}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y)
}, execution_thread="main"

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0), origin={({"v1"}, {"v2"})}, metadata={op_name="p" stack_frame_id=1}
  %ar = f32[8]{0} all-reduce(%p), channel_id=1,
      replica_groups=mesh['x'=2], device_ids=(1,0) {'x'},
      use_global_device_ids=true,
      to_apply=%add
  ROOT %n = f32[8]{0} negate(%ar)
      , metadata={op_name="n"} }
)");
  const Step step = StepOf(m);
  EXPECT_EQ(m.partitions, 2);
  EXPECT_TRUE(m.scheduled);
  EXPECT_THAT(NodeNames(m, step), ElementsAre("ar", "n"));
  EXPECT_THAT(step.collectives.at(0).groups, ElementsAre(ElementsAre(1, 0)));
}

TEST(HloNewer, RefusesASecondModule) {
  const auto two =
      ReadHloText("HloModule a\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n\nHloModule b\n", "two.hlo");
  EXPECT_THAT(std::string(two.status().message()), HasSubstr("two.hlo: line 6: a second HLO module"));
}

// Mesh::ToString, AxisRef::ToString and MeshAxesReplicaGroupList::ToString (xla/hlo/ir).
TEST(HloNewer, ReadsGroupsAlongMeshAxes) {
  EXPECT_EQ(GroupText("mesh['a'=2,'b'=2] {'b'}"), "0,1 2,3");
  EXPECT_EQ(GroupText("mesh['a'=2,'b'=2] {'a'}"), "0,2 1,3");
  EXPECT_EQ(GroupText("mesh['a'=2,'b'=2] {'a','b'}"), "0,1,2,3");
  EXPECT_EQ(GroupText("mesh['a'=2,'b'=2] {'b','a'}"), "0,2,1,3");
  EXPECT_EQ(GroupText("mesh['a'=2,'b'=1] {}"), "0 1");
  EXPECT_EQ(GroupText("mesh[a=2,b=2] {b}"), "0,1 2,3");
  EXPECT_EQ(GroupText("mesh['a'=8] {'a':(1)2}"), "0,4 1,5 2,6 3,7");
  EXPECT_EQ(GroupText("mesh['a'=8] {'a':(4)2}"), "0,1 2,3 4,5 6,7");
  EXPECT_EQ(GroupText("mesh['a'=8] {'a':(1)2,'a':(4)2}"), "0,1,4,5 2,3,6,7");
  EXPECT_EQ(GroupText("mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'b'}"), "0,2 1,3");
  EXPECT_EQ(GroupText("mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b'}"), "0,2,4,6 1,3,5,7");
  for (const char* other :
       {"mesh['a'=2]", "mesh['a'=2] {'b'}", "mesh['a'=2] {'a','a'}", "mesh['a'] {'a'}", "mesh['a'=0] {'a'}",
        "mesh['a'=8] {'a':(3)2}", "mesh['a'=8] {'a':(1)4,'a':(2)4}", "mesh['a'=4], device_ids=(0,1) {'a'}",
        "mesh['a'=4], device_ids=([3]) {'a'}", "mesh['a'=4], devices=(0) {'a'}", "mesh", "{"})
    EXPECT_EQ(GroupText(other), "refused") << other;
}

// "%p#1": a part of a tuple without an instruction of its own (hlo_parser_test.cc: CompactGte).
TEST(HloNewer, PartsOfTuplesNeedNoInstruction) {
  const Module m = ModuleOf(R"(HloModule m
ENTRY %e (p0: (f32[10], (f32[20], f32[30]))) -> f32[20] {
  %p0 = (f32[10], (f32[20], f32[30])) parameter(0)
  ROOT %r = f32[20] add(f32[20] %p0#1#0, %p0#1#0)
}
)");
  ASSERT_THAT(m.computations.at(0).instructions, SizeIs(4));
  EXPECT_EQ(StepOf(m).facts.at(0).shapes, "[[20], [20]]");
  const auto none = ReadHloText(
      "HloModule m\nENTRY e {\n  p = (f32[1]) parameter(0)\n  ROOT r = f32[1] negate(p#1)\n}\n", "none.hlo");
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("operand \"p#1\""));
}

// The short forms of HLO text for async-start, -update and -done (hlo_parser_test.cc:
// AsyncOpsWithSyntaxSugar).
constexpr char kBeside[] = R"(HloModule m, is_scheduled=true, num_partitions=4
%copying (p: f32[64]) -> f32[16] {
  %p = f32[64]{0} parameter(0)
  ROOT %cut = f32[16]{0} slice(%p), slice={[0:16]}
}
%both (p: f32[64], q: f32[64]) -> (f32[64], f32[16]) {
  %p = f32[64]{0} parameter(0)
  %q = f32[64]{0} parameter(1)
  %twice = f32[64]{0} add(%p, %p)
  %ag = f32[64]{0} all-to-all(%twice), channel_id=5, replica_groups={{0,1,2,3}}, dimensions={0}
  %rs = f32[16]{0} reduce-scatter(%q), channel_id=6, replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=%copying
  ROOT %t = (f32[64]{0}, f32[16]{0}) tuple(%ag, %rs)
}
ENTRY %e (q: f32[64]) -> f32[64] {
  %q = f32[64]{0} parameter(0)
  %first = f32[64]{0} negate(%q)
  %fs = ((f32[64]{0}), f32[16]{0}, s32[]) fusion-start(%first), kind=kLoop, calls=%copying
  %rss = ((f32[64]{0}), f32[16]{0}) reduce-scatter-start(%q), channel_id=4, replica_groups=[1,4]<=[4], use_global_device_ids=true, dimensions={0}, to_apply=%copying
  %cs = ((f32[64]{0}, f32[64]{0}), (f32[64]{0}, f32[16]{0})) call-start(%first, %q), to_apply=%both, async_execution_thread="sparsecore"
  %main = f32[64]{0} multiply(%q, %q)
  %fu = ((f32[64]{0}), f32[16]{0}, s32[]) fusion-update(%fs)
  %fd = f32[16]{0} fusion-done(%fu)
  %after.fd = f32[16]{0} negate(%fd)
  %rsd = f32[16]{0} reduce-scatter-done(%rss)
  %after.rsd = f32[16]{0} negate(%rsd)
  %cd = (f32[64]{0}, f32[16]{0}) call-done(%cs)
  %part = f32[64]{0} get-tuple-element(%cd), index=0
  ROOT %last = f32[64]{0} negate(%part)
}
)";

TEST(HloNewer, StartedOperationsRunBesideTheMainStream) {
  const Module m = ModuleOf(kBeside);
  const Step step = StepOf(m);
  ASSERT_THAT(NodeNames(m, step), ElementsAre("first", "fs.fusion", "rss", "twice", "ag", "rs", "main",
                                              "after.fd", "after.rsd", "last"));
  using S = StepStream;
  std::vector<S> streams;
  for (const StepNode& n : step.nodes) streams.push_back(n.stream);
  EXPECT_THAT(streams, ElementsAre(S::kCompute, S::kBeside, S::kCollective, S::kBeside, S::kCollective,
                                   S::kCollective, S::kCompute, S::kCompute, S::kCompute, S::kCompute));
  EXPECT_TRUE(WaitsFor(step, 4, 3));  // an operation of a started computation waits for the one before it
  for (const uint32_t started : {1u, 2u, 3u, 4u, 5u}) {
    EXPECT_TRUE(WaitsFor(step, started, 0)) << started;
    EXPECT_FALSE(WaitsFor(step, 6, started)) << started;
  }
  EXPECT_TRUE(WaitsFor(step, 7, 1));
  EXPECT_FALSE(WaitsFor(step, 7, 2));
  EXPECT_TRUE(WaitsFor(step, 8, 2));
  EXPECT_FALSE(WaitsFor(step, 8, 4));
  EXPECT_TRUE(WaitsFor(step, 9, 4));
  EXPECT_TRUE(WaitsFor(step, 9, 5));
  EXPECT_EQ(step.collectives.at(0).what.in_bytes, 256);
  EXPECT_EQ(step.collectives.at(0).what.out_bytes, 64);
  EXPECT_EQ(step.facts[step.nodes[1].facts].bytes, 64 + 64);  // only the part that the fusion cuts out
}

// Fusions that hold collectives: XLA's for GPUs that cut and place in the same kernel, and those of TPUs.
TEST(HloNewer, KeepsCollectivesInsideFusions) {
  const Module m = ModuleOf(R"(HloModule m, is_scheduled=true, num_partitions=4
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y)
}
%dynamic-slice-fusion (p: f32[4,64]) -> f32[16] {
  %p = f32[4,64]{1,0} parameter(0)
  %row = f32[1,64]{1,0} slice(%p), slice={[1:2], [0:64]}
  %flat = f32[64]{0} bitcast(%row)
  ROOT %rs = f32[16]{0} reduce-scatter(%flat), channel_id=1, replica_groups=[1,4]<=[4], use_global_device_ids=true, dimensions={0}, to_apply=%add
}
%all-reduce-scatter (p: f32[64], i: u32[]) -> f32[16] {
  %p = f32[64]{0} parameter(0)
  %i = u32[] parameter(1)
  %part = u32[] multiply(%i, %i)
  %ar = f32[64]{0} all-reduce(%p), channel_id=2, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%add
  ROOT %mine = f32[16]{0} dynamic-slice(%ar, %i), dynamic_slice_sizes={16}
}
%scaled (p: f32[64]) -> f32[64] {
  %p = f32[64]{0} parameter(0)
  %ar = f32[64]{0} all-reduce(%p), channel_id=3, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%add
  ROOT %exp = f32[64]{0} exponential(%ar)
}
ENTRY %e (p: f32[4,64], q: f32[64], i: u32[]) -> f32[64] {
  %p = f32[4,64]{1,0} parameter(0)
  %q = f32[64]{0} parameter(1)
  %i = u32[] parameter(2)
  %a = f32[16]{0} fusion(%p), kind=kCustom, calls=%dynamic-slice-fusion
  %b = f32[16]{0} fusion(%q, %i), kind=kCustom, calls=%all-reduce-scatter
  ROOT %c = f32[64]{0} fusion(%q), kind=kOutput, calls=%scaled
}
)");
  const Step step = StepOf(m);
  ASSERT_THAT(NodeNames(m, step), ElementsAre("a", "b", "ar", "c"));
  EXPECT_EQ(step.facts.at(0).operations, 64);
  ASSERT_THAT(step.collectives, SizeIs(3));
  EXPECT_EQ(step.collectives[1].what.kind, CollectiveKind::kReduceScatter);
  EXPECT_EQ(step.collectives[1].what.in_bytes, 256);
  EXPECT_EQ(step.collectives[1].what.out_bytes, 64);
  EXPECT_EQ(step.collectives[2].what.kind, CollectiveKind::kAllReduce);
  EXPECT_TRUE(WaitsFor(step, step.nodes.size() - 1, static_cast<uint32_t>(step.nodes.size() - 2)));
}

// Operands for positions, for the root or for sizes are no data.
TEST(HloNewer, CountsOnlyDataOperands) {
  const Module m = ModuleOf(R"(HloModule m, replica_count=8
%add (x: bf16[], y: bf16[]) -> bf16[] {
  %x = bf16[] parameter(0)
  %y = bf16[] parameter(1)
  ROOT %z = bf16[] add(%x, %y)
}
ENTRY %e (p: bf16[1024,256], o: bf16[2048,256], n: s32[8], root: s32[1], at: (s32[], s32[])) -> bf16[2048,256] {
  %p = bf16[1024,256]{1,0} parameter(0)
  %o = bf16[2048,256]{1,0} parameter(1)
  %n = s32[8]{0} parameter(2)
  %root = s32[1]{0} parameter(3)
  %at = (s32[], s32[]) parameter(4)
  %ra2a = bf16[2048,256]{1,0} ragged-all-to-all(%p, %o, %n, %n, %n, /*index=5*/%n), replica_groups={}
  %cb = bf16[1024,256]{1,0} collective-broadcast(%p, %root), replica_groups={{1,0},{2,3}}, has_dynamic_root=true
  %cr = bf16[1024,256]{1,0} collective-reduce(%p, %root), replica_groups={{2,3},{0,1}}, has_dynamic_root=true, to_apply=%add
  ROOT %cp = bf16[2048,256]{1,0} collective-permute(%p, %o, %at, %at), source_target_pairs={{0,1},{1,0}}, slice_sizes={{64,32},{1,256}}
}
)");
  const Step step = StepOf(m);
  ASSERT_THAT(step.collectives, SizeIs(4));
  EXPECT_EQ(step.collectives[0].what.in_bytes, 1024 * 256 * 2);
  EXPECT_EQ(step.collectives[0].what.out_bytes, 2048 * 256 * 2);
  EXPECT_EQ(step.collectives[1].what.in_bytes, 1024 * 256 * 2);
  EXPECT_EQ(step.collectives[2].what.kind, CollectiveKind::kReduce);
  EXPECT_EQ(step.collectives[2].what.in_bytes, 1024 * 256 * 2);
  EXPECT_EQ(step.collectives[3].what.in_bytes, (64 * 32 + 256) * 2);
}

// Transfers to the host do not use the network; warnings name them.
TEST(HloNewer, WarnsOfTransfersToTheHost) {
  const Step step = StepOf(ModuleOf(R"(HloModule m, is_scheduled=true, num_partitions=2
ENTRY %e (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = token[] after-all()
  %s = (f32[8]{0}, u32[], token[]) send(%p, %t), channel_id=1, is_host_transfer=true
  %sd = token[] send-done(%s), channel_id=1, is_host_transfer=true
  %o = token[] outfeed(%p, %t), outfeed_shape=f32[8]{0}
  ROOT %n = f32[8]{0} negate(%p)
}
)"));
  EXPECT_THAT(step.warnings, ElementsAre(HasSubstr("sends and receives exchange data with the host"),
                                         HasSubstr("infeeds and outfeeds")));
}

// Memory space 5 is the host's (Layout::kHostMemorySpace): copies between host and device go over the link.
TEST(HloNewer, CopiesToTheHostGoOverTheLink) {
  const std::string text = R"(HloModule m, is_scheduled=true, num_partitions=1
%take (p: f32[4,1024], i: s32[]) -> f32[1,1024] {
  %p = f32[4,1024]{1,0:T(8,128)S(5)} parameter(0)
  %i = s32[] parameter(1)
  ROOT %s = f32[1,1024]{1,0} dynamic-slice(%p, %i, %i), dynamic_slice_sizes={1,1024}
}
ENTRY %e (p: f32[1024], h: f32[4,1024], i: s32[]) -> f32[1024] {
  %p = f32[1024]{0} parameter(0)
  %h = f32[4,1024]{1,0:S(5)} parameter(1)
  %i = s32[] parameter(2)
  %out = (f32[1024]{0:S(5)}, f32[1024]{0}, u32[]) copy-start(%p)
  %take.1 = f32[1,1024]{1,0} fusion(%h, %i), kind=kLoop, calls=%take
  %out.done = f32[1024]{0:S(5)} copy-done(%out)
  %same = f32[1024]{0:S(5)} copy(%out.done)
  %fast = f32[1024]{0:S(1)} copy(%p)
  ROOT %back = f32[1024]{0} copy(%same)
}
)";
  const Module m = ModuleOf(text);
  const Step step = StepOf(m);
  ASSERT_THAT(NodeNames(m, step), ElementsAre("out", "take.1", "same", "fast", "back"));
  using H = HostCopy;
  std::vector<H> hosts;
  for (const Facts& f : step.facts) hosts.push_back(f.host);
  EXPECT_THAT(hosts, ElementsAre(H::kToHost, H::kFromHost, H::kNone, H::kNone, H::kFromHost));
  for (const size_t moved : {0u, 1u, 4u}) EXPECT_NEAR(step.facts[moved].bytes, 4096, 4) << moved;
  EXPECT_EQ(step.nodes[0].stream, StepStream::kCopy);
  const auto traces = TracesOf(m, step, "newer.txt", ReadOptions());
  ASSERT_TRUE(traces.ok()) << traces.status();
  const Graph& graph = *traces->ranks[0].graph;
  EXPECT_EQ(graph.type[0], NodeType::kMemStore);
  EXPECT_EQ(graph.type[1], NodeType::kMemLoad);
  EXPECT_EQ(graph.type[2], NodeType::kComp);
  EXPECT_EQ(graph.name_of(4), "Memcpy HtoD (Pinned -> Device)");
}

// How often a loop with this condition, step and first value runs its body, which is one negate.
int64_t RoundsOf(const std::string& condition, const std::string& next, int first) {
  const std::string text = absl::StrCat(R"(HloModule m, is_scheduled=true, num_partitions=1
%cmp (a: s32[], b: s32[]) -> pred[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction=LT
}
%cond (s: (f32[8], s32[], s32[])) -> pred[] {
  %s = (f32[8], s32[], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=1
  %n = s32[] get-tuple-element(%s), index=2
  %c = s32[] constant(10)
  ROOT %r = pred[] )",
                                        condition, R"(
}
%body (s: (f32[8], s32[], s32[])) -> (f32[8], s32[], s32[]) {
  %s = (f32[8], s32[], s32[]) parameter(0)
  %h = f32[8] get-tuple-element(%s), index=0
  %i = s32[] get-tuple-element(%s), index=1
  %n = s32[] get-tuple-element(%s), index=2
  %one = s32[] constant(1)
  %three = s32[] constant(3)
  %g = f32[8] negate(%h)
  %next = s32[] )",
                                        next, R"(
  ROOT %t = (f32[8], s32[], s32[]) tuple(%g, %next, %n)
}
ENTRY %e (p: f32[8]) -> f32[8] {
  %p = f32[8] parameter(0)
  %first = s32[] constant()",
                                        first, R"()
  %end = s32[] constant(7)
  %init = (f32[8], s32[], s32[]) tuple(%p, %first, %end)
  %w = (f32[8], s32[], s32[]) while(%init), condition=%cond, body=%body
  ROOT %o = f32[8] get-tuple-element(%w), index=0
}
)");
  const Module m = ModuleOf(text);
  const Step step = StepOf(m);
  int64_t rounds = 0;
  for (const std::string& name : NodeNames(m, step)) rounds += name == "g" ? 1 : 0;
  const bool warned = absl::StrContains(absl::StrJoin(step.warnings, "\n"), "the trip count of loop");
  return warned ? -rounds : rounds;
}

TEST(HloNewer, CountsLoopsOfAllKinds) {
  EXPECT_EQ(RoundsOf("compare(%i, %c), direction=LT", "add(%i, %one)", 0), 10);
  EXPECT_EQ(RoundsOf("compare(%i, %c), direction=LE", "add(%three, %i)", 1), 4);
  EXPECT_EQ(RoundsOf("compare(%c, %i), direction=GT", "add(%i, %three)", 0), 4);
  EXPECT_EQ(RoundsOf("compare(%c, %i), direction=GE", "add(%i, %one)", 0), 11);
  EXPECT_EQ(RoundsOf("compare(%i, %c), direction=NE", "add(%i, %one)", 4), 6);
  EXPECT_EQ(RoundsOf("compare(%i, %c), direction=GT", "subtract(%i, %three)", 20), 4);
  EXPECT_EQ(RoundsOf("compare(%i, %n), direction=LT", "add(%i, %one)", 0), 7);
  EXPECT_EQ(RoundsOf("fusion(%i, %c), kind=kLoop, calls=%cmp", "add(%i, %one)", 0), 10);
  EXPECT_EQ(RoundsOf("compare(%i, %c), direction=NE", "add(%i, %three)", 0), -1);  // never equal
  EXPECT_EQ(RoundsOf("compare(%i, %c), direction=GT", "add(%i, %one)", 20), -1);   // without an end
  EXPECT_EQ(RoundsOf("compare(%i, %c), direction=LT", "multiply(%i, %three)", 1), -1);
}

// The state is one number, the constant is on the left (hlo_parser_test.cc: WhileWithScalarS32Result).
TEST(HloNewer, CountsLoopsWithOneNumberAsState) {
  const Module m = ModuleOf(R"(HloModule m, is_scheduled=true, num_partitions=1
%body (p: s32[]) -> s32[] {
  %one = s32[] constant(1)
  %p = s32[] parameter(0)
  ROOT %a = s32[] add(%one, %p)
}
%cond (p: s32[]) -> pred[] {
  %five = s32[] constant(5)
  %p = s32[] parameter(0)
  ROOT %g = pred[] compare(%five, %p), direction=GT
}
ENTRY %e () -> s32[] {
  %zero = s32[] constant(0)
  ROOT %w = s32[] while(%zero), condition=%cond, body=%body
}
)");
  EXPECT_THAT(StepOf(m).nodes, SizeIs(5));
}

// GEMMs that are not plain dots, and the cost that an author gives for a kernel.
TEST(HloNewer, CountsWorkOfAllKindsOfGemms) {
  const Module m = ModuleOf(R"(HloModule m, is_scheduled=true, num_partitions=1
%inner (p: bf16[64,32]) -> f32[64,32] {
  %p = bf16[64,32]{1,0} parameter(0)
  ROOT %c = f32[64,32]{1,0} convert(%p)
}
%nested (a: bf16[64,32], b: f32[32,16]) -> f32[64,16] {
  %a = bf16[64,32]{1,0} parameter(0)
  %b = f32[32,16]{1,0} parameter(1)
  %f = f32[64,32]{1,0} fusion(%a), kind=kLoop, calls=%inner
  ROOT %d = f32[64,16]{1,0} dot(%f, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY %e (a: bf16[128,512], w: bf16[16,512,256], g: s32[16], x: f8e4m3fn[32,256], y: f8e4m3fn[16,256], s: f8e8m0fnu[32,8], u: f8e8m0fnu[16,8], h: bf16[128,256], k: bf16[512,64], n: bf16[64,32], o: f32[32,16]) -> f32[] {
  %a = bf16[128,512]{1,0} parameter(0)
  %w = bf16[16,512,256]{2,1,0} parameter(1)
  %g = s32[16]{0} parameter(2)
  %x = f8e4m3fn[32,256]{1,0} parameter(3)
  %y = f8e4m3fn[16,256]{1,0} parameter(4)
  %s = f8e8m0fnu[32,8]{1,0} parameter(5)
  %u = f8e8m0fnu[16,8]{1,0} parameter(6)
  %h = bf16[128,256]{1,0} parameter(7)
  %k = bf16[512,64]{1,0} parameter(8)
  %n = bf16[64,32]{1,0} parameter(9)
  %o = f32[32,16]{1,0} parameter(10)
  %ragged = bf16[128,256]{1,0} ragged-dot(%a, %w, %g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
  %scaled = f32[32,16]{1,0} scaled-dot(%x, %y, %s, %u), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  %sparse = f32[128,64]{1,0} dot(%h, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sparsity=L.1@2:4
  %fused = f32[64,16]{1,0} fusion(%n, %o), kind=kCustom, calls=%nested
  %block = f32[32,16]{1,0} custom-call(%x, %y, %s, %u), custom_call_target="__op$block_scaled_dot"
  %pallas = bf16[128,512]{1,0} custom-call(%a), custom_call_target="tpu_custom_call", backend_config={"custom_call_config":{"body":"TUzv","cost_estimate":{"flops":"1000","transcendentals":7,"bytes_accessed":4096}}}
  ROOT %r = f32[] constant(0)
}
)");
  const Step step = StepOf(m);
  std::vector<int64_t> operations;
  for (const Facts& f : step.facts) operations.push_back(f.operations);
  EXPECT_THAT(operations, ElementsAre(2 * 128 * 512 * 256, 2 * 32 * 16 * 256, 2 * 128 * 64 * 512,
                                      2 * 64 * 16 * 32 + 64 * 32, 2 * 32 * 16 * 256, 1000));
  for (size_t i = 0; i + 1 < step.facts.size(); ++i) EXPECT_EQ(step.facts[i].op, "xla::dot") << i;
  EXPECT_EQ(step.facts[0].shapes, "[[1, 128, 512], [1, 512, 256]]");
  EXPECT_EQ(step.facts[5].bytes, 4096);
  EXPECT_THAT(step.warnings, SizeIs(0));
}

// Attention as the calls of cuDNN (jax/_src/cudnn/fused_attention_stablehlo.py) and Transformer Engine write
// it.
TEST(HloNewer, ReadsMasksOfAttention) {
  const auto operations = [](const std::string& target, const std::string& config, const std::string& q,
                             const std::string& k) {
    const Module m = ModuleOf(
        absl::StrCat("HloModule m, is_scheduled=true, num_partitions=1\nENTRY %e (q: ", q, ", k: ", k,
                     ") -> f32[] {\n  %q = ", q, " parameter(0)\n  %k = ", k, " parameter(1)\n  %a = (", q,
                     ", u8[33816576]{0}) custom-call(%q, %k, %k), custom_call_target=\"", target,
                     "\", backend_config={", config, "}\n  ROOT %r = f32[] constant(0)\n}\n"));
    const Step step = StepOf(m);
    EXPECT_EQ(step.facts.at(0).bytes, 2 * BytesOf(m.computations[0].instructions[0].shape) +
                                          BytesOf(m.computations[0].instructions[1].shape));
    return absl::StrCat(step.facts.at(0).operations, " ", step.facts.at(0).shapes);
  };
  const auto cudnn = [](const std::string& mask) {
    return absl::StrCat(
        "\"cudnn_fmha_backend_config\":{\"intermediate_tensor_shape\":{\"element_type\":\"BF16\","
        "\"dimensions\":[\"2\",\"16\",\"512\",\"256\"]},",
        mask, "}");
  };
  const int64_t all = int64_t{4} * 2 * 16 * 512 * 256 * 64;
  const std::string shapes = " [[2, 512, 16, 64], [2, 256, 4, 64], [2, 256, 4, 64]]";
  const std::string q = "bf16[2,512,16,64]{3,2,1,0}", k = "bf16[2,256,4,64]{3,2,1,0}";
  EXPECT_EQ(
      operations("__cudnn$fmhaSoftmax", cudnn("\"mask_type\":\"NO_MASK\",\"is_causal_mask\":false"), q, k),
      absl::StrCat(all, shapes));
  EXPECT_EQ(operations("__cudnn$fmhaSoftmax", cudnn("\"mask_type\":\"PADDING_CAUSAL\""), q, k),
            absl::StrCat(all / 2, shapes));
  EXPECT_EQ(
      operations("__cudnn$fmhaSoftmax", cudnn("\"mask_type\":\"CAUSAL\",\"sliding_window_length\":64"), q, k),
      absl::StrCat(all / 4, shapes));
  // Heads before lengths: the shape of the scores shows the order.
  EXPECT_EQ(operations("__cudnn$fmhaSoftmax", cudnn("\"mask_type\":\"NO_MASK\""),
                       "bf16[2,16,512,64]{3,2,1,0}", "bf16[2,4,256,64]{3,2,1,0}"),
            absl::StrCat(all, shapes));
  const std::string backward = " [[2, 512, 16, 64], [2, 512, 16, 64], [2, 256, 4, 64], [2, 256, 4, 64]]";
  EXPECT_EQ(operations("__cudnn$fmhaSoftmaxBackward", cudnn("\"mask_type\":\"CAUSAL\""), q, k),
            absl::StrCat(all / 4 * 10 / 2, backward));
  const auto te = [](int mask, int left) {
    return absl::StrCat("attn_heads = 16 : i64, is_training = true, mask_type = ", mask,
                        " : i64, window_size_left = ", left, " : i64, window_size_right = -1 : i64");
  };
  EXPECT_EQ(operations("te_fused_attn_forward_ffi", te(1, -1), q, k), absl::StrCat(all, shapes));
  EXPECT_EQ(operations("te_fused_attn_forward_ffi", te(2, -1), q, k), absl::StrCat(all / 2, shapes));
  EXPECT_EQ(operations("te_fused_attn_forward_ffi", te(3, 31), q, k), absl::StrCat(all / 8, shapes));
}

// Pairs of an output and a weight that meet an input, counted by trying them all.
double PairsByTrying(const WindowDim& w, int64_t in, int64_t out) {
  double n = 0;
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t k = 0; k < w.size; ++k) {
      const int64_t at = o * w.stride + k * w.dilation - w.pad_low;
      if (at >= 0 && at % w.base_dilation == 0 && at / w.base_dilation < in) ++n;
    }
  }
  return n;
}

TEST(HloNewer, ConvolutionsCountPairsInsideTheInput) {
  Instruction i;
  i.conv.input_spatial = i.conv.kernel_spatial = i.conv.output_spatial = {1};
  i.conv.input_batch = i.conv.output_batch = 0;
  i.conv.input_feature = i.conv.output_feature = 2;
  i.conv.kernel_input = 0;
  i.conv.kernel_output = 2;
  i.window.resize(1);
  WindowDim& w = i.window[0];
  int tried = 0;
  for (w.size = 1; w.size <= 7; ++w.size) {
    for (w.stride = 1; w.stride <= 4; ++w.stride) {
      for (w.dilation = 1; w.dilation <= 3; ++w.dilation) {
        for (w.base_dilation = 1; w.base_dilation <= 4; ++w.base_dilation) {
          for (w.pad_low = -2; w.pad_low <= 5; ++w.pad_low) {
            const int64_t in = 1 + tried % 9, out = 1 + tried % 7;
            ++tried;
            Shape x{"f32", {2, in, 3}, {}}, weights{"f32", {3, w.size, 5}, {}},
                result{"f32", {2, out, 5}, {}};
            ASSERT_EQ(ConvolutionOperations(x, weights, result, i), 2 * 2 * 3 * 5 * PairsByTrying(w, in, out))
                << w.size << " " << w.stride << " " << w.dilation << " " << w.base_dilation << " "
                << w.pad_low;
          }
        }
      }
    }
  }
  EXPECT_GT(tried, 2000);
}

// GEMMs as XLA writes them for TPUs: without a window, and with one that walks over 16 batches
// (BatchDotToConvolution's form: size and lhs_dilate 16, stride 15).
TEST(HloNewer, ReadsGemmsWrittenAsConvolutions) {
  const Module m = ModuleOf(R"(HloModule m, is_scheduled=true, num_partitions=1
ENTRY %e (a: bf16[128,512], w: bf16[512,256], q: bf16[16,128,64], k: bf16[16,64,128], x: f32[128,7,7,512], f: f32[3,3,512,512]) -> f32[] {
  %a = bf16[128,512]{1,0:T(8,128)(2,1)} parameter(0)
  %w = bf16[512,256]{1,0:T(8,128)(2,1)S(1)} parameter(1)
  %q = bf16[16,128,64]{2,1,0} parameter(2)
  %k = bf16[16,64,128]{2,1,0} parameter(3)
  %x = f32[128,7,7,512]{0,3,2,1} parameter(4)
  %f = f32[3,3,512,512]{3,2,1,0} parameter(5)
  %plain = bf16[128,256]{1,0} convolution(%a, %w), dim_labels=bf_io->bf
  %batch = f32[16,128,128]{2,1,0} convolution(%q, %k), window={size=16 stride=15 pad=0_0 lhs_dilate=16}, dim_labels=0bf_0io->0bf
  %gradient = f32[128,14,14,512]{0,3,2,1} convolution(%x, %f), window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f
  ROOT %r = f32[] constant(0)
}
)");
  const Step step = StepOf(m);
  ASSERT_THAT(step.facts, SizeIs(3));
  EXPECT_EQ(step.facts[0].op, "xla::dot");
  EXPECT_EQ(step.facts[0].shapes, "[[1, 128, 512], [1, 512, 256]]");
  EXPECT_EQ(step.facts[0].operations, 2 * 128 * 512 * 256);
  EXPECT_EQ(step.facts[1].shapes, "[[16, 128, 64], [16, 64, 128]]");
  EXPECT_EQ(step.facts[1].operations, int64_t{2} * 16 * 128 * 64 * 128);
  EXPECT_EQ(step.facts[2].op, "xla::convolution");
  const WindowDim hole{3, 1, 1, 1, 2};
  EXPECT_EQ(static_cast<double>(step.facts[2].operations),
            2.0 * 128 * 512 * 512 * std::pow(PairsByTrying(hole, 7, 14), 2));
}

}  // namespace
}  // namespace chakra::hlo::CHAKRA_FILE
