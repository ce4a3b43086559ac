#include "trace/import/comm/comm_kernels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Known {
  const char* name;
  const char* library;
  CommOp op;
  int64_t members = kNone;
};

// Names as profilers wrote them.
constexpr Known kKnown[] = {
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL", CommOp::kAllReduce},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", "NCCL",
     CommOp::kAllGather},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
     CommOp::kReduceScatter},
    {"ncclDevKernel_Broadcast_RING_LL(x)", "NCCL", CommOp::kBroadcast},
    {"ncclDevKernel_Reduce_Sum_f32_RING_LL(x)", "NCCL", CommOp::kReduce},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "NCCL", CommOp::kUnknown},
    {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "NCCL", CommOp::kUnknown},
    {"void ncclDevKernel_Generic_4<x>(y)", "NCCL", CommOp::kUnknown},
    {"ncclDevKernel_Generic_1.kd", "NCCL", CommOp::kUnknown},
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "NCCL", CommOp::kAllReduce},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
     CommOp::kUnknown},
    {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "NCCL", CommOp::kAllReduce},
    {"ncclReduceRingLLKernel_sum_f32(ncclColl)", "NCCL", CommOp::kReduce},
    {"ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs)", "NCCL", CommOp::kAllReduce},
    {"ncclSymkDevKernel_ReduceScatter_LDMC_sum_f32(ncclSymkDevWorkArgs4K)", "NCCL", CommOp::kReduceScatter},
    {"rccl_main_kernel", "RCCL", CommOp::kUnknown},
    {"mscclKernel_Sum_hip_bfloat16_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)", "MSCCL",
     CommOp::kUnknown},
    {"void mscclpp::collective::allreducePacket<__half>(x)", "MSCCL++", CommOp::kAllReduce},
    {"mscclpp::collective::allgatherFullmesh2", "MSCCL++", CommOp::kAllGather},
    {"void mscclpp::executionKernel<__half, mscclpp::LL16Packet>(int)", "MSCCL++", CommOp::kUnknown},
    {"oneccl_allreduce_pcie", "oneCCL", CommOp::kAllReduce},
    {"hcom_allReduce__503_0_1", "HCCL", CommOp::kAllReduce},
    {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, int*)", "DeepEP", CommOp::kAllToAll},
    {"void deep_ep::intranode::combine<__nv_bfloat16, (int)8, (int)768, (int)4096>(T1 *, float *)", "DeepEP",
     CommOp::kAllToAll},
    {"void primus_turbo::deep_ep::intranode::dispatch<8, 1024, true>(HIP_vector_type<int, 4u>*)", "DeepEP",
     CommOp::kAllToAll},
    {"void deep_ep::intranode::notify_dispatch<8>(int const*, int*)", "DeepEP", CommOp::kUnknown},
    {"void deep_ep::intranode::cached_notify_combine<(int)8>(void **, int *)", "DeepEP", CommOp::kUnknown},
    {"void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*, float*)", "DeepEP", CommOp::kAllToAll},
    {"void deep_ep::internode_ll::clean_low_latency_buffer<256>(int*)", "DeepEP", CommOp::kBarrier},
    {"void hybrid_ep::dispatch_kernel<unsigned short>(x)", "DeepEP", CommOp::kAllToAll},
    {"void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16, false>(x)", "Mori", CommOp::kAllToAll},
    {"EpCombineIntraNodeKernel_bf16", "Mori", CommOp::kAllToAll},
    {"void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)", "NVSHMEM", CommOp::kBarrier},
    {"nvshmemi_proxy_rma_entrypoint(rma_params)", "NVSHMEM", CommOp::kUnknown},
    {"c10d::nvshmem_extension::exchangeSplitAndOffset(long*, int, int)", "NVSHMEM", CommOp::kUnknown},
    {"void c10d::nvshmem_extension::allToAllV<true>(x)", "NVSHMEM", CommOp::kAllToAll},
    {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned "
     "long)",
     "symmetric memory", CommOp::kAllReduce},
    {"void <unnamed>::multimem_all_reduce_kernel<c10::BFloat16, (int)16>(x)", "symmetric memory",
     CommOp::kAllReduce},
    {"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<float, 16, 8>(x)", "symmetric memory",
     CommOp::kAllReduce},
    {"void (anonymous namespace)::one_shot_all_reduce_kernel<float, 16, 8>(x)", "symmetric memory",
     CommOp::kAllReduce},
    {"(anonymous namespace)::all_reduce_one_shot_kernel", "symmetric memory", CommOp::kAllReduce},
    {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*, vllm::RankSignals)", "vLLM",
     CommOp::kAllReduce, 4},
    {"void sglang::cross_device_reduce_2stage<__half, (int)8>(sglang::RankData*)", "SGLang",
     CommOp::kAllReduce, 8},
    {"void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8, false>(x)", "aiter", CommOp::kAllReduce, 8},
    {"void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<__half,4>, true>, "
     "__half>",
     "QuickReduce", CommOp::kAllReduce},
    {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<"
     "(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false, false>"
     "(flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<__nv_bfloat16>)",
     "FlashInfer", CommOp::kAllReduce},
    {"void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<(unsigned char)4, __nv_bfloat16>(x)",
     "FlashInfer", CommOp::kAllReduce},
    {"void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8>(x)", "TensorRT-LLM", CommOp::kAllReduce},
    {"void tensorrt_llm::kernels::reduce_fusion::lamport_style_one_shot_all_reduce_norm_kernel<x>(y)",
     "TensorRT-LLM", CommOp::kAllReduce},
    {"void tensorrt_llm::kernels::ar_fusion::moe::moereduce_allreduce_fusion_kernel_oneshot_lamport<x>(y)",
     "TensorRT-LLM", CommOp::kAllReduce},
    {"moeA2ADispatchKernel", "TensorRT-LLM", CommOp::kAllToAll},
    {"userbuffers_fp16_sum_inplace_gpu_rr_rs_oop(x)", "userbuffers", CommOp::kReduceScatter},
    {"userbuffers_fp16_sum_inplace_gpu_rw_ag(x)", "userbuffers", CommOp::kAllGather},
    {"kuserbuffers_pushsend(int*, int*)", "userbuffers", CommOp::kUnknown},
    {"void aiter::allreduce_fusion_kernel_1stage<std::bfloat16_t, std::bfloat16_t, 4, "
     "true>(aiter::RankData*)",
     "aiter", CommOp::kAllReduce},
    {"persistent_all_reduce_two_shot", "Triton", CommOp::kAllReduce},
    {"all_gather_push_kernel", "Triton", CommOp::kAllGather},
    {"hcom_reduceScatter_AicpuKernel_503_490_1", "HCCL", CommOp::kReduceScatter},
    {"HcclAllReduce", "HCCL", CommOp::kAllReduce},
    {"Memcpy PtoP (Device -> Device)", "peer copy", CommOp::kUnknown},
};

