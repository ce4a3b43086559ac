// GEMMs of 4 bits, layers and modules of another dtype: kernels, bytes and memory by hand; errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/memory.h"
#include "trace/generate/write.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

struct Sum {
  int64_t nodes = 0, bytes = 0, launches = 0, operations = 0;
  bool operator==(const Sum&) const = default;
};

// By kernel, with "4" before those whose operands have 4 bits, and "collective" with the type's number.
std::map<std::string, Sum> SumsOf(const std::string& model, const std::string& parallel,
                                  const std::string& training, int64_t layer = -1) {
  std::map<std::string, Sum> sums;
  const char* batch = absl::StrContains(parallel, "dp=2") ? "global_batch=2" : "global_batch=1";
  const auto step =
      BuildStep(PlanOf(model, parallel, absl::StrCat("seq=256,launch=0us,", batch, ",", training)));
  EXPECT_TRUE(step.ok()) << step.status();
  if (!step.ok()) return sums;
  for (const StepNode& n : step->stages[0].nodes) {
    if (n.spot.layer < 0 || (layer >= 0 && n.spot.layer != layer)) continue;
    if (n.type == NodeType::kCollective) {
      Sum& sum = sums[absl::StrCat("collective", static_cast<int>(n.collective))];
      ++sum.nodes;
      sum.bytes += n.bytes;
    }
    if (n.type != NodeType::kComp) continue;
    const Operator& op = step->stages[0].operators[n.op];
    Sum& sum = sums[absl::StrCat(absl::StrContains(op.types, "Float4") ? "4 " : "", op.name)];
    ++sum.nodes;
    sum.bytes += op.bytes;
    sum.launches += op.launches;
    sum.operations += op.operations;
  }
  return sums;
}

constexpr char kAmax[] = "hadamard_transform_amax_reduce_kernel", kCast[] = "nvfp4_quantize_kernel";
constexpr char kGather[] = "collective2";
// One layer of kDense with 256 tokens: elements of the inputs of its GEMMs, and of the gradients of their
// outputs.
constexpr int64_t kInputs = 256 * (512 + 512 + 512 + 1024), kGradients = 256 * (1024 + 512 + 2048 + 512);

// Each input and each gradient is read for its maximum, then read and written twice in 9 bits for two
// elements, whose scales, an eighth of a byte an element, are read and written once more.
TEST(GeneratePrecision, NvfpCastsEachOperandInTwoPasses) {
  auto sums = SumsOf(kDense, "", "dtype=nvfp4", 3);
  EXPECT_EQ(sums[kAmax].nodes, 8);
  EXPECT_EQ(sums[kAmax].bytes, 2 * (kInputs + kGradients));
  EXPECT_EQ(sums[kCast].nodes, 8);
  EXPECT_EQ(sums[kCast].bytes, (kInputs + kGradients) * (2 * 16 + 2 * 9 + 4) / 16);
  // Random numbers of stochastic rounding are for gradients alone.
  EXPECT_EQ(sums[kCast].operations, kInputs + 20 * kGradients);
  EXPECT_EQ(SumsOf(kDense, "", "dtype=nvfp4,stochastic=no", 3)[kCast].operations, kInputs + kGradients);
  // torchao's kernels need more operations than memory hides.
  auto torchao = SumsOf(kDense, "", "dtype=nvfp4,framework=ddp", 3);
  EXPECT_EQ(torchao[kCast].bytes, sums[kCast].bytes);
  EXPECT_EQ(torchao[kCast].operations, 29 * kInputs + 54 * kGradients);
  EXPECT_EQ(torchao[kAmax].operations, 13 * (kInputs + kGradients));
  auto plain = SumsOf(kDense, "", "dtype=nvfp4,hadamard=no", 3);
  EXPECT_EQ(plain.count(kAmax), 0);
  EXPECT_EQ(plain["amax_reduce_kernel"], sums[kAmax]);
  EXPECT_EQ(plain[kCast], sums[kCast]);
}

// Forward, and backward the gradients of inputs and of weights: 12 GEMMs of a layer. Operands have 9 bits for
// two elements, outputs two bytes; each has two kernels more for the scales.
TEST(GeneratePrecision, NvfpGemmsHaveOperandsOfFourBits) {
  auto sums = SumsOf(kDense, "", "dtype=nvfp4", 0);
  const int64_t t = 256, weights[][2] = {{512, 1024}, {512, 512}, {512, 2048}, {1024, 512}};
  int64_t bytes = 0, of_weights = 0, operations = 0;
  for (const auto& [in, out] : weights) {
    bytes += (t * in + in * out) * 9 / 16 + 2 * t * out;       // forward
    bytes += (t * out + in * out) * 9 / 16 + 2 * t * in;       // the input's gradient
    of_weights += (t * in + t * out) * 9 / 16 + 8 * in * out;  // adds to sums in fp32
    operations += 2 * t * in * out;
  }
  EXPECT_EQ(sums["4 aten::_scaled_mm"], (Sum{8, bytes, 24, 2 * operations}));
  EXPECT_EQ(sums["4 wgrad_gemm_accum_fp32"], (Sum{4, of_weights, 12, operations}));
  EXPECT_EQ(sums.count("aten::mm"), 0);
  const auto step = BuildStep(PlanOf(kDense, "", "seq=256,global_batch=1,dtype=nvfp4"));
  for (const StepNode& n : step->stages[0].nodes) {
    const Operator& op = step->stages[0].operators[n.op];
    if (n.type == NodeType::kComp && op.name == "aten::_scaled_mm" && n.spot.layer == 0) {
      EXPECT_EQ(op.shapes, "[[256, 256], [256, 1024]]");  // pairs of 512 features
      break;
    }
  }
}

