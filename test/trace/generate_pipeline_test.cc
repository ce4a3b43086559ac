// Layers that stages share unequally, and schedules that split the backward pass or run in both directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/generate_schedule_testing.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/layout.h"
#include "trace/generate/memory.h"
#include "trace/generate/pieces.h"
#include "trace/generate/schedule.h"
#include "trace/generate/write.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

constexpr char kTraining[] = "seq=64,global_batch=64";

std::vector<int64_t> LayersOf(const std::string& model, const std::string& parallel) {
  std::vector<int64_t> layers;
  for (const Piece& p : PlanOf(model, parallel, kTraining).pieces) layers.push_back(p.layers);
  return layers;
}

std::string Layers(int64_t n) { return absl::StrCat("layers=", n, ",hidden=64,heads=4,ffn=128,vocab=256"); }

// Llama 3 has one layer less on the first and the last stage (Grattafiori et al., 2024, section 3.3.2);
// DeepSeek-V3's 61 layers are on 16 stages.
TEST(GeneratePieces, UsesUnevenStagesOfTrainedModels) {
  const std::vector<int64_t> llama = LayersOf("llama3-405b", "pp=16");
  ASSERT_EQ(llama.size(), 16u);
  EXPECT_EQ(llama.front(), 7);
  EXPECT_EQ(llama.back(), 7);
  for (size_t i = 1; i + 1 < llama.size(); ++i) EXPECT_EQ(llama[i], 8);
  EXPECT_THAT(LayersOf("llama3-405b", "pp=2"), ElementsAre(63, 63));  // equal if the layers divide
  const std::vector<int64_t> deepseek = LayersOf("deepseek-v3", "pp=16");
  int64_t sum = 0;
  for (const int64_t n : deepseek) {
    EXPECT_GE(n, 2);
    EXPECT_LE(n, 4);
    sum += n;
  }
  EXPECT_EQ(sum, 61);
}

