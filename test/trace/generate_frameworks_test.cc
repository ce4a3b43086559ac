// Kernels and hosts of frameworks as people run them: eager PyTorch, torchao's casts, hosts by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "test/trace/generate_schedule_testing.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/hosts.h"
#include "trace/generate/operators.h"
#include "trace/generate/step.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kElements = 64 * 512;  // of the activations between kDense's layers

// The operators of a step by name; the last one of each name.
std::map<std::string, Operator> OperatorsOf(const std::string& parallel, const std::string& training,
                                            std::map<std::string, int>* count = nullptr) {
  std::map<std::string, Operator> out;
  const StepGraphs step = Step(kDense, parallel, absl::StrCat("seq=64,global_batch=2", training));
  for (const StepNode& n : step.stages[0].nodes) {
    if (n.type != NodeType::kComp) continue;
    const Operator& op = step.stages[0].operators[n.op];
    out[op.name] = op;
    if (count != nullptr) ++(*count)[op.name];
  }
  return out;
}

int64_t HostNs(const char* model, const std::string& training) {
  const StepGraphs step = Step(model, "", absl::StrCat("seq=64,global_batch=1", training));
  int64_t sum = 0;
  for (const StepNode& n : step.stages[0].nodes) {
    if (n.stream == Stream::kHost) sum += step.stages[0].operators[n.op].duration_ns;
  }
  return sum;
}

// PyTorch's scaled_dot_product_attention has FlashAttention-2, if the model needs nothing that it lacks.
TEST(GenerateFrameworks, PytorchRunsTheSecondFlashAttention) {
  const auto attention = [](const std::string& model, const std::string& training) {
    return PlanOf(model, "", absl::StrCat("seq=64,", training)).training.attention;
  };
  EXPECT_EQ(attention(kDense, "framework=megatron"), proto::Training::FLASH);
  EXPECT_EQ(attention(kDense, "framework=fsdp"), proto::Training::FLASH2);
  EXPECT_EQ(attention(kDense, "framework=ddp"), proto::Training::FLASH2);
  EXPECT_EQ(attention(kDense, "framework=fsdp,attention=flash"), proto::Training::FLASH);
  EXPECT_EQ(attention(kLatent, "framework=fsdp"), proto::Training::FLASH);
  for (const char* other : {",window=32", ",score_cap=50"})
    EXPECT_EQ(attention(absl::StrCat(kDense, other), "framework=fsdp"), proto::Training::FLASH) << other;
  std::map<std::string, int> count;
  OperatorsOf("dp=2", ",framework=fsdp", &count);
  EXPECT_EQ(count["flash2_fwd_heads_first_attention_kernel"], 8);
  EXPECT_EQ(count["flash2_bwd_heads_first_attention_kernel"], 8);
  EXPECT_EQ(count["dot_do_o_kernel"], 0);
}

// The bytes of the eight kernels of RMSNorm forward, and of their derivatives; two for each layer and the
// last one.
TEST(GenerateFrameworks, NormsByPartsMoveFp32) {
  std::map<std::string, int> count;
  const auto parts = OperatorsOf("dp=2", ",framework=fsdp,fused_norm=no", &count);
  EXPECT_EQ(count["rms_by_parts_elementwise_kernel"], 17);
  EXPECT_EQ(count["rms_by_parts_backward_elementwise_kernel"], 17);
  EXPECT_EQ(count["aten::_fused_rms_norm"], 0);
  EXPECT_EQ(parts.at("rms_by_parts_elementwise_kernel").bytes, 36 * kElements);
  EXPECT_EQ(parts.at("rms_by_parts_elementwise_kernel").launches, 8);
  EXPECT_EQ(parts.at("rms_by_parts_backward_elementwise_kernel").bytes, 84 * kElements);
  std::map<std::string, int> fused;
  OperatorsOf("dp=2", ",framework=fsdp", &fused);
  EXPECT_EQ(fused["aten::_fused_rms_norm"], 17);
  // LayerNorm is always one kernel.
  const StepGraphs old = Step(kOld, "dp=2", "seq=64,global_batch=2,framework=fsdp,fused_norm=no");
  for (const Operator& op : old.stages[0].operators) EXPECT_NE(op.name, "rms_by_parts_elementwise_kernel");
}

