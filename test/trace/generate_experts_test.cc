// Kernels next to the GEMMs of experts, and kernels of fp8 where ranks of tp share tokens: counts and bytes
// in closed form.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/write.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

struct Sum {
  int64_t nodes = 0, bytes = 0, launches = 0;
  bool eager = false;
};

// Sums by name of the kernel, on the only stage.
std::map<std::string, Sum> SumsOf(const std::string& model, const std::string& parallel,
                                  const std::string& training) {
  std::map<std::string, Sum> sums;
  const auto step = BuildStep(PlanOf(model, parallel, absl::StrCat("seq=256,", training)));
  EXPECT_TRUE(step.ok()) << step.status();
  if (!step.ok()) return sums;
  for (const StepNode& n : step->stages[0].nodes) {
    if (n.type != NodeType::kComp) continue;
    const Operator& op = step->stages[0].operators[n.op];
    Sum& sum = sums[op.name];
    ++sum.nodes;
    sum.bytes += op.bytes;
    sum.launches += op.launches;
    sum.eager = op.eager;
  }
  return sums;
}

// 8 layers with 8 experts of 256 columns, two for each token; 512 features. Each of 4 ranks has two experts,
// and two rows for each of the 256 tokens of a micro-batch.
constexpr char kModel[] = "layers=8,hidden=512,heads=8,vocab=4096,experts=8,top_k=2,expert_ffn=256";
constexpr int64_t kLayers = 8, kRows = 2 * 256, kHidden = 512, kFfn = 256;
constexpr char kSplit[] = "dp=4,ep=4";

// Copies into the padded rows and out of them, forward and backward; each reads and writes all rows in two
// bytes.
TEST(GenerateExperts, PadsRowsForFp8Gemms) {
  for (const char* recipe : {"current", "delayed", "mxfp8"}) {
    auto sums = SumsOf(kModel, kSplit, absl::StrCat("global_batch=4,dtype=fp8,fp8=", recipe));
    for (const char* kernel : {"multi_padding_kernel", "multi_unpadding_kernel"}) {
      EXPECT_EQ(sums[kernel].nodes, 2 * kLayers) << recipe;
      EXPECT_EQ(sums[kernel].bytes, 2 * kLayers * 4 * kRows * kHidden) << recipe;
      EXPECT_TRUE(sums[kernel].eager) << recipe;
    }
  }
  EXPECT_EQ(SumsOf(kModel, kSplit, "global_batch=4").count("multi_padding_kernel"), 0);
  const char* graphs = "global_batch=4,dtype=fp8,fp8=mxfp8,cuda_graphs=yes,graphed_experts=yes";
  EXPECT_EQ(SumsOf(kModel, kSplit, graphs).count("multi_padding_kernel"), 0);
}

// PyTorch adds the bias of the last GEMM: 28 bytes for each element forward and 40 backward, and kernels for
// each of the rank's two experts.
TEST(GenerateExperts, AddsTheLastBiasByExpert) {
  const std::string biased = absl::StrCat(kModel, ",bias=yes");
  auto sums = SumsOf(biased, kSplit, "global_batch=4");
  const Sum forward = sums["expert_bias_elementwise_kernel"],
            backward = sums["expert_bias_backward_elementwise_kernel"];
  EXPECT_EQ(forward.nodes, kLayers);
  EXPECT_EQ(forward.bytes, kLayers * 28 * kRows * kHidden);
  EXPECT_EQ(forward.launches, kLayers * (2 * 2 + 2));
  EXPECT_EQ(backward.nodes, kLayers);
  EXPECT_EQ(backward.bytes, kLayers * 40 * kRows * kHidden);
  EXPECT_EQ(backward.launches, kLayers * (6 * 2 + 2));
  EXPECT_EQ(SumsOf(kModel, kSplit, "global_batch=4").count("expert_bias_elementwise_kernel"), 0);
  EXPECT_EQ(SumsOf(biased, kSplit, "global_batch=4,cuda_graphs=yes,graphed_experts=yes")
                .count("expert_bias_elementwise_kernel"),
            0);
}