// Ranks of tp reduce both maxima, and gather 9 bits for two elements: the input of a column GEMM once forward
// and once backward, the gradient of a row GEMM in both directions.
TEST(GeneratePrecision, NvfpGathersFourBitsOverTensorRanks) {
  auto sums = SumsOf(kDense, "tp=2", "dtype=nvfp4", 0), plain = SumsOf(kDense, "tp=2", "dtype=bf16", 0);
  const int64_t own = 128 * 512;
  EXPECT_EQ(plain[kGather].bytes, 2 * 6 * own);
  EXPECT_EQ(sums[kGather].bytes, (2 * 2 + 2 * 2) * own * 9 / 16);
  int64_t reduced = 0;
  for (const auto& [name, sum] : sums) {
    if (name != kGather && absl::StartsWith(name, "collective") && sum.bytes == sum.nodes * 8)
      reduced += sum.nodes;
  }
  EXPECT_EQ(reduced, 4);
  // torchao gathers in bf16, and casts the whole input.
  auto fsdp = SumsOf(kDense, "tp=2,dp=1", "dtype=nvfp4,framework=fsdp,compiled=yes", 0);
  EXPECT_EQ(fsdp[kGather].bytes, plain[kGather].bytes);
}

// MXFP8 gathers a scale of a byte for 32 elements too.
TEST(GeneratePrecision, MxfpGathersItsScales) {
  auto sums = SumsOf(kDense, "tp=2", "dtype=fp8,fp8=mxfp8", 0);
  EXPECT_EQ(sums[kGather].bytes, 8 * (128 * 512 + 128 * 512 / 32));
}

// Experts have one cast for all of up to 64, and GEMMs one by one.
TEST(GeneratePrecision, NvfpCastsExpertsTogether) {
  auto sums =
      SumsOf("layers=1,hidden=512,heads=8,vocab=4096,experts=128,top_k=2,expert_ffn=256", "", "dtype=nvfp4");
  EXPECT_EQ(sums[kCast].launches, 4 + 4 * 2);  // four of attention, four of 128 experts
  EXPECT_EQ(sums["4 multi_stream_gemm"].nodes, 4);
  EXPECT_EQ(sums["aten::mm"].nodes, 2);  // the router, forward and backward
}

TEST(GeneratePrecision, LayersAndModulesHaveOtherDtypes) {
  const auto bf16 = SumsOf(kDense, "", "dtype=bf16", 7), four = SumsOf(kDense, "", "dtype=nvfp4", 5);
  EXPECT_EQ(SumsOf(kDense, "", "dtype=nvfp4,bf16_layers=6-7", 7), bf16);
  EXPECT_EQ(SumsOf(kDense, "", "dtype=nvfp4,bf16_layers=6-7", 5), four);
  EXPECT_EQ(SumsOf(kDense, "", "dtype=fp8,bf16_layers=0+7", 7), bf16);
  // A module and its parts.
  auto mixed = SumsOf(kDense, "", "dtype=nvfp4,gemm_dtypes=attention:bf16+mlp.down:fp8,fp8=mxfp8", 0);
  EXPECT_EQ(mixed[kCast].nodes, 2);
  EXPECT_EQ(mixed["mxfp8_quantize_kernel"].nodes, 2);
  EXPECT_EQ(mixed["4 aten::_scaled_mm"].nodes, 2);
  EXPECT_EQ(mixed["aten::_scaled_mm"].nodes, 2);
  EXPECT_EQ(mixed["aten::mm"].nodes, 4);
  EXPECT_EQ(SumsOf(kDense, "", "dtype=bf16,gemm_dtypes=mlp:nvfp4", 0)[kCast].nodes, 4);
  // Layer 8 stands for multi-token prediction.
  const std::string further = absl::StrCat(kDense, ",mtp=2");
  EXPECT_EQ(SumsOf(further, "", "dtype=nvfp4,bf16_layers=8", 9), SumsOf(further, "", "dtype=bf16", 9));
  EXPECT_GT(SumsOf(further, "", "dtype=nvfp4,bf16_layers=7", 9)[kCast].nodes, 0);
  // Gradients of weights that a pass defers keep their layer's dtype.
  const char* two = "pp=1,schedule=zb-h1";
  EXPECT_EQ(SumsOf(kDense, two, "dtype=nvfp4,bf16_layers=6-7", 7)["wgrad_gemm_accum_fp32"].nodes, 4);
  EXPECT_EQ(SumsOf(kDense, two, "dtype=nvfp4,bf16_layers=6-7", 6).count(kCast), 0);
}