// torchao without torch.compile: passes in fp32 for each tensor, also for gathered weights.
TEST(GenerateFrameworks, CastsByPartsWithoutCompilation) {
  constexpr char kCast[] = "fp8_by_parts_elementwise_kernel";
  std::map<std::string, int> tensor, blocks, compiled;
  const auto of_tensor = OperatorsOf("dp=2", ",framework=fsdp,dtype=fp8", &tensor);
  const auto of_blocks = OperatorsOf("dp=2", ",framework=fsdp,dtype=fp8,fp8=mxfp8", &blocks);
  EXPECT_EQ(tensor[kCast], tensor["abs_amax_elementwise_kernel"]);
  EXPECT_GT(tensor[kCast], 8 * 8);
  EXPECT_EQ(blocks["abs_amax_elementwise_kernel"], 0);
  EXPECT_EQ(tensor["cast_transpose_elementwise_kernel"] + tensor["cast_transpose_kernel"], 0);
  EXPECT_EQ(EagerCast(1000, 2, false).bytes, 29'000);
  EXPECT_EQ(EagerCast(1000, 2, true).bytes, 40'000);
  EXPECT_EQ(EagerCast(1000, 2, true).launches, 30);
  EXPECT_TRUE(of_tensor.at(kCast).eager && of_blocks.at(kCast).eager);
  // Compiled, a kernel for each direction; TransformerEngine has one for both.
  const auto two = OperatorsOf("dp=2", ",framework=fsdp,dtype=fp8,fp8=mxfp8,compiled=yes", &compiled);
  EXPECT_EQ(compiled[kCast], 0);
  EXPECT_EQ(two.at("mxfp8_quantize_kernel").launches, 2);
  const auto one = OperatorsOf("dp=2", ",dtype=fp8,fp8=mxfp8");
  EXPECT_EQ(one.at("mxfp8_quantize_kernel").launches, 1);
}

// Each further kernel of a cast takes kernel_us.
TEST(GenerateFrameworks, FurtherKernelsHaveTheirOwnTime) {
  const std::string eager = ",framework=fsdp,dtype=fp8,fp8=mxfp8,launch=20us,layer=0us,call=0us,batch=0us";
  EXPECT_NEAR(static_cast<double>(HostNs(kDense, eager + ",kernel=30us") - HostNs(kDense, eager)),
              6 * 8 * (30 - 1) * (30 - 10) * 1e3, 250e3);  // casts of activations; 10 us by default
  EXPECT_EQ(HostNs(kDense, ",launch=0us,framework=fsdp,dtype=fp8"), 0);
}

TEST(GenerateFrameworks, HostsHaveNames) {
  proto::Training t;
  const auto first = HostOf(t);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->name(), "2022");
  t.set_host("bridge-2026");
  const auto bridge = HostOf(t);
  ASSERT_TRUE(bridge.ok()) << bridge.status();
  EXPECT_NE(bridge->measured(), "");
  EXPECT_NE(bridge->range(), "");
  EXPECT_EQ(HostCostsOf(t, *bridge).layer_ns, std::llround(bridge->layer_us() * 1000));
  t.set_layer_us(7);
  EXPECT_EQ(HostCostsOf(t, *bridge).layer_ns, 7000);
  EXPECT_THAT(PlanOf(kDense, "", "seq=64,host=bridge-2026").training.host_range, HasSubstr("bridge-2026: "));
  t.set_host("bridge-2025");
  EXPECT_THAT(HostOf(t).status().message(),
              HasSubstr("training.host is \"bridge-2025\"; did you mean 'bridge-2026'?"));
  EXPECT_GT(HostNs(kDense, ",host=bridge-2026"), HostNs(kDense, "") + 8 * 9'000'000);
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
