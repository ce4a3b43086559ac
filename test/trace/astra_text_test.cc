// Text workloads of ASTRA-sim 1 and SimAI: reading, layout on ranks, order of nodes, and the traces made of
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/et/read_options.h"
#include "trace/import/astra_text/program.h"
#include "trace/import/astra_text/workload.h"
#include "trace/import/astra_text/write.h"

namespace chakra::astra_text::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two layers, with all collectives that a kind may run.
constexpr char kLayers[] =
    "2\n"
    "a\t-1\t10\tALLGATHER\t800\t20\tALLREDUCE\t400\t30\tALLREDUCE\t160\t5\n"
    "b\t-1\t11\tALLTOALL\t800\t21\tREDUCESCATTER\t400\t31\tALLREDUCE\t160\t6 \r\n\n";

Workload Read(const std::string& text) {
  auto workload = ReadTextWorkload(text, "w.txt");
  EXPECT_TRUE(workload.ok()) << text << workload.status();
  return workload.ok() ? *std::move(workload) : Workload();
}

Layout On(const Workload& workload, int ranks) {
  const auto layout = LayoutOf(workload, ranks, "w.txt");
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.value_or(Layout());
}

Program Of(const Workload& workload, int ranks) {
  auto program = ProgramOf(workload, On(workload, ranks), "w.txt");
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *std::move(program) : Program();
}

// Each node as "NAME SIZE SCOPE < the nodes that it waits for".
std::vector<std::string> Texts(const Program& program) {
  std::vector<std::string> out;
  for (const ProgramNode& n : program.nodes) {
    std::string& text = out.emplace_back(absl::StrCat(
        n.name, " ",
        n.collective ? absl::StrCat(n.bytes, "/", static_cast<int>(n.scope)) : absl::StrCat(n.duration_ns)));
    for (const ProgramNode::Dep& d : n.deps)
      absl::StrAppend(&text, " <", d.node, d.delay_ns > 0 ? absl::StrCat("+", d.delay_ns) : "");
  }
  return out;
}

TEST(AstraText, ReadsLayers) {
  const Workload w = Read(absl::StrCat("HYBRID_DATA_MODEL\t\t\n", kLayers));
  EXPECT_EQ(w.kind, Kind::kHybridDataModel);
  ASSERT_EQ(w.layers.size(), 2u);
  EXPECT_EQ(w.layers[0].name, "a");
  EXPECT_EQ(w.layers[0].pass[kForward].compute_ns, 10);
  EXPECT_EQ(w.layers[0].pass[kForward].type, CollectiveType::kAllGather);
  EXPECT_EQ(w.layers[1].pass[kInputGradient].bytes, 400u);
  EXPECT_EQ(w.layers[1].pass[kInputGradient].type, CollectiveType::kReduceScatter);
  EXPECT_EQ(w.layers[1].update_ns, 6);
  EXPECT_TRUE(w.warnings.empty());
}

TEST(AstraText, ReadsTheFirstLine) {
  const Workload simai = Read(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 8 ga: 1 all_gpus: 8 "
      "checkpoints: 1 0 checkpoint_initiates: 1 1 pp_comm: 0 overlap: 3\n" +
      std::string(kLayers));
  EXPECT_EQ(simai.model_parallel, 2);
  EXPECT_EQ(simai.expert_parallel, 2);
  EXPECT_EQ(simai.ranks, 8);
  EXPECT_THAT(simai.checkpoints, ElementsAre(0));
  EXPECT_THAT(simai.recomputed_before, ElementsAre(1));
  EXPECT_THAT(absl::StrJoin(simai.warnings, "\n"), HasSubstr("\"overlap:\" is unknown and has no effect"));
  EXPECT_EQ(Read(absl::StrCat("HYBRID_DLRM 1\n", kLayers)).last_bottom_layer, 1u);
  EXPECT_EQ(Read(absl::StrCat("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1\n", kLayers)).last_bottom_layer, 1u);
}

