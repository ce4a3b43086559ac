// STAGE's traces of shared/data/stage, rebuilt from their configuration: the counts that are equal, and the
// differences with their reasons (test/validation/stage.md).
#include "trace/generate/stage.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "test/folders.h"
#include "test/trace/generate_testing.h"
#include "trace/import/reader.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

// The nodes of one kind in a rank. STAGE counts a multiplication with its addition as one operation, and
// elements instead of bytes.
struct Sum {
  int64_t nodes = 0, operations = 0, bytes = 0;

  bool operator==(const Sum&) const = default;
  Sum Times(int64_t operations_by, int64_t bytes_by) const {
    return {nodes, operations * operations_by, bytes * bytes_by};
  }
};
std::ostream& operator<<(std::ostream& out, const Sum& s) {
  return out << s.nodes << " nodes, " << s.operations << " operations, " << s.bytes << " bytes";
}
using Sums = std::map<std::string, Sum>;

// "mb3.transformer.17.mha.qkv@0_COMP" gives "mha.qkv": the tensor's name without its numbers and its suffix.
std::string NameOfTensor(absl::string_view name) {
  const absl::string_view tensor = name.substr(0, name.find('@'));
  std::string out;
  for (const absl::string_view part : absl::StrSplit(tensor, '.')) {
    int number = 0;
    const bool batch = absl::StartsWith(part, "mb") && absl::SimpleAtoi(part.substr(2), &number);
    if (batch || part == "transformer" || absl::StartsWith(part, "shadow_") ||
        absl::SimpleAtoi(part, &number))
      continue;
    absl::StrAppend(&out, out.empty() ? "" : ".", part);
  }
  return out;
}

Sums SumsOfStage(const RankTrace& rank, const Groups& groups) {
  Sums sums;
  const Graph& g = *rank.graph;
  for (uint32_t row = 0; row < g.size(); ++row) {
    const std::string tensor = NameOfTensor(g.name_of(row));
    if (g.type[row] == NodeType::kComp) {
      Sum& sum = sums[tensor];
      ++sum.nodes;
      sum.operations += g.work[g.payload[row]].num_ops;
      continue;
    }
    const Comm& comm = g.comm[g.payload[row]];
    std::string key = g.type[row] == NodeType::kSend ? "send" : "receive";
    if (g.type[row] == NodeType::kCollective) {
      const std::string& group = rank.group_names[rank.peers[g.payload[row]].group];
      // Collectives of the layers are counted by kind; those of the ends are separate.
      const bool ends = absl::StrContains(tensor, "_emb");
      const std::vector<int>& ranks = groups.at(group);  // neighbours in dp, every second rank in tp
      key = absl::StrCat(ranks[1] - ranks[0] == 1 ? "dp" : "tp", " ",
                         Name(static_cast<CollectiveType>(comm.type)), ends ? " of ends" : "");
    }
    Sum& sum = sums[key];
    ++sum.nodes;
    sum.bytes += static_cast<int64_t>(comm.bytes);
  }
  return sums;
}

// Sums by phase and part, with separate gradients of weights; communication by group and kind, with separate
// communication of embedding and head.
Sums SumsOfStep(const StageGraph& stage) {
  Sums sums;
  for (const StepNode& n : stage.nodes) {
    const bool layer = n.spot.layer >= 0;
    std::string key;
    if (n.type == NodeType::kComp) {
      const Operator& op = stage.operators[n.op];
      const bool gemm = op.name == "aten::mm" || op.name == "wgrad_gemm_accum_fp32";
      key = absl::StrCat(n.spot.phase, "/", n.spot.part, gemm ? "" : absl::StrCat(" ", op.name),
                         op.name == "wgrad_gemm_accum_fp32" ? " of weight" : "");
      sums[key].operations += op.operations;
    } else if (n.type == NodeType::kCollective) {
      const char* group = n.group == GroupKind::kTensor ? "tp" : n.group == GroupKind::kData ? "dp" : "all";
      key = absl::StrCat(group, " ", Name(n.collective),
                         layer || n.group == GroupKind::kData ? "" : " of ends");
      if (!layer && n.group == GroupKind::kData) absl::StrAppend(&key, "/", n.spot.part);
    } else {
      key = n.type == NodeType::kSend ? "send" : "receive";
    }
    Sum& sum = sums[key];
    ++sum.nodes;
    sum.bytes += n.type == NodeType::kComp ? 0 : n.bytes;
  }
  return sums;
}