TEST(CommKernels, ReadsRealNames) {
  for (const Known& k : kKnown) {
    CommKernel kernel;
    ASSERT_EQ(ReadCommKernel(k.name, &kernel), KernelSays::kCommunicates) << k.name;
    EXPECT_EQ(kernel.library, k.library) << k.name;
    EXPECT_EQ(kernel.op, k.op) << k.name << ": " << Name(kernel.op);
    EXPECT_EQ(kernel.group_size, k.members) << k.name;
  }
}

TEST(CommKernels, ReadsMangledNames) {
  CommKernel kernel;
  ASSERT_EQ(ReadCommKernel("_ZN5aiter33reduce_scatter_cross_device_storeIfLi8EEEvPNS_8RankDataEi", &kernel),
            KernelSays::kCommunicates);
  EXPECT_EQ(kernel.library, "aiter");
  EXPECT_EQ(kernel.group_size, 8);
}

TEST(CommKernels, ReadsNamesWithUnknownTypes) {
  for (const char* name : {"_ZN5aiter26cross_device_reduce_2stageIDF16bLi8EEEvPNS_8RankDataE",
                           "_ZN5aiter26cross_device_reduce_2stageIDF16_Li8EEEvPNS_8RankDataE",
                           "_ZN5aiter26cross_device_reduce_2stageIu6__bf16Li8EEEvPNS_8RankDataE.kd"}) {
    CommKernel kernel;
    ASSERT_EQ(ReadCommKernel(name, &kernel), KernelSays::kCommunicates) << name;
    EXPECT_EQ(kernel.library, "aiter") << name;
    EXPECT_EQ(kernel.op, CommOp::kAllReduce) << name;
    EXPECT_EQ(kernel.group_size, 8) << name;
  }
  CommKernel kernel;  // the path remains of a name that cannot be demangled
  ASSERT_EQ(ReadCommKernel("_ZN5aiter26cross_device_reduce_2stageIDu3bf16Li8EEEv$", &kernel),
            KernelSays::kCommunicates);
  EXPECT_EQ(kernel.op, CommOp::kAllReduce);
  EXPECT_EQ(ReadCommKernel("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16EEEvPT0_", &kernel),
            KernelSays::kNothing);
}