TEST(AstraText, RecognisesTextWorkloads) {
  EXPECT_TRUE(LooksLikeTextWorkload(absl::StrCat("DATA\n", kLayers)));
  EXPECT_TRUE(LooksLikeTextWorkload("MICRO\n1\nx -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 65536 5\n"));
  EXPECT_TRUE(LooksLikeTextWorkload("HYBRID_TRANSFORMER model_parallel_NPU_group: 4"));
  for (const char* other : {"", "DATA", "DATA\n5\n", "DATA\n5\nsome words that mean nothing\n",
                            "MODEL llama\n1\na -1 1 NONE 0\n", "data\n1\na -1 1 NONE 0\n", "HloModule x\n"})
    EXPECT_FALSE(LooksLikeTextWorkload(other)) << other;
}

TEST(AstraText, DataParallelGradientsOverlapTheBackwardPass) {
  const Workload w = Read(absl::StrCat("DATA\n", kLayers));
  const Program p = Of(w, 4);
  EXPECT_THAT(Texts(p),
              ElementsAre("a forward 10", "b forward 11 <0", "b weight gradient 31 <1",
                          "b all_reduce 160/0 <2", "b input gradient 21 <2", "a weight gradient 30 <4",
                          "a all_reduce 160/0 <5", "[end of the step] 0 <5 <3+6 <6+5"));
  EXPECT_THAT(absl::StrJoin(p.warnings, "\n"),
              HasSubstr("4 collectives belong to passes in which DATA does not"));
}

TEST(AstraText, HybridKindsWaitForActivations) {
  const Program p = Of(Read(absl::StrCat("HYBRID_DATA_MODEL\n", kLayers)), 4);
  EXPECT_THAT(
      Texts(p),
      ElementsAre("a forward 10", "a all_gather 800/1 <0", "b forward 11 <1+5", "b all_to_all 800/1 <2",
                  "b input gradient 21 <3+6", "b reduce_scatter 400/1 <4", "b weight gradient 31 <4",
                  "b all_reduce 160/2 <6", "a input gradient 20 <6 <5+6", "a weight gradient 30 <8",
                  "a all_reduce 160/2 <9", "[end of the step] 0 <9 <7+6 <10+5"));
  // With the scopes exchanged, and with a kind for each layer.
  EXPECT_EQ(Texts(Of(Read(absl::StrCat("HYBRID_MODEL_DATA\n", kLayers)), 4))[1], "a all_gather 800/2 <0");
  const Program own = Of(Read("HYBRID_CUSTOMIZED\n2\n"
                              "a -1 10 ALLREDUCE 8 20 NONE 0 30 ALLREDUCE 16 0 HYBRID_MODEL_DATA\n"
                              "b -1 11 NONE 0 21 NONE 0 31 ALLREDUCE 32 0 DATA\n"),
                         4);
  EXPECT_THAT(Texts(own),
              ElementsAre("a forward 10", "a all_reduce 8/2 <0", "b forward 11 <1", "b input gradient 21 <2",
                          "b weight gradient 31 <3", "b all_reduce 32/0 <4", "a input gradient 20 <4",
                          "a weight gradient 30 <6", "a all_reduce 16/1 <7"));
}

TEST(AstraText, TransformersWaitAtOnceAndRecomputeFromCheckpoints) {
  const Program p =
      Of(Read(absl::StrCat("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 0 "
                           "checkpoint_initiates: 1 1\n",
                           kLayers)),
         4);
  EXPECT_THAT(
      Texts(p),
      ElementsAre("a forward 10", "a all_gather 400/3 <0", "b forward 11 <1+5", "b all_to_all 800/3 <2",
                  "a forward again 10 <3+6", "a all_gather 400/3 <4", "b input gradient 21 <5+5",
                  "b reduce_scatter 400/3 <6", "b weight gradient 31 <7+6", "b all_reduce 160/4 <8",
                  "a input gradient 20 <8", "a all_reduce 400/3 <10", "a weight gradient 30 <11+5",
                  "a all_reduce 160/4 <12", "[end of the step] 0 <12 <9+6 <13+5"));
}

