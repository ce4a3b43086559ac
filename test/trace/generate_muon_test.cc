// Muon and SOAP: operations, owners, communication and memory, with numbers that are worked out by hand, and
// shardings that cut matrices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/memory.h"
#include "trace/generate/optimizer/parameters.h"
#include "trace/generate/stage.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// A layer of kDense on a rank: queries 512 x 512, keys and values 256 x 512 each, out 512 x 512, gate and up
// 1024 x 512 each, down 512 x 1024.
constexpr int64_t kHidden = 512, kLayers = 8;
constexpr int64_t kQkv = 1024 * kHidden, kOut = kHidden * kHidden, kUp = 2048 * kHidden,
                  kDown = kHidden * 1024;
constexpr int64_t kMatrices = kLayers * (kQkv + kOut + kUp + kDown);
constexpr int64_t kTable = 4096 * kHidden;  // the embedding, and the head
constexpr int64_t kNorms = (2 * kLayers + 1) * kHidden;

StageGraph GraphOf(const StepPlan& plan, int64_t stage = 0) {
  auto graph = BuildStage(plan, stage);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : StageGraph();
}

StageGraph GraphOf(const std::string& parallel, const std::string& training, const char* model = kDense) {
  return GraphOf(PlanOf(model, parallel, absl::StrCat("seq=64,", training)));
}

// The part of a step that updates weights.
struct Update {
  int64_t gemm_operations = 0, gemms = 0;
  std::map<std::string, std::vector<int64_t>> bytes;  // by "allgather dp"; of each collective
};

std::string NameOf(CollectiveType type) {
  return type == CollectiveType::kAllGather   ? "gather"
         : type == CollectiveType::kAllReduce ? "reduce"
         : type == CollectiveType::kAllToAll  ? "exchange"
                                              : "other";
}

Update UpdateOf(const StageGraph& graph) {
  Update out;
  for (const StepNode& n : graph.nodes) {
    if (std::string(n.spot.part) != "update") continue;
    if (n.type == NodeType::kCollective) {
      out.bytes[absl::StrCat(NameOf(n.collective), " ", Layout::NameOf(n.group))].push_back(n.bytes);
      continue;
    }
    const Operator& op = graph.operators[n.op];
    if (!absl::StrContains(op.name, "mm") && !absl::StrContains(op.name, "gemm")) continue;
    ++out.gemms;
    out.gemm_operations += op.operations;
  }
  return out;
}

int64_t Sum(const std::vector<int64_t>& list) {
  int64_t sum = 0;
  for (const int64_t v : list) sum += v;
  return sum;
}