// FSDP casts gathered weights, except those of layers in bf16: two casts of 2,359,296 weights.
TEST(GeneratePrecision, FsdpCastsGatheredWeights) {
  const std::string fsdp = "framework=fsdp,compiled=yes,dtype=nvfp4";
  const auto weights = [&](const std::string& more) {
    return SumsOf(kDense, "dp=2", absl::StrCat(fsdp, more), 7)["amax_reduce_kernel"].nodes;
  };
  EXPECT_EQ(weights(""), 2);
  EXPECT_EQ(weights(",bf16_layers=7"), 0);
}

// The inputs of four GEMMs stay as they were cast along columns; the inputs of norms, of the core and of the
// activation stay in bf16, and so does the core's output.
TEST(GeneratePrecision, BackwardKeepsCastInputs) {
  const auto of = [](const char* training, int64_t layer = 0) {
    return ActivationsOfLayer(PlanOf(kDense, "", absl::StrCat("seq=256,", training)), layer);
  };
  const int64_t t = 256, casts = (512 + 512 + 512 + 1024) * 9 / 16;
  const int64_t wide = 2 * (2 * 512 + 1024 + 512 + 2048) + 4 * 8;
  EXPECT_EQ(of("dtype=bf16"), t * (wide + 2 * (512 + 512 + 1024)));
  EXPECT_EQ(of("dtype=nvfp4"), t * (wide + casts));
  EXPECT_EQ(of("dtype=fp8,fp8=mxfp8"), t * (wide + (512 + 512 + 512 + 1024) * 33 / 32));
  EXPECT_EQ(of("dtype=fp8,fp8=mxfp8,framework=fsdp"),
            of("dtype=bf16,framework=fsdp"));  // torchao casts again
  EXPECT_EQ(of("dtype=nvfp4,bf16_layers=0", 0), of("dtype=bf16"));
  EXPECT_EQ(of("dtype=nvfp4,bf16_layers=0", 1), of("dtype=nvfp4"));
}

TEST(GeneratePrecision, BadExceptionsAreRefusedByField) {
  const struct {
    const char *training, *error;
  } kBad[] = {
      {"dtype=nvfp4,bf16_layers=8", "training.bf16_layers is \"8\"; expected layers from 0 to 7, as 0-22:2"},
      {"dtype=nvfp4,bf16_layers=x", "training.bf16_layers is \"x\"; expected layers from 0 to 7"},
      {"dtype=bf16,bf16_layers=0", "no GEMM is narrower; expected dtype=fp8 or nvfp4, or no bf16_layers"},
      {"dtype=fp16,bf16_layers=0", "training.bf16_layers is \"0\"; expected none with dtype=fp16"},
      {"dtype=fp32,gemm_dtypes=mlp:fp8", "training.gemm_dtypes is \"mlp:fp8\"; expected none"},
      {"dtype=nvfp4,gemm_dtypes=atention:bf16",
       "training.gemm_dtypes has \"atention\", which has no GEMM in this model"},
      {"dtype=nvfp4,gemm_dtypes=mamba.out:bf16", "known: attention.qkv, attention.out, mlp.up, mlp.down"},
      {"dtype=nvfp4,gemm_dtypes=mlp", "has \"mlp\"; expected a module and bf16, fp8 or nvfp4"},
      {"dtype=nvfp4,gemm_dtypes=mlp:fp6", "has \"mlp:fp6\"; expected a module and bf16, fp8 or nvfp4"},
      {"dtype=nvfp4,gemm_dtypes=mlp:fp8+mlp:bf16", "training.gemm_dtypes has \"mlp\" twice"},
      {"dtype=fp8,hadamard=no", "training.hadamard is for nvfp4; expected training.dtype=nvfp4 too"},
      {"dtype=bf16,stochastic=yes", "training.stochastic is for nvfp4"},
      {"dtype=nvfp4,grad_reduce_dtype=nvfp4", "training.grad_reduce_dtype is nvfp4; expected fp32 or bf16"},
      {"dtype=nvfp4,framework=fsdp,gemm_dtypes=mlp:fp8",
       "training.gemm_dtypes with parallel.zero=3 is not generated yet; known: bf16_layers"},
  };
  for (const auto& bad : kBad)
    EXPECT_THAT(ErrorOf(kDense, "", absl::StrCat("seq=64,", bad.training)), HasSubstr(bad.error));
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