TEST(AstraText, EmbeddingsExchangeWhileBottomLayersCompute) {
  const Program p = Of(Read("HYBRID_DLRM 1\n3\n"
                            "emb -1 3 ALLTOALL 98304 4 ALLTOALL 98304 5 NONE 0 0\n"
                            "bot -1 6 NONE 0 7 NONE 0 8 ALLREDUCE 13312 0\n"
                            "top -1 9 NONE 0 10 NONE 0 11 ALLREDUCE 524288 0\n"),
                       4);
  EXPECT_THAT(
      Texts(p),
      ElementsAre("emb forward 3", "emb all_to_all 98304/0 <0", "bot forward 6 <0", "top forward 9 <2 <1",
                  "top weight gradient 11 <3", "top all_reduce 524288/0 <4", "top input gradient 10 <4",
                  "emb all_to_all 98304/0 <6", "bot weight gradient 8 <6", "bot all_reduce 13312/0 <8",
                  "bot input gradient 7 <8", "emb weight gradient 5 <10"));
}

TEST(AstraText, RunsMicrobenchmarksAndInference) {
  EXPECT_THAT(Texts(Of(Read("MICRO\n1\nx -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 65536 0\n"), 4)),
              ElementsAre("x all_reduce 65536/0"));
  EXPECT_THAT(
      Texts(Of(Read("DISTRIBUTED_INFERENCE\n1\nx -1 5 ALLREDUCE 64 5 NONE 0 5 ALLREDUCE 65536 0\n"), 4)),
      ElementsAre("x forward 5", "x all_reduce 64/0 <0"));
}