// Both halves of the activation's input are clamped and joined.
TEST(GenerateExperts, ClampsActivationInputsOfModelsWithSinks) {
  const std::string sinks = absl::StrCat(kModel, ",sinks=yes");
  auto sums = SumsOf(sinks, kSplit, "global_batch=4");
  EXPECT_EQ(sums["clamp_elementwise_kernel"].bytes, kLayers * 8 * kRows * 2 * kFfn);
  EXPECT_EQ(sums["clamp_backward_elementwise_kernel"].bytes, kLayers * 10 * kRows * 2 * kFfn);
  EXPECT_EQ(
      SumsOf(absl::StrCat(sinks, ",clamp=no"), kSplit, "global_batch=4").count("clamp_elementwise_kernel"),
      0);
  EXPECT_EQ(SumsOf(kModel, kSplit, "global_batch=4").count("clamp_elementwise_kernel"), 0);
}

TEST(GenerateExperts, Mxfp8GraphsFuseTheActivationIntoTheGemm) {
  const std::string graphs = "global_batch=4,cuda_graphs=yes,graphed_experts=yes";
  EXPECT_EQ(SumsOf(kModel, kSplit, absl::StrCat(graphs, ",dtype=fp8,fp8=mxfp8")).count("swiglu_kernel"), 0);
  EXPECT_EQ(SumsOf(kModel, kSplit, graphs)["swiglu_kernel"].nodes, kLayers);
  EXPECT_EQ(SumsOf(kModel, kSplit, "global_batch=4,dtype=fp8,fp8=mxfp8")["swiglu_kernel"].nodes, kLayers);
}

// With fp8 scaled by tensor, a rank of tp casts its own tokens row by row. The gathered tensors are
// transposed for the GEMMs of weight gradients: the inputs of two GEMMs and the output gradients of two. With
// mxfp8, one kernel casts by rows and by columns, and nothing is transposed.
TEST(GenerateExperts, TransposesFp8TensorsAfterTheGather) {
  auto current = SumsOf(kDense, "tp=2", "global_batch=1,dtype=fp8");
  EXPECT_EQ(current["fp8_transpose_kernel"].nodes, 4 * 8);
  EXPECT_EQ(current["fp8_transpose_kernel"].bytes, 4 * 8 * 2 * 256 * 512);
  EXPECT_EQ(current["cast_elementwise_kernel"].nodes, 4 * 8);
  EXPECT_EQ(current["cast_elementwise_kernel"].bytes, 4 * 8 * 3 * 128 * 512);
  EXPECT_EQ(SumsOf(kDense, "", "global_batch=1,dtype=fp8").count("fp8_transpose_kernel"), 0);
  auto blocks = SumsOf(kDense, "tp=2", "global_batch=1,dtype=fp8,fp8=mxfp8");
  EXPECT_EQ(blocks.count("fp8_transpose_kernel"), 0);
  // Two bytes are read and two written for each element, and three times two scales for 32.
  const int64_t own = 128 * 512, whole = 256;  // tokens of both ranks, times their widths
  const int64_t elements =
      2 * own + whole * (256 + 512 + 512 + 1024);  // contexts, activations, two gradients
  EXPECT_EQ(blocks["mxfp8_quantize_kernel"].bytes, 8 * (4 * elements + 6 * elements / 32));
}

int64_t GatheredInFp8(const std::string& recipe) {
  int64_t bytes = 0;
  const auto step =
      BuildStep(PlanOf(kDense, "tp=2", absl::StrCat("seq=256,global_batch=1,dtype=fp8,fp8=", recipe)));
  EXPECT_TRUE(step.ok()) << step.status();
  for (const StepNode& n : step->stages[0].nodes) {
    if (n.type == NodeType::kCollective && n.collective == CollectiveType::kAllGather && n.spot.layer >= 0)
      bytes += n.bytes;
  }
  return bytes;
}

TEST(GenerateExperts, GathersBlocksOfBothDirections) {
  const int64_t own = 128 * 512;  // bytes that a rank gives to each of six gathers of a layer
  EXPECT_EQ(GatheredInFp8("current"), 8 * 6 * own);
  EXPECT_EQ(GatheredInFp8("mxfp8"), 8 * (6 + 2) * (own + own / 32));
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