// 20 n^2 m + 10 n^3 for each matrix of n x m, n <= m, with five steps.
TEST(GenerateMuon, StepsHaveTheirOperations) {
  const auto quintic = [](int64_t n, int64_t m) { return 20 * n * n * m + 10 * n * n * n; };
  const int64_t layer =
      2 * quintic(512, 512) + 2 * quintic(256, 512) + quintic(512, 2048) + quintic(512, 1024);
  EXPECT_EQ(layer, 28'521'267'200);
  const Update update = UpdateOf(GraphOf("", "optimizer=muon"));
  EXPECT_EQ(update.gemm_operations, kLayers * layer);
  EXPECT_EQ(update.gemms, kLayers * 6 * 15);
  EXPECT_TRUE(update.bytes.empty());
  // Queries, keys and values as one matrix of 1024 x 512; ten steps; no squares.
  const int64_t joined = layer - quintic(512, 512) - 2 * quintic(256, 512) + quintic(512, 1024);
  EXPECT_EQ(UpdateOf(GraphOf("", "optimizer=muon,muon_split_qkv=no")).gemm_operations, kLayers * joined);
  EXPECT_EQ(UpdateOf(GraphOf("", "optimizer=muon,muon_steps=10")).gemm_operations, 2 * kLayers * layer);
  const int64_t squares = int64_t{10} * (4 * 512 * 512 * 512 + 2 * 256 * 256 * 256);
  EXPECT_EQ(UpdateOf(GraphOf("", "optimizer=muon,muon_coefficients=2")).gemm_operations,
            kLayers * (layer - squares));
}

// Each kernel of the loop over matrices takes the host 10 us: decay, momentum, three for the norm, one for
// the cast, 15 GEMMs, four after them, and two copies for queries, keys and values.
TEST(GenerateMuon, HostLaunchesTheLoop) {
  const auto host = [](const std::string& optimizer) {
    const StageGraph graph = GraphOf("", optimizer);
    int64_t ns = 0;
    for (const StepNode& n : graph.nodes)
      ns += n.stream == Stream::kHost ? graph.operators[n.op].duration_ns : 0;
    return ns;
  };
  const int64_t kernels = kLayers * (3 * 27 + 3 * 25);
  EXPECT_NEAR(static_cast<double>(host("optimizer=muon") - host("optimizer=adamw")), 10'000.0 * kernels, 2e5);
}

TEST(GenerateMuon, ParametersAreAllWeights) {
  const struct {
    const char *model, *parallel, *training;
  } kCases[] = {{kDense, "dp=2,zero=1", "optimizer=muon"},
                {kDense, "tp=2,pp=2", "optimizer=muon,muon_split_qkv=no"},
                {kDense, "dp=4", "optimizer=muon,framework=fsdp"},
                {kExperts, "dp=4,ep=2,zero=1", "optimizer=muon"},
                {kExperts, "dp=4,ep=4", "optimizer=muon,framework=fsdp"},
                {kLatent, "tp=2,dp=2,zero=1", "optimizer=soap"},
                {"deepseek-v3:layers=8", "ep=8,dp=8,pp=2,zero=1", "optimizer=muon"},
                {"qwen3-next-80b-a3b:layers=8", "dp=2,ep=2,pp=2,zero=1", "optimizer=muon"},
                {kOld, "pp=2", "optimizer=muon"}};
  for (const auto& c : kCases) {
    const StepPlan plan = PlanOf(c.model, c.parallel, absl::StrCat("seq=64,global_batch=8,", c.training));
    for (int64_t stage = 0; stage < plan.split.pp; ++stage) {
      const StageGraph graph = GraphOf(plan, stage);
      int64_t sum[2] = {0, 0};
      for (const Parameter& p : ParametersOf(plan, stage)) sum[p.expert ? 1 : 0] += p.count * p.elements;
      EXPECT_EQ(sum[0], graph.weights) << c.model << " " << stage;
      EXPECT_EQ(sum[1], graph.expert_weights) << c.model << " " << stage;
    }
  }
}

// Weights in turn from the smallest, 0 1 1 0 0 1 1 0 ...: the second rank has 8 of 17 norms, half of each
// kind of matrices, and, by the position of the first norm that is over, embedding and head.
TEST(GenerateMuon, OwnersOfWholeWeights) {
  const StepPlan plan = PlanOf(kDense, "dp=2,zero=1", "seq=64,global_batch=8,optimizer=muon");
  const std::vector<Parameter> all = ParametersOf(plan, 0);
  EXPECT_EQ(UpdatedElements(plan, all), kMatrices / 2 + 8 * kHidden + 2 * kTable);
  const RankMemory memory = MemoryOfStage(plan, 0);
  // Momentum, averages, fp32 weights.
  EXPECT_EQ(memory.optimizer, 4 * kMatrices / 2 + 8 * (8 * kHidden + 2 * kTable) +
                                  4 * (kMatrices / 2 + 8 * kHidden + 2 * kTable));
  const int64_t weights = kMatrices + kNorms + 2 * kTable;
  EXPECT_EQ(memory.weights, 2 * weights);
  EXPECT_EQ(memory.gradients, 4 * weights);

  const StageGraph graph = GraphOf(plan);
  const Update update = UpdateOf(graph);
  EXPECT_EQ(update.gemm_operations, kLayers / 2 * 28'521'267'200);
  // One gather of bf16 weights, as of equal shares.
  EXPECT_EQ(update.bytes, (std::map<std::string, std::vector<int64_t>>{{"gather dp", {weights}}}));
  int64_t reduced = 0, gathered = 0;
  for (const StepNode& n : graph.nodes) {
    if (n.type != NodeType::kCollective || n.group != GroupKind::kData) continue;
    EXPECT_NE(n.collective, CollectiveType::kReduceScatter);
    (n.collective == CollectiveType::kAllReduce ? reduced : gathered) += n.bytes;
  }
  EXPECT_EQ(reduced, 4 * weights);
  EXPECT_EQ(gathered, weights);
}

// More ranks than weights: a rank has one weight, the largest of which bounds the step.
TEST(GenerateMuon, ManyRanks) {
  const StepPlan plan = PlanOf(kDense, "dp=256,zero=1", "seq=64,global_batch=256,optimizer=muon");
  const std::vector<Parameter> own = OwnedByLargest(plan, ParametersOf(plan, 0));
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].count, 1);
  EXPECT_EQ(own[0].elements, kUp);
}

TEST(GenerateMuon, OverlappedGatherHasNoSecondOne) {
  const StageGraph graph = GraphOf("dp=2,zero=1,overlap_param=yes", "optimizer=muon");
  EXPECT_TRUE(UpdateOf(graph).bytes.empty());
  int64_t gathered = 0;
  for (const StepNode& n : graph.nodes)
    gathered += n.type == NodeType::kCollective && n.collective == CollectiveType::kAllGather ? n.bytes : 0;
  EXPECT_EQ(gathered, kMatrices + kNorms + 2 * kTable);
}

// States without sharding, bytes: 4 + 4 of a matrix' element, 8 + 4 of another.
TEST(GenerateMuon, StatesOfARank) {
  const auto optimizer = [](const std::string& training) {
    return MemoryOfStage(PlanOf(kDense, "", absl::StrCat("seq=64,global_batch=8,", training)), 0).optimizer;
  };
  const int64_t muon = 8 * kMatrices + 12 * (kNorms + 2 * kTable);
  EXPECT_EQ(optimizer("optimizer=muon"), muon);
  EXPECT_EQ(optimizer("optimizer=adamw"), 12 * (kMatrices + kNorms + 2 * kTable));
  EXPECT_EQ(optimizer("optimizer=muon,muon_moment=elements"), muon + 4 * kMatrices);
  // The longer sides: 512 three times for q, k, v, then out 512, up 2048, down 1024.
  EXPECT_EQ(optimizer("optimizer=muon,muon_moment=rows"), muon + 4 * kLayers * (4 * 512 + 2048 + 1024));
  // Two averages; two factors and two bases of each weight: 1024 and 512, 512 twice, 2048 and 512, 512 and
  // 1024.
  const int64_t squares = 2 * 1024 * 1024 + 5 * 512 * 512 + 2048 * 2048;
  EXPECT_EQ(optimizer("optimizer=soap"), 12 * (kMatrices + kNorms + 2 * kTable) + 8 * kLayers * squares);
}

// Batches of four equal matrices: 16 of 512 x 512, 16 of 256 x 512, 16 of 1024 x 512 and 8 of 512 x 1024.
TEST(GenerateMuon, FsdpExchangesBatches) {
  const StepPlan plan = PlanOf(kDense, "dp=4", "seq=64,global_batch=8,optimizer=muon,framework=fsdp");
  const Update update = UpdateOf(GraphOf(plan));
  ASSERT_EQ(update.bytes.size(), 1u);
  const std::vector<int64_t>& exchanges = update.bytes.at("exchange dp");
  EXPECT_EQ(exchanges.size(), 2u * (4 + 4 + 4 + 2));
  EXPECT_EQ(Sum(exchanges), 2 * 2 * kMatrices / 4);
  const RankMemory memory = MemoryOfStage(plan, 0);
  EXPECT_EQ(memory.optimizer, (4 * kMatrices + 8 * (kNorms + 2 * kTable)) / 4);
  // Three batches of five matrices for two ranks: the last one is not full.
  const Update odd = UpdateOf(GraphOf("dp=2", "optimizer=muon,framework=fsdp",
                                      "layers=5,hidden=512,heads=8,ffn=512,gated=no,vocab=4096"));
  EXPECT_EQ(odd.bytes.at("exchange dp").size(), 2u * 15);  // 30 of one shape
}

// Four experts on a rank, and two ranks with the same ones: whole matrices, and no exchange of experts.
TEST(GenerateMuon, FsdpSharesWholeExperts) {
  const Update update = UpdateOf(GraphOf("dp=4,ep=2", "optimizer=muon,framework=fsdp", kExperts));
  EXPECT_EQ(update.bytes.count("exchange edp"), 0u);
  // One expert on a rank, and two ranks with it.
  const Update cut = UpdateOf(GraphOf("dp=16,ep=8", "optimizer=muon,framework=fsdp", kExperts));
  EXPECT_GT(cut.bytes.at("exchange edp").size(), 0u);
}

TEST(GenerateMuon, DeepSpeedGathersAndShares) {
  const Update second = UpdateOf(GraphOf("dp=4,zero=2", "optimizer=muon,matrix_sharding=gathered"));
  EXPECT_TRUE(second.bytes.empty());
  // A fourth of the elements is two of eight layers; no matrix is at a border, since each kind has eight.
  EXPECT_GE(second.gemm_operations, 2 * 28'521'267'200);
  const Update third = UpdateOf(GraphOf("dp=4,zero=3", "optimizer=muon,matrix_sharding=gathered"));
  const int64_t share = kMatrices / 4;
  // Momentum and gradients, then updates and momentum; all fp32.
  EXPECT_EQ(third.bytes.at("gather dp"), (std::vector<int64_t>{4 * share, 4 * share, 4 * share, 4 * share}));
  for (const char* zero : {"zero=1", "zero=2"}) {
    for (const StepNode& n :
         GraphOf(absl::StrCat("dp=4,", zero), "optimizer=muon,matrix_sharding=gathered").nodes)
      EXPECT_FALSE(n.type == NodeType::kCollective && n.collective == CollectiveType::kReduceScatter);
  }
}

// One layer on two ranks of tp. All six matrices are cut.
TEST(GenerateMuon, RanksOfTensorParallelism) {
  constexpr char kOne[] = "layers=1,hidden=512,heads=8,kv_heads=4,ffn=1024,vocab=4096";
  const auto update = [&](const std::string& tp) {
    return UpdateOf(GraphOf("tp=2", absl::StrCat("optimizer=muon,matrix_tp=", tp), kOne));
  };
  EXPECT_TRUE(update("blockwise").bytes.empty());
  const Update whole = update("duplicated");
  EXPECT_EQ(whole.gemm_operations, 28'521'267'200);
  EXPECT_EQ(whole.bytes.at("gather tp").size(), 6u);
  EXPECT_EQ(Sum(whole.bytes.at("gather tp")), 4 * kMatrices / kLayers / 2);
  // The norm, and in each step a product of 512 x 512, the side that is not cut.
  const Update reduced = update("distributed");
  EXPECT_EQ(reduced.bytes.at("reduce tp").size(), 6u * 6);
  EXPECT_EQ(Sum(reduced.bytes.at("reduce tp")), 6 * (4 + 5 * 2 * 512 * 512));
}

TEST(GenerateMuon, SoapHasItsProducts) {
  const Update update = UpdateOf(GraphOf("", "optimizer=soap"));
  const auto products = [](int64_t n, int64_t m) { return 6 * n * m * (n + m); };
  EXPECT_EQ(update.gemm_operations,
            kLayers * (products(1024, 512) + products(512, 512) + products(2048, 512) + products(512, 1024)));
  EXPECT_EQ(update.gemms, kLayers * 4 * 6);
}

TEST(GenerateMuon, RefusesShardingsThatCutMatrices) {
  const struct {
    const char *parallel, *training, *error;
  } kBad[] = {
      {"dp=2,zero=2", "optimizer=muon",
       "parallel.zero is 2; with training.optimizer=muon and matrix_sharding=repeated expected 0, since the "
       "shares of ranks cut matrices; or matrix_sharding=gathered, or parallel.zero=1"},
      {"dp=2,zero=1", "optimizer=muon,matrix_sharding=repeated", "or matrix_sharding=layerwise"},
      {"dp=2,zero=3", "optimizer=soap", "parallel.zero is 3"},
      {"dp=2", "optimizer=muon,framework=fsdp,matrix_sharding=repeated", "or matrix_sharding=all_to_all"},
      {"dp=2", "optimizer=muon,matrix_sharding=layerwise", "the nearest is 1"},
      {"dp=2", "optimizer=muon,matrix_sharding=all_to_all", "training.framework is megatron"},
      {"dp=2", "optimizer=muon,matrix_sharding=gathered", "parallel.zero is 0"},
      {"dp=2", "optimizer=muon,framework=ddp,matrix_sharding=gathered", "training.framework is ddp"},
      {"tp=2", "optimizer=muon,framework=fsdp", "parallel.tp is 2; expected 1 with training.optimizer=muon"},
      {"", "optimizer=muon,dtype=fp16", "training.dtype is fp16; expected bf16"},
      {"", "optimizer=muon,lora=8", "training.lora with optimizer=muon is not generated yet"},
      {"dp=2", "optimizer=soap,framework=fsdp", "matrix_sharding=all_to_all with optimizer=soap"},
      {"tp=2", "optimizer=soap,matrix_tp=duplicated", "training.matrix_tp with optimizer=soap"},
      {"", "muon_steps=4", "training.muon_steps is for Muon; expected training.optimizer=muon too"},
      {"", "optimizer=soap,muon_moment=rows", "training.muon_moment is for Muon"},
      {"", "matrix_tp=blockwise", "expected training.optimizer=muon too, or soap"},
      {"", "optimizer=muon,muon_steps=0", "muon_steps"},
      {"dp=4,zero=1,copies=2", "optimizer=muon", "parallel.copies with training.optimizer=muon"},
      {"dp=2,zero=1", "optimizer=muon,offload=optimizer", "training.offload=optimizer with optimizer=muon"},
  };
  for (const auto& bad : kBad) {
    EXPECT_THAT(ErrorOf(kDense, bad.parallel, absl::StrCat("seq=64,global_batch=8,", bad.training)),
                HasSubstr(bad.error))
        << bad.parallel << " " << bad.training;
  }
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