TEST(AstraText, LaysOutGroupsLikeSimAi) {
  Layout l;
  l.ranks = 16;
  l.tensor = 2;
  l.expert = 4;
  EXPECT_THAT(l.MembersOf(Scope::kTensor, 5), ElementsAre(4, 5));
  EXPECT_THAT(l.MembersOf(Scope::kData, 5), ElementsAre(1, 3, 5, 7, 9, 11, 13, 15));
  EXPECT_THAT(l.MembersOf(Scope::kExpert, 5), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(l.MembersOf(Scope::kExpert, 12), ElementsAre(8, 10, 12, 14));
  EXPECT_THAT(l.MembersOf(Scope::kExpertData, 5), ElementsAre(5, 13));
  for (int scope = 3; scope < kScopes; ++scope) {
    for (int rank = 0; rank < l.ranks; ++rank) {
      const auto members = l.MembersOf(static_cast<Scope>(scope), rank);
      EXPECT_THAT(members, testing::Contains(rank));
      for (const int other : members)
        EXPECT_EQ(l.GroupOf(static_cast<Scope>(scope), other), l.GroupOf(static_cast<Scope>(scope), rank));
    }
  }
}

TEST(AstraText, UsesGivenRanksElseTheFewest) {
  Workload w;
  w.kind = Kind::kHybridTransformer;
  w.model_parallel = 4;
  EXPECT_EQ(On(w, 0).ranks, 4);
  EXPECT_EQ(On(w, 8).ranks, 8);
  w.ranks = 16;
  EXPECT_EQ(On(w, 0).ranks, 16);
  EXPECT_THAT(std::string(LayoutOf(w, 6, "w.txt").status().message()),
              HasSubstr("w.txt: 6 ranks (--ranks), expected a multiple of 4"));
  w.expert_parallel = 3;
  EXPECT_THAT(
      std::string(LayoutOf(w, 0, "w.txt").status().message()),
      HasSubstr("16 ranks (all_gpus), expected a multiple of 12, which is model_parallel_NPU_group times"));
}

TEST(AstraText, TracesShareAGraphAndHaveTheirGroups) {
  const Workload w = Read(absl::StrCat("HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n", kLayers));
  const Layout layout = On(w, 8);
  const Program program = Of(w, 8);
  const auto set = TracesOf(program, layout, "w.txt", ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->ranks.size(), 8u);
  EXPECT_EQ(set->distinct_graphs(), 1u);
  EXPECT_EQ(set->ranks[3].graph->size(), program.nodes.size() + 1);
  EXPECT_EQ(set->groups.size(), 6u);
  EXPECT_THAT(set->groups.at("tp 1"), ElementsAre(2, 3));
  EXPECT_THAT(set->groups.at("dp 1"), ElementsAre(1, 3, 5, 7));
}

struct Bad {
  const char* text;
  const char* says;
};

TEST(AstraText, RefusesBadText) {
  const Bad kBad[] = {
      {"", "line 1: expected a kind of parallelism, found the end of the file"},
      {"HYBRID_TRANSFROMER\n",
       "line 1: expected a kind of parallelism, found \"HYBRID_TRANSFROMER\"; did you mean"},
      {"HYBRID_TRANSFORMER\n1\n", "line 1: HYBRID_TRANSFORMER: expected model_parallel_NPU_group: N"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group:\n1\n", "expected a number, found the end of the line"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group: -4\n1\n", "expected a whole number from 0"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 pp: 2\n1\n",
       "pp: 2 stages, but the format has neither"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 checkpoints: 1 0\n1\n",
       "checkpoints are for HYBRID_TRANSFORMER_FWD_IN_BCKWD"},
      {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 2 0\n1\n",
       "checkpoints: expected 2 layers, found 1"},
      {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 9\n1\n"
       "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
       "line 1: checkpoints: layer 9, expected 0 to 0"},
      {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoint_initiates: 1 0\n1\n"
       "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
       "checkpoint_initiates: layer 0, expected a layer after a layer of checkpoints"},
      {"HYBRID_DLRM\n1\n", "expected the number of the last bottom layer"},
      {"HYBRID_DLRM x\n1\n", "last bottom layer: expected a whole number"},
      {"HYBRID_DLRM 5\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "last bottom layer 5, expected 0 to 0"},
      {"DATA\n", "line 2: expected the number of layers, found the end of the file"},
      {"DATA\nx\n", "line 2: expected only the number of layers, 1 or more, found \"x\""},
      {"DATA\n0\n", "expected only the number of layers, 1 or more"},
      {"DATA\n2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
       "the file ends after 1 layers, expected the 2 of line 2"},
      {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\nb -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
       "line 4: expected the end of the file: line 2 says that there are 1 layers"},
      {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0\n", "line 3: a layer with 11 fields, expected 12"},
      {"DATA\n1\na -1 1.5 NONE 0 1 NONE 0 1 NONE 0 1\n",
       "line 3: forward computation: expected a whole number from 0 to 9223372036854775, found \"1.5\""},
      {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE -5 1\n",
       "weight gradient bytes: expected a whole number"},
      {"DATA\n1\na -1 1 NONE 0 1 REDUCE 0 1 NONE 0 1\n",
       "input gradient collective: expected NONE, ALLREDUCE"},
      {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE_EP 8 1\n", "weight gradient collective: expected NONE"},
      {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCEALLTOALL 8 1\n", "no collective of a trace is both"},
      {"HYBRID_CUSTOMIZED\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "a layer with 12 fields, expected 13"},
      {"HYBRID_CUSTOMIZED\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1 MICRO\n", "the layer's kind: expected DATA"},
  };
  for (const Bad& bad : kBad) {
    const auto w = ReadTextWorkload(bad.text, "bad.txt");
    ASSERT_FALSE(w.ok()) << bad.text;
    EXPECT_THAT(std::string(w.status().message()), HasSubstr(bad.says)) << bad.text;
    EXPECT_THAT(std::string(w.status().message()), HasSubstr("bad.txt: line")) << bad.text;
  }
}

// Each layer recomputes all layers before it.
TEST(AstraText, RefusesMoreNodesThanMemoryHolds) {
  std::string first =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 checkpoint_initiates: ";
  constexpr int kCount = 9000;
  std::string layers = absl::StrCat("\n", kCount, "\n");
  absl::StrAppend(&first, kCount - 1);
  for (int i = 0; i < kCount; ++i) {
    if (i > 0) absl::StrAppend(&first, " ", i);
    layers += "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
  }
  const Workload w = Read(first + layers);
  const auto program = ProgramOf(w, On(w, 0), "w.txt");
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(std::string(program.status().message()),
              HasSubstr("are 81045001 nodes; expected at most 4194304"));
}

}  // namespace
}  // namespace chakra::astra_text::CHAKRA_FILE