TEST(GeneratePieces, ReadsMegatronLayouts) {
  EXPECT_THAT(LayersOf(Layers(10), "pp=4,layout=balanced"), ElementsAre(2, 3, 3, 2));
  EXPECT_THAT(LayersOf(Layers(10), "pp=4,first_layers=2,last_layers=2"), ElementsAre(2, 3, 3, 2));
  EXPECT_THAT(LayersOf(Layers(9), "pp=4,last_layers=0"), ElementsAre(3, 3, 3, 0));
  EXPECT_THAT(LayersOf(Layers(2), "pp=4,layout=balanced"), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(LayersOf(Layers(10), "pp=4,layout=Ett|ttt|(t)*3|t*2L"), ElementsAre(2, 3, 3, 2));
  EXPECT_THAT(LayersOf(Layers(7), "pp=2,layout=Et|(tt|)*2ttL"), ElementsAre(1, 2, 2, 2));  // vpp is 2
}

// The weights of all ranks, each counted once (dualpipe: twice), are the model.
TEST(GeneratePieces, HoldEachParameter) {
  const std::string experts = "layers=9,hidden=64,heads=4,ffn=128,vocab=256,experts=8,top_k=2,dense_layers=2";
  for (const std::string& model : {Layers(9), experts}) {
    for (const char* parallel :
         {"pp=4,layout=balanced", "pp=4,last_layers=0", "pp=2,layout=Et|(tt|)*2ttttL",
          "pp=4,layout=balanced,schedule=dualpipe", "pp=2,layout=balanced,schedule=dualpipev",
          "pp=4,layout=balanced,schedule=zb-h1"}) {
      const StepGraphs step = Step(model, parallel, "seq=16,global_batch=16");
      int64_t sum = 0;
      for (const StageGraph& stage : step.stages) sum += stage.weights + stage.expert_weights;
      EXPECT_EQ(sum, CountParameters(step.plan.model).total * (step.plan.split.mirrored() ? 2 : 1))
          << parallel;
    }
  }
}

// A layer of multi-token prediction: DeepSeek-V3, 2024, section 2.2. In addition to a transformer layer, a
// GEMM of 2 h by h and three norms; the embedding is copied to the last stage if the first one is another.
TEST(GeneratePieces, MultiTokenLayersAreWithTheHead) {
  const std::string model = Layers(8) + ",mtp=1";
  const int64_t h = 64, layer = ParametersOfLayer(PlanOf(model, "", kTraining).model, 8).total();
  for (const char* parallel : {"", "pp=4", "pp=4,layout=balanced,schedule=zb-h1", "pp=4,schedule=dualpipe",
                               "pp=2,tp=2", "pp=2,zero=3,dp=2"}) {
    const StepGraphs with = Step(model, parallel, kTraining), without = Step(Layers(8), parallel, kTraining);
    const auto& pieces = with.plan.pieces;
    EXPECT_EQ(pieces.back().first + pieces.back().layers, 9) << parallel;
    int64_t more = 0;
    for (const StageGraph& s : with.stages) more += s.weights * with.plan.split.tp;
    for (const StageGraph& s : without.stages) more -= s.weights * with.plan.split.tp;
    const bool dual = with.plan.split.mirrored();
    const int64_t copy = with.plan.copies_embedding() ? 256 * h : 0, norms = 5 * h, tp = with.plan.split.tp;
    EXPECT_EQ(more, (layer + 2 * h * h + 3 * h + copy + (tp - 1) * norms) * (dual ? 2 : 1)) << parallel;
    EXPECT_GT(UnitLength(with), UnitLength(without)) << parallel;
    for (int64_t s = 0; s < with.plan.split.pp; ++s)
      EXPECT_GE(MemoryOfStage(with.plan, s).total(), MemoryOfStage(without.plan, s).total()) << parallel;
  }
  EXPECT_THAT(LayersOf("deepseek-v3:mtp=1", "pp=16"), ::testing::SizeIs(16));
  EXPECT_THAT(LayersOf("deepseek-v3:mtp=1", "pp=31,layout=Et*3|(tt|)*29mL"), ::testing::SizeIs(31));
}

// Qi et al., 2023: the bubble of ZB-H1 is (p - 1) (F + B - W).
TEST(GenerateSchedule, ZeroBubbleLengthMatchesTheClosedForm) {
  EXPECT_EQ(UnitLength(Step(Layers(4), "pp=4,schedule=zb-h1", "seq=16,global_batch=8")), 27);
  for (const int p : {1, 2, 4, 8}) {
    for (const int m : {p, 2 * p, 5 * p}) {
      const std::string training = absl::StrCat("seq=16,global_batch=", m);
      const StepGraphs step = Step(Layers(p), absl::StrCat("pp=", p, ",schedule=zb-h1"), training);
      EXPECT_EQ(UnitLength(step), 3 * m + (p - 1)) << p << " " << m;
      if (m == p) continue;
      EXPECT_EQ(UnitLength(step, "mlp.up", 3), 5 * m + (p - 1) * 3) << p << " " << m;
    }
  }
}

// DeepSeek-V3, 2024, table 2: the bubble of DualPipe is (p / 2 - 1) (F&B + B - 3 W), here of F = 1, B = 2, W
// = 1; of its form with two pieces a stage (p - 1) of that.
TEST(GenerateSchedule, DualPipeLengthMatchesTheClosedForm) {
  constexpr int kMerged = 3, kBubble = kMerged + 2 - 3;
  for (const int p : {2, 4, 8}) {
    for (const int m : {2 * p, 4 * p}) {
      const std::string training = absl::StrCat("seq=16,global_batch=", m);
      const StepGraphs there = Step(Layers(p), absl::StrCat("pp=", p, ",schedule=dualpipe"), training);
      EXPECT_EQ(UnitLength(there), kMerged * m + (p / 2 - 1) * kBubble) << p << " " << m;
      const StepGraphs back = Step(Layers(2 * p), absl::StrCat("pp=", p, ",schedule=dualpipev"), training);
      EXPECT_EQ(UnitLength(back), 2 * kMerged * m + (p - 1) * kBubble) << p << " " << m;
    }
  }
}

// Each micro-batch passes each piece forward and backward once, and its weights once.
TEST(GenerateSchedule, EachPassRunsOnce) {
  for (const Schedule schedule : {Schedule::kZbH1, Schedule::kDualPipe, Schedule::kDualPipeV}) {
    Split s;
    s.schedule = schedule;
    s.pp = 4;
    s.vpp = schedule == Schedule::kDualPipeV ? 2 : 1;
    const int64_t m = 12, each = s.mirrored() ? m / 2 : m;
    for (int64_t stage = 0; stage < s.pp; ++stage) {
      std::map<std::tuple<int64_t, bool, int>, std::vector<int64_t>>
          passes;  // piece, forward, whether of weights
      for (const Pass& p : PassesOf(s, m, stage)) {
        if (p.part != Pass::kWeights) passes[{p.piece, p.forward, 0}].push_back(p.micro_batch);
        if (!p.forward && p.part != Pass::kInputs) passes[{p.piece, false, 1}].push_back(p.micro_batch);
      }
      EXPECT_EQ(passes.size(), static_cast<size_t>(3 * s.stage_pieces()));
      for (const auto& [of, list] : passes) {
        EXPECT_EQ(static_cast<int64_t>(list.size()), each);
        EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
        EXPECT_EQ(std::set<int64_t>(list.begin(), list.end()).size(), list.size());
      }
    }
  }
}

// A micro-batch passes the pieces of the model in their order, in both directions.
TEST(GenerateSchedule, PiecesAndSpotsMapToEachOther) {
  for (const Schedule schedule : {Schedule::kInterleaved, Schedule::kDualPipe, Schedule::kDualPipeV}) {
    Split s;
    s.schedule = schedule;
    s.pp = 6;
    s.vpp = schedule == Schedule::kDualPipe ? 1 : 2;
    for (int64_t stage = 0; stage < s.pp; ++stage) {
      for (int64_t piece = 0; piece < s.stage_pieces(); ++piece) {
        const int64_t number = PieceOf(s, stage, piece);
        const PieceSpot spot = SpotOf(s, number, GoesBack(s, stage, number));
        EXPECT_EQ(spot.stage, stage);
        EXPECT_EQ(spot.piece, piece);
      }
    }
  }
}

// 1F1B's memory on stage 0 (Qi et al., 2023, section 2.1: ZB-H1 keeps no more than that anywhere); DualPipe
// keeps p + 1 passes (DeepSeek-V3, 2024, table 2).
TEST(GenerateMemory, FollowsSchedulesThatSplitTheBackwardPass) {
  const std::string model = Layers(16);
  const StepPlan plain = PlanOf(model, "pp=8", kTraining),
                 zero = PlanOf(model, "pp=8,schedule=zb-h1", kTraining);
  for (int64_t s = 0; s < 8; ++s) {
    EXPECT_LE(MemoryOfStage(zero, s).in_flight, 8);
    EXPECT_LE(MemoryOfStage(zero, s).activations, MemoryOfStage(plain, 0).activations) << s;
    EXPECT_GE(MemoryOfStage(zero, s).activations, MemoryOfStage(plain, s).activations) << s;
  }
  const StepPlan dual = PlanOf(model, "pp=8,schedule=dualpipe", kTraining);
  for (int64_t s = 0; s < 8; ++s) {
    EXPECT_LE(MemoryOfStage(dual, s).in_flight, 9) << s;
    EXPECT_EQ(MemoryOfStage(dual, s).weights,
              MemoryOfStage(plain, s).weights + MemoryOfStage(plain, 7 - s).weights);
  }
}

// Pieces of unequal sizes: each stage keeps its own layers' activations.
TEST(GenerateMemory, FollowsUnequalStages) {
  const StepPlan plan = PlanOf(Layers(10), "pp=4,layout=balanced", kTraining);
  const int64_t layer = ActivationsOfLayer(plan, 0);
  EXPECT_EQ(MemoryOfStage(plan, 0).activations, 4 * 2 * layer);
  EXPECT_EQ(MemoryOfStage(plan, 1).activations, 3 * 3 * layer);
  EXPECT_EQ(MemoryOfStage(plan, 3).activations, 1 * 2 * layer);
}

// When two passes run together, the computation of one follows each exchange of the other.
TEST(GenerateMerged, ExchangesRunBesideTheOtherPass) {
  const std::string experts = "layers=8,hidden=64,heads=4,ffn=128,vocab=256,experts=8,top_k=2";
  for (const char* training : {"seq=16,global_batch=32", "seq=16,global_batch=32,launch=5us"}) {
    const StepGraphs step = Step(experts, "pp=4,dp=2,ep=2,schedule=dualpipe", training);
    EXPECT_GT(UnitLength(step, "experts.up"), 0);
    int beside = 0, exchanges = 0;
    for (const StageGraph& stage : step.stages) {
      for (size_t i = 0; i < stage.nodes.size(); ++i) {
        const StepNode& n = stage.nodes[i];
        for (uint32_t d = n.dep_begin; d < n.dep_end; ++d) ASSERT_LT(stage.deps[d], i);
        if (n.type != NodeType::kCollective || n.collective != CollectiveType::kAllToAll) continue;
        ++exchanges;
        size_t next = i + 1;
        while (next < stage.nodes.size() && stage.nodes[next].stream != Stream::kCompute) ++next;
        if (next < stage.nodes.size() && stage.nodes[next].spot.micro_batch != n.spot.micro_batch) ++beside;
      }
    }
    EXPECT_GT(beside, exchanges / 3);
  }
}

TEST(GenerateLayout, MirroredStagesHoldTheSameWeights) {
  Split s;
  s.tp = 2, s.cp = 1, s.dp = 4, s.pp = 4, s.ep = 2;
  s.schedule = Schedule::kDualPipe;
  const Layout layout(s);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    for (const GroupKind kind : {GroupKind::kData, GroupKind::kExpertData}) {
      const std::vector<int> members = layout.Members(kind, rank);
      EXPECT_EQ(static_cast<int64_t>(members.size()), layout.SizeOf(kind));
      EXPECT_EQ(std::set<int>(members.begin(), members.end()).size(), members.size());
      EXPECT_THAT(members, ::testing::Contains(rank));
      for (const int other : members) {
        EXPECT_EQ(layout.Members(kind, other), members);
        const int64_t stage = layout.PlaceOf(other).pp, own = layout.PlaceOf(rank).pp;
        EXPECT_TRUE(stage == own || stage == s.pp - 1 - own);
      }
    }
  }
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
