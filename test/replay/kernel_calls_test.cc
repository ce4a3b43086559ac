#include <gtest/gtest.h>

#include <cmath>

#include "replay/cluster/devices.h"
#include "replay/compute/model/calls.h"
#include "replay/compute/model/kernel_names.h"
#include "replay/compute/model/reprice.h"
#include "replay/compute/operators/operator_work.h"
#include "replay/compute/transfer.h"

namespace chakra::CHAKRA_FILE {
namespace {

TEST(KernelNames, GiveTheFamiliesOfEveryLibrary) {
  using F = KernelFamily;
  const std::pair<const char*, F> kNames[] = {
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", F::kGemm},
      {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", F::kGemm},
      {"ampere_sgemm_128x128_tn", F::kGemm},
      {"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT128x224x64_MI16x16x1", F::kGemm},
      {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64>", F::kGemm},
      {"void splitKreduce_kernel<float, float>(cublasSplitKParams<float>)", F::kReduction},
      {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw", F::kGemm},
      {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3", F::kGemm},
      {"igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32", F::kGemm},
      {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>", F::kTranspose},
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>>", F::kAttention},
      {"attn_fwd", F::kAttention},
      {"bwd_kernel_dk_dv", F::kAttention},
      {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausal", F::kAttention},
      {"void flash_bwd_dot_do_o_kernel<Flash_bwd_kernel_traits<128>>", F::kReduction},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", F::kMoe},
      {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwd", F::kNorm},
      {"void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<Kernel_traits>", F::kNorm},
      {"void transformer_engine::cast_transpose_kernel<float>", F::kTranspose},
      {"void transformer_engine::dispatch::mxfp8::quantize_kernel::mxfp8_quantize_kernel", F::kNorm},
      {"nvfp4_quantize_kernel", F::kNorm},
      {"void transformer_engine::multi_unpadding_kernel<8, bf16>", F::kCopy},
      {"triton_per_fused_native_layer_norm_3", F::kNorm},
      {"triton_red_fused_sum_1", F::kReduction},
      {"triton_poi_fused_add_2", F::kElementwise},
      {"triton_tem_fused_mm_5", F::kGemm},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
       F::kElementwise},
      {"void at::native::elementwise_kernel<128, 4, direct_copy_kernel_cuda(at::TensorIteratorBase&)>",
       F::kTranspose},
      {"void at::native::vectorized_elementwise_kernel<4, bfloat16_copy_kernel_cuda>", F::kCopy},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", F::kReduction},
      {"void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>", F::kOptimizer},
      {"void multi_tensor_apply_kernel<TensorListMetadata<1>, LpNormFunctor<float>>", F::kReduction},
      {"void cub::DeviceRadixSortOnesweepKernel<int>", F::kScan},
      {"void indexSelectLargeIndex<c10::BFloat16, long>", F::kGather},
      {"Memcpy DtoD (Device -> Device)", F::kCopy},
      {"Memcpy HtoD (Pinned -> Device)", F::kHostCopy},
      {"at::cuda::(anonymous namespace)::spin_kernel(long)", F::kNone},
  };
  for (const auto& [name, family] : kNames) {
    EXPECT_EQ(Name(FamilyOfKernelName(name)), Name(family)) << name;
  }
}

TEST(KernelNames, GiveTheDtypesOfGemms) {
  EXPECT_EQ(DtypeOfKernelName("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n"), KernelDtype::kFp32);
  EXPECT_EQ(DtypeOfKernelName("cutlass_80_tensorop_s1688gemm_256x64_16x4_nt_align4"), KernelDtype::kTf32);
  EXPECT_EQ(DtypeOfKernelName("Cijk_Alik_Bljk_BBS_BH_MT64x32x256"), KernelDtype::kBf16);
  EXPECT_EQ(DtypeOfKernelName("attn_fwd"), std::nullopt);
}

std::vector<Operand> Operands(const char* shapes, const char* types = "") {
  auto operands = ParseOperands(shapes, types);
  EXPECT_TRUE(operands.ok()) << operands.status();
  return *operands;
}

// The operations of all calls: two for each multiplication.
double Operations(const FamilyCalls& calls) {
  double sum = 0;
  for (const KernelCall& call : calls.calls) {
    if (const auto* g = std::get_if<GemmCall>(&call)) sum += 2 * g->batch * g->m * g->n * g->k;
    if (const auto* a = std::get_if<AttentionCall>(&call)) {
      const double product = 2 * a->batch * a->heads * a->seq * (a->seq + a->prefix) * a->head_dim;
      sum += (a->backward ? 5 : 2) * product;
    }
    if (const auto* s = std::get_if<StreamCall>(&call)) sum += s->operations;
  }
  return sum;
}

// Each operator fits at least one of these operands.
constexpr const char* kShapes[] = {
    "[[64, 32], [32, 16]]",
    "[[16], [64, 32], [32, 16]]",
    "[[4, 64, 32], [4, 32, 16]]",
    "[[4, 64, 16], [4, 64, 32], [4, 32, 16]]",
    "[[8, 64, 32], [16, 32], [16]]",
    "[[64, 32], [32]]",
    "[[2, 16, 14, 14], [32, 8, 3, 3]]",
    "[[2, 32, 7, 7], [2, 16, 14, 14], [32, 8, 3, 3]]",
    "[[2, 16, 128, 64], [2, 16, 128, 64], [2, 16, 128, 64]]",
    "[[2, 16, 128, 64], [2, 16, 128, 64], [2, 16, 128, 64], [2, 16, 128, 64]]",
    "[[64, 32], [64, 32]]",
    "[[64, 32], [], [64, 32]]",
    "[[[64, 32]], [[64, 32]], [[64, 32]], [[64, 32]]]",
};

TEST(KernelCalls, OperatorsHaveTheOperationsOfTheirRule) {
  for (const std::string& name : KnownOperators()) {
    int fits = 0;
    for (const char* shapes : kShapes) {
      const bool lists = shapes[2] == '[';
      const auto operands =
          Operands(shapes, lists ? "['GenericList[Tensor(float)]', 'GenericList[Tensor(float)]', "
                                   "'GenericList[Tensor(float)]', 'GenericList[Tensor(float)]']"
                                 : "");
      const auto work = WorkOfOperator(name, operands, 4);
      const auto calls = CallsOfOperator(name, operands, 4);
      if (!calls.has_value()) continue;
      ++fits;
      ASSERT_TRUE(work.has_value()) << name << " " << shapes;
      EXPECT_NEAR(Operations(*calls), work->operations, 1e-9 * work->operations) << name << " " << shapes;
      const auto* stream = std::get_if<StreamCall>(&calls->calls[0]);
      if (stream != nullptr) {
        EXPECT_EQ(stream->bytes, work->bytes) << name;
      }
    }
    EXPECT_GT(fits, 0) << name;
  }
}

TEST(KernelCalls, KernelsFollowFromNamesAndOperands) {
  constexpr char kTypes[] = "['Tensor(float)', 'Tensor(c10::BFloat16)', 'Tensor(c10::BFloat16)']";
  const FamilyCalls addmm =
      CallsOfKernel({"Cijk_Alik_Bljk_BBS", "", "[[16], [64, 32], [32, 16]]", kTypes, 0, 0}, 2);
  ASSERT_EQ(addmm.calls.size(), 1u);
  const auto& gemm = std::get<GemmCall>(addmm.calls[0]);
  EXPECT_EQ(gemm.m, 64);
  EXPECT_EQ(gemm.n, 16);
  EXPECT_EQ(gemm.k, 32);
  EXPECT_EQ(gemm.dtype, KernelDtype::kBf16);
  // Each kernel of a convolution's backward is one of its GEMMs.
  constexpr char kConv[] = "[[2, 32, 7, 7], [2, 16, 14, 14], [32, 8, 3, 3]]";
  const auto weights = CallsOfKernel({"igemm_wrw_gtcx3", "aten::convolution_backward", kConv, "", 0, 0}, 4);
  ASSERT_EQ(weights.calls.size(), 1u);
  EXPECT_EQ(std::get<GemmCall>(weights.calls[0]).k, 2 * 7 * 7);
  // fp32 operands, GEMM in TF32.
  constexpr char kFloats[] = "['Tensor(float)', 'Tensor(float)']";
  const auto tf32 = CallsOfKernel({"sm80_xmma_gemm_tf32f32", "", "[[64, 32], [32, 16]]", kFloats, 0, 0}, 4);
  EXPECT_EQ(std::get<GemmCall>(tf32.calls[0]).dtype, KernelDtype::kTf32);
  // Flash attention has the length before the heads; keys in front of the queries are a prefix.
  const auto flash = CallsOfKernel(
      {"flash_fwd_kernel", "", "[[2, 100, 16, 64], [2, 300, 4, 64], [2, 300, 4, 64]]", "", 0, 0}, 2);
  const auto& a = std::get<AttentionCall>(flash.calls.at(0));
  EXPECT_EQ(a.heads, 16);
  EXPECT_EQ(a.kv_heads, 4);
  EXPECT_EQ(a.seq, 100);
  EXPECT_EQ(a.prefix, 200);
  // The node's own operations show a mask; the pairs that the mask leaves give the window.
  const auto masked = [](double pairs, bool backward) {
    const double operations = pairs * 2 * 16 * 64 * (backward ? 10 : 4);
    const auto calls = CallsOfKernel(
        {backward ? "flash_bwd_kernel" : "flash_fwd_kernel", "",
         "[[2, 1000, 16, 64], [2, 1000, 4, 64], [2, 1000, 4, 64], [2, 1000, 4, 64]]", "", operations, 0},
        2);
    return std::get<AttentionCall>(calls.calls.at(0));
  };
  EXPECT_FALSE(masked(1000 * 1000, false).causal);
  EXPECT_TRUE(masked(1000 * 1001 / 2, false).causal);
  EXPECT_EQ(masked(1000 * 1001 / 2, false).window, 0);
  EXPECT_TRUE(masked(128 * 1000 - 128 * 127 / 2, false).causal);
  EXPECT_NEAR(masked(128 * 1000 - 128 * 127 / 2, false).window, 128, 1);
  EXPECT_NEAR(masked(700 * 1000 - 700 * 699 / 2, false).window, 700, 2);
  EXPECT_TRUE(CallsOfKernel({"nobody_knows", "", "[[2]]", "", 0, 0}, 2).family == KernelFamily::kNone);
}

KernelModel ModelOf(const char* name) {
  auto device = FindDevice(name);
  EXPECT_TRUE(device.ok()) << device.status();
  auto model = KernelModel::Create(*device);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

// A cap is a tanh for each pair of query and key: a sixteenth of a cycle of a multiprocessor.
TEST(KernelCalls, CapsTakeATanhForEachScore) {
  const KernelModel model = ModelOf("H100");
  for (const bool backward : {false, true}) {
    const auto calls = CallsOfKernel(
        {backward ? "softcap_bwd_heads_first_attention_kernel" : "softcap_fwd_heads_first_attention_kernel",
         "", "[[4, 32, 8192, 128], [4, 32, 8192, 128], [4, 32, 8192, 128], [4, 32, 8192, 128]]", "", 0, 0},
        2);
    ASSERT_EQ(calls.calls.size(), 1u);
    AttentionCall call = std::get<AttentionCall>(calls.calls[0]);
    EXPECT_TRUE(call.capped);
    EXPECT_EQ(call.backward, backward);
    EXPECT_EQ(call.heads, 32);
    const double with = model.Attention(call)->us;
    call.capped = false;
    const double without = model.Attention(call)->us;
    // 132 multiprocessors at 1.83 GHz at most; the law's residual may change the ratio.
    const double tanh = 4.0 * 32 * 8192 * 8192 / 16 / 132 / 1830;
    EXPECT_NEAR((with - without) / tanh, 1, 0.35) << backward;
  }
}

TEST(KernelCalls, GemmsOfExpertsAreOneKernelEach) {
  for (const bool sums : {false, true}) {
    KernelFacts kernel;
    kernel.name = sums ? "multi_stream_wgrad_gemm_accum_fp32" : "multi_stream_gemm";
    kernel.shapes = "[[16, 2048, 512], [16, 512, 1024]]";
    kernel.dtypes = "['Tensor(c10::Float8_e4m3fn)', 'Tensor(c10::Float8_e4m3fn)']";
    const FamilyCalls calls = CallsOfKernel(kernel, 2);
    ASSERT_EQ(calls.calls.size(), 1u);
    const auto* gemm = std::get_if<GemmCall>(&calls.calls[0]);
    ASSERT_NE(gemm, nullptr);
    EXPECT_TRUE(gemm->each);
    EXPECT_EQ(gemm->accumulates, sums);
    EXPECT_EQ(gemm->dtype, KernelDtype::kFp8);
    EXPECT_EQ(gemm->batch, 16);
    EXPECT_EQ(gemm->m, 2048);
    EXPECT_EQ(gemm->n, 1024);
    EXPECT_EQ(gemm->k, 512);
  }
}

// PyTorch's type of 4 bits holds pairs along the inner dimension.
TEST(KernelCalls, GemmsOfFourBitsHavePairs) {
  for (const bool grouped : {false, true}) {
    KernelFacts kernel;
    kernel.name = grouped ? "aten::bmm" : "aten::_scaled_mm";
    kernel.shapes = grouped ? "[[16, 2048, 256], [16, 256, 1024]]" : "[[2048, 256], [256, 1024]]";
    kernel.dtypes = "['Tensor(c10::Float4_e2m1fn_x2)', 'Tensor(c10::Float4_e2m1fn_x2)']";
    const FamilyCalls calls = CallsOfKernel(kernel, 2);
    ASSERT_EQ(calls.calls.size(), 1u);
    const auto* gemm = std::get_if<GemmCall>(&calls.calls[0]);
    ASSERT_NE(gemm, nullptr);
    EXPECT_EQ(gemm->dtype, KernelDtype::kFp4);
    EXPECT_EQ(gemm->batch, grouped ? 16 : 1);
    EXPECT_EQ(gemm->m, 2048);
    EXPECT_EQ(gemm->n, 1024);
    EXPECT_EQ(gemm->k, 512);
  }
}

TEST(Reprice, ScalesMeasuredTimesByTheModel) {
  const KernelModel h100 = ModelOf("H100"), a100 = ModelOf("A100");
  Repricer to(h100, a100), back(a100, h100), same(h100, h100);
  const GemmCall gemm = {KernelDtype::kBf16, 1, 4096, 4096, 4096};
  const double here = h100.Gemm(gemm)->us, there = a100.Gemm(gemm)->us;
  const FamilyCalls known = {KernelFamily::kGemm, {gemm}};
  const TimeRatio r = to.Ratio(known, "gemm", "bf16", 1.3 * here);
  EXPECT_TRUE(r.sized);
  EXPECT_DOUBLE_EQ(r.ratio, there / here);
  EXPECT_LT(r.low, r.ratio);
  EXPECT_GT(r.high, r.ratio);
  EXPECT_NEAR(back.Ratio(known, "gemm", "bf16", there).ratio * r.ratio, 1, 1e-9);
  EXPECT_DOUBLE_EQ(same.Ratio(known, "gemm", "bf16", here).ratio, 1);
}

TEST(Reprice, InfersSizesFromTimesWithoutShapes) {
  const KernelModel h100 = ModelOf("H100"), a100 = ModelOf("A100");
  Repricer to(h100, a100);
  for (const double bytes : {1e6, 3e7, 1e9}) {
    const StreamCall stream = {StreamKind::kCopy, bytes, bytes / 4};
    const double here = h100.Stream(stream)->us, there = a100.Stream(stream)->us;
    const TimeRatio r = to.Ratio({KernelFamily::kCopy, {}}, "copy", "", here);
    EXPECT_FALSE(r.sized);
    EXPECT_NEAR(r.ratio, there / here, 0.02 * there / here) << bytes;
    // Operands that are not this kernel's: 1000 times the bytes that it can have moved.
    const StreamCall wrong = {StreamKind::kCopy, 1000 * bytes, 0};
    EXPECT_FALSE(to.Ratio({KernelFamily::kCopy, {wrong}}, "copy", "", here).sized);
  }
}

TEST(Reprice, KeepsHostCopiesAndScalesUnknownKernels) {
  const KernelModel h100 = ModelOf("H100"), a100 = ModelOf("A100");
  Repricer to(h100, a100);
  EXPECT_EQ(to.Ratio({KernelFamily::kHostCopy, {}}, "Memcpy HtoD", "", 10).ratio, 1);
  const TimeRatio r = to.Ratio({}, "nobody", "bf16", 10);
  const proto::Device &h = h100.device(), &a = a100.device();
  const double peaks = h.peak_tflops().at("bf16") / a.peak_tflops().at("bf16");
  const double bandwidths = h.memory_gbytes_per_s() / a.memory_gbytes_per_s();
  EXPECT_NEAR(r.ratio, std::sqrt(std::max(peaks, bandwidths)), 1e-12);
  EXPECT_EQ(r.family, KernelFamily::kNone);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