TEST(CommKernels, IgnoresCase) {
  CommKernel kernel;
  ASSERT_EQ(ReadCommKernel("nccldevkernel_reducescatter_sum_bf16_ring_ll(nccldevkernelargsstorage<4096ul>)",
                           &kernel),
            KernelSays::kCommunicates);
  EXPECT_EQ(kernel.op, CommOp::kReduceScatter);
  EXPECT_EQ(kernel.dtype, "bfloat16");
  ASSERT_EQ(ReadCommKernel("NCCLSYMKDEVKERNEL_ALLGATHER_LL(x)", &kernel), KernelSays::kCommunicates);
  EXPECT_EQ(kernel.op, CommOp::kAllGather);
}

TEST(CommKernels, ReadsTheTypeInNamesOfNccl) {
  CommKernel kernel;
  ReadCommKernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", &kernel);
  EXPECT_EQ(kernel.dtype, "bfloat16");
  ReadCommKernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", &kernel);
  EXPECT_EQ(kernel.dtype, "float");
  ReadCommKernel("ncclDevKernel_Generic_4(x)", &kernel);
  EXPECT_EQ(kernel.dtype, "");
}

// Computation whose names have the words of communication.
TEST(CommKernels, IgnoresComputationWithSimilarNames) {
  for (const char* name :
       {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, x> >(y)",
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>(x)",
        "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<my::allreduce(at::"
        "TensorIteratorBase&)::{lambda(float)#1}> >(int, x)",
        "void at::native::vectorized_elementwise_kernel<4, ncclDevKernel_Generic, x>(y)",
        "void cub::DeviceReduceByKeyKernel<cub::DispatchReduceByKey<long*, x> >(y)",
        "triton_red_fused__to_copy_all_reduce_wait_tensor_3",
        "triton_poi_fused_all_gather_into_tensor_0",
        "triton_poi_fused_one_shot_all_reduce_add_1",
        "_combined_routing_compute",
        "void dispatch_kernel_for_gemm<x>(y)",
        "void blockAllReduceSum<float>(x)",
        "void vllm::moe::topkGatingSoftmax<8, 64>(x)",
        "Memcpy DtoD (Device -> Device)",
        "Memcpy HtoD (Pinned -> Device)",
        "volta_sgemm_32x128_nn",
        "",
        "void moe::combine_scores_kernel<float>(x)",
        "dma_request",
        "<",
        "(",
        "_Z"}) {
    CommKernel kernel;
    EXPECT_EQ(ReadCommKernel(name, &kernel), KernelSays::kNothing) << name;
  }
  for (const char* name : {"deep_ep::layout::get_dispatch_layout(int const*)",
                           "void deep_ep::intranode::get_dispatch_layout<256, 32, 8>(long const*)"}) {
    CommKernel kernel;
    EXPECT_EQ(ReadCommKernel(name, &kernel), KernelSays::kComputes) << name;
  }
}

TEST(CommKernels, PrefersTheAnswerOfTheTable) {
  CommKernel kernel;
  EXPECT_EQ(ReadCommKernel("void c10d::checkForNaN<float>(float*, unsigned long)", &kernel),
            KernelSays::kComputes);
  EXPECT_EQ(ReadCommKernel("void aiter::local_device_load_rmsnorm<float, 512>(x)", &kernel),
            KernelSays::kComputes);
}

TEST(CommKernels, SplitsNamesIntoParts) {
  const KernelName k = SplitKernelName("void a::b<4, c<5, 6> >::f<(d)1, e<7>, 8>(g<9>, int)");
  EXPECT_EQ(k.path, "a::b::f");
  EXPECT_THAT(k.arguments, ElementsAre("(d)1", "e<7>", "8"));
  EXPECT_EQ(SplitKernelName("std::enable_if<(1 > 0), void>::type ns::g<3>(int)").path, "ns::g");
  EXPECT_EQ(SplitKernelName("void (anonymous namespace)::h(int)").path, "(anonymous)::h");
  EXPECT_THAT(SplitKernelName("f(int)").arguments, IsEmpty());
  EXPECT_EQ(SplitKernelName("f<1").path, "f");
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