class Stage : public ::testing::Test {
 protected:
  // Skips the test if the traces are absent.
  void Read(const char* name) {
    const std::string folder = absl::StrCat(CHAKRA_SHARED_DATA, "/stage/", name);
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
    auto set = ReadTraceSet({folder}, {});
    ASSERT_TRUE(set.ok()) << set.status();
    traces_ = *std::move(set);
  }
  Sums Stages(size_t rank) const { return SumsOfStage(traces_.ranks[rank], traces_.groups); }

  TraceSet traces_;
};

// The part of our step for each GEMM of STAGE.
struct Same {
  const char* tensor;
  const char* part;
};
constexpr Same kGemms[] = {
    {"mha.qkv", "forward/attention.qkv"},
    {"mha.o1", "forward/attention.out"},
    {"ffn.xgate", "forward/mlp.up"},
    {"ffn.xdown1", "forward/mlp.down"},
    {"mha.dattn", "backward/attention.out"},
    {"mha.dx1", "backward/attention.qkv"},
    {"ffn.dxgate", "backward/mlp.down"},
    {"ffn.dx000", "backward/mlp.up"},
    {"mha.dwo", "backward/attention.out of weight"},
    {"mha.dwqkv", "backward/attention.qkv of weight"},
    {"ffn.dwdown", "backward/mlp.down of weight"},
    {"ffn.dwgate", "backward/mlp.up of weight"},
};

void ExpectGemms(const Sums& theirs, const Sums& ours) {
  for (const Same& s : kGemms) {
    ASSERT_TRUE(theirs.contains(s.tensor) && ours.contains(s.part)) << s.tensor << ", " << s.part;
    EXPECT_EQ(theirs.at(s.tensor).Times(2, 0), ours.at(s.part)) << s.tensor;
  }
}

TEST_F(Stage, TinyLlamaMatchesOnEightRanks) {
  Read("llama_tiny_8");
  if (IsSkipped()) return;
  const StepPlan plan =
      PlanOf("layers=4,hidden=1024,heads=16,ffn=4096,gated=no,vocab=32000", "tp=2,pp=2,dp=2",
             "seq=512,micro_batch=1,global_batch=8,launch=0us,layer=0us,call=0us,batch=0us,step=0us");
  ASSERT_EQ(plan.split.ranks(), static_cast<int64_t>(traces_.ranks.size()));
  for (const int64_t stage : {0, 1}) {
    const auto graph = BuildStage(plan, stage);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const Sums ours = SumsOfStep(*graph), theirs = Stages(static_cast<size_t>(4 * stage));
    ExpectGemms(theirs, ours);
    // Norms: both count 5 operations for an element; our backward counts twice as many.
    EXPECT_EQ(theirs.at("input_norm.y"), ours.at("forward/attention.norm aten::_fused_rms_norm"));
    EXPECT_EQ(theirs.at("post_attn_norm.y"), ours.at("forward/mlp.norm aten::_fused_rms_norm"));
    EXPECT_EQ(theirs.at("input_norm.dx").Times(2, 0),
              ours.at("backward/attention.norm rms_norm_backward_kernel"));
    EXPECT_EQ(theirs.at("mha_res.y"), ours.at("forward/attention.add aten::add"));
    EXPECT_EQ(theirs.at("ffn_res.y"), ours.at("forward/mlp.add aten::add"));
    // The sums of gradients after the residuals.
    EXPECT_EQ(theirs.at("input_norm.dy"), ours.at("backward/attention.add aten::add"));
    EXPECT_EQ(theirs.at("post_attn_norm.dy"), ours.at("backward/mlp.add aten::add"));
    // Elements of two bytes: six gathers and four reductions for each layer and micro-batch, and one message
    // for each micro-batch.
    EXPECT_EQ(theirs.at("tp all_gather").Times(1, 2), ours.at("tp all_gather"));
    EXPECT_EQ(theirs.at("tp reduce_scatter").Times(1, 2), ours.at("tp reduce_scatter"));
    EXPECT_EQ(theirs.at("tp all_gather").nodes, 2 * 4 * 6);
    EXPECT_EQ(theirs.at("tp reduce_scatter").nodes, 2 * 4 * 4);
    EXPECT_EQ(theirs.at("send").Times(1, 2), ours.at("send"));
    EXPECT_EQ(theirs.at("receive").Times(1, 2), ours.at("receive"));
    // STAGE reduces a layer's gradients in each micro-batch (two layers, four micro-batches). We reduce them
    // in the last micro-batch, of all layers at once, with those of the norms, which have no weights in
    // STAGE, and of the rank's half of embedding or head, which STAGE has whole on each rank.
    const int64_t layer = 4 * 1024 * 1024 / 2 + 2 * 1024 * 4096 / 2, table = 32000 * 1024;
    EXPECT_EQ(theirs.at("dp all_reduce"), (Sum{2 * 4, 0, 2 * 4 * layer}));
    EXPECT_EQ(theirs.at("dp all_reduce of ends"), (Sum{1, 0, table}));
    EXPECT_EQ(theirs.at("tp all_reduce of ends"), (Sum{1, 0, table}));
    const int64_t norms = (2 * 2 + stage) * 1024;
    EXPECT_EQ(ours.at("dp all_reduce/gradients"), (Sum{1, 0, 4 * (2 * layer + norms + table / 2)}));
  }
  const Sums first = Stages(0), last = Stages(4);
  // STAGE multiplies the whole table by each rank's tokens; we multiply a rank's half of the table by all
  // tokens. The operations are equal.
  const auto head = BuildStage(plan, 1);
  ASSERT_TRUE(head.ok());
  const Sums ours = SumsOfStep(*head);
  EXPECT_EQ(last.at("out_emb.y").Times(2, 0), ours.at("forward/head"));
  EXPECT_EQ(last.at("out_emb.dx").Times(2, 0), ours.at("backward/head"));
  EXPECT_EQ(first.at("in_emb.y").operations, int64_t{4} * 256 * 32000 * 1024);  // a lookup in our step
}

TEST_F(Stage, StageAttentionIsLinearInTheSequence) {
  Read("llama_tiny_8");
  if (IsSkipped()) return;
  // STAGE counts three operations for each element of the queries; we count two GEMMs over each pair of
  // tokens.
  const Sums theirs = Stages(0);
  EXPECT_EQ(theirs.at("mha.attn_kernel.qkv"), (Sum{8, int64_t{8} * 3 * 512 * 512, 0}));
  EXPECT_EQ(theirs.at("mha.attn_kernel.dq"), (Sum{8, int64_t{8} * 6 * 512 * 512, 0}));
}

TEST_F(Stage, ShardedLlamaMatchesOnSixteenRanks) {
  Read("llama8b_fsdp_16");
  if (IsSkipped()) return;
  const StepPlan plan =
      PlanOf("layers=32,hidden=4096,heads=32,ffn=14336,gated=no,vocab=32000", "dp=16,zero=3",
             "seq=1024,micro_batch=1,global_batch=256,framework=fsdp,fused_projections=yes,launch=0us,"
             "layer=0us,call=0us,batch=0us,step=0us");
  const auto graph = BuildStage(plan, 0);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Sums ours = SumsOfStep(*graph);
  Sums theirs = Stages(0);
  // FSDP's GEMMs for gradients of weights have the same name as the others.
  for (const char* part : {"attention.out", "attention.qkv", "mlp.down", "mlp.up"}) {
    const char* inputs = part == std::string("attention.out")   ? "mha.dattn"
                         : part == std::string("attention.qkv") ? "mha.dx1"
                         : part == std::string("mlp.down")      ? "ffn.dxgate"
                                                                : "ffn.dx000";
    const char* weights = part == std::string("attention.out")   ? "mha.dwo"
                          : part == std::string("attention.qkv") ? "mha.dwqkv"
                          : part == std::string("mlp.down")      ? "ffn.dwdown"
                                                                 : "ffn.dwgate";
    const Sum both = {theirs.at(inputs).nodes + theirs.at(weights).nodes,
                      2 * (theirs.at(inputs).operations + theirs.at(weights).operations), 0};
    EXPECT_EQ(both, ours.at(absl::StrCat("backward/", part))) << part;
  }
  EXPECT_EQ(theirs.at("out_emb.y").Times(2, 0), ours.at("forward/head"));
  // Both gather a layer in forward and backward of each of 16 micro-batches, and reduce its gradients. We
  // include the norms, and also embedding and head; in STAGE each rank has those tables whole, and reduces
  // them once in a step.
  const int64_t layer = 4 * 4096 * 4096 + 2 * 4096 * int64_t{14336}, norms = 2 * 4096, runs = 32 * 16;
  EXPECT_EQ(theirs.at("dp all_gather"), (Sum{2 * runs, 0, 2 * runs * layer / 16}));
  EXPECT_EQ(theirs.at("dp reduce_scatter"), (Sum{runs, 0, runs * layer}));
  EXPECT_EQ(theirs.at("dp all_reduce of ends"), (Sum{2, 0, 2 * 32000 * int64_t{4096}}));
  EXPECT_EQ(ours.at("dp all_gather"), (Sum{2 * runs, 0, 2 * runs * 2 * (layer + norms) / 16}));
  const Sum reduced = ours.at("dp reduce_scatter/gradients");
  const int64_t table = 32000 * int64_t{4096};
  EXPECT_EQ(reduced, (Sum{runs + 2 * 16, 0, 4 * (runs * (layer + norms) + 16 * (2 * table + 4096))}));
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
