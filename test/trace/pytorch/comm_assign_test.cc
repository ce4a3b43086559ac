#include "trace/import/timeline/comm_assign.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

std::string Rf(int64_t id) { return absl::StrCat(",\"Record function id\":", id); }

TEST(AssignComms, PrefersTheKernelsArguments) {
  const Linked l =
      Link(KinetoBuilder()
               .Op(1, "record_param_comms", 0, 9000, CommArgs("allreduce", 77, 77, "op", "[0, 1]", 2, "Half"))
               .Launch(1, 1000, 100, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 5000, 1000,
                       CommArgs("allreduce", 1000, 1000, "kernel", "[0, 1, 2]", 3)));
  const CommCall& c = l.Comm("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
  EXPECT_EQ(c.op, CommOp::kAllReduce);
  EXPECT_EQ(c.in_bytes, 4000);
  EXPECT_EQ(c.group, "kernel");
  EXPECT_THAT(c.ranks, ElementsAre(0, 1, 2));
  EXPECT_EQ(l.t.tally.calls, 1u);
  EXPECT_EQ(l.t.tally.left_out, 0u);
}

TEST(AssignComms, ThenUsesTheOperators) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "record_param_comms", 0, 9000,
                                CommArgs("_allgather_base", 100, 200, "g", "[0, 1]", 2, "Half"))
                            .Annotation(1, "nccl:_all_gather_base", 500, 8000)
                            .Launch(1, 1000, 100, 20, "ncclDevKernel_Generic_1(x)", 5000, 1000));
  const CommCall& c = l.Comm("ncclDevKernel_Generic_1(x)");
  EXPECT_EQ(c.op, CommOp::kAllGather);
  EXPECT_EQ(c.in_bytes, 200);
  EXPECT_EQ(c.out_bytes, 400);
  EXPECT_EQ(c.dtype, "Half");
}

TEST(AssignComms, ThenUsesTheHostTrace) {
  const Linked l = Link(
      KinetoBuilder()
          .Op(1, "c10d::broadcast_", 0, 9000, Rf(5))
          .Op(1, "record_param_comms", 100, 8000, Rf(6))
          .Launch(1, 1000, 100, 20, "ncclKernel_Broadcast_RING_LL_Sum_int8_t(x)", 5000, 1000),
      HostBuilder().Node(10, "c10d::broadcast_", 2, 5).Comm(11, 10, 6, "broadcast", 1000, "3", 1, 4, 2, 3));
  const CommCall& c = l.Comm("ncclKernel_Broadcast_RING_LL_Sum_int8_t(x)");
  EXPECT_EQ(c.op, CommOp::kBroadcast);
  EXPECT_EQ(c.in_bytes, 4000) << "1,000 floats, whatever NCCL moves them as";
  EXPECT_EQ(c.group, "3");
  EXPECT_EQ(c.root, 1);
  EXPECT_EQ(c.start, 4);
  EXPECT_EQ(c.stride, 2);
}

TEST(AssignComms, ThenUsesNames) {
  const Linked kernel =
      Link(KinetoBuilder()
               .Op(1, "a", 0, 10)
               .Launch(1, 1000, 100, 20, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", 5000, 1000));
  EXPECT_EQ(kernel.Comm("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)").op, CommOp::kReduceScatter);
  EXPECT_EQ(kernel.Comm("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)").in_bytes, kNone);
  const Linked annotation =
      Link(KinetoBuilder()
               .Annotation(1, "nccl:all_to_all", 0, 9000)
               .Launch(1, 1000, 100, 20, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 5000, 1000));
  EXPECT_EQ(annotation.Comm("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)").op, CommOp::kAllToAll);
}

TEST(AssignComms, CountsUnnamedKernelsAndKeepsTheirTime) {
  const Linked l = Link(
      KinetoBuilder().Op(1, "a", 0, 10).Launch(1, 1000, 100, 20, "ncclDevKernel_SendRecv(x)", 5000, 1000));
  EXPECT_EQ(l.Comm("ncclDevKernel_SendRecv(x)").op, CommOp::kUnknown);
  EXPECT_EQ(l.Comm("ncclDevKernel_SendRecv(x)").library, "NCCL");
  EXPECT_TRUE(l.Comm("ncclDevKernel_SendRecv(x)").kept);
  EXPECT_EQ(l.Repairs("comm_kernel_unknown"), 1u);
}

TEST(AssignComms, FirstOfSeveralKernelsCarriesTheCall) {
  const Linked l =
      Link(KinetoBuilder()
               .Op(1, "record_param_comms", 0, 9000, CommArgs("allreduce", 100, 100, "g", "[0, 1]", 2))
               .Launch(1, 1000, 100, 20, "ncclDevKernel_AllReduce_1(x)", 5000, 1000)
               .Launch(1, 2000, 100, 20, "ncclDevKernel_AllReduce_2(x)", 7000, 1000));
  EXPECT_EQ(l.Comm("ncclDevKernel_AllReduce_1(x)").in_bytes, 400);
  EXPECT_FALSE(l.Comm("ncclDevKernel_AllReduce_1(x)").kept);
  EXPECT_TRUE(l.Comm("ncclDevKernel_AllReduce_2(x)").kept) << "communication, but no second call";
  EXPECT_EQ(l.Repairs("comm_extra_kernels"), 1u);
  EXPECT_EQ(l.t.tally.calls, 1u);
}

TEST(AssignComms, SplitsOneKernelOfSeveralCalls) {
  // A group of calls, launched when it ends (ncclGroupEnd).
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "record_param_comms", 0, 1000,
                                CommArgs("send", 10, 10, "g", "[0, 1]", 2, "Float", ",\"Dst Rank\":1"))
                            .Op(1, "record_param_comms", 2000, 1000,
                                CommArgs("recv", 20, 20, "g", "[0, 1]", 2, "Float", ",\"Src Rank\":1"))
                            .Annotation(1, "nccl:coalesced", 4000, 3000)
                            .Launch(1, 5000, 1000, 20, "ncclDevKernel_SendRecv(x)", 9000, 4000)
                            .Launch(1, 8000, 1000, 20, "after", 14000, 1000));
  EXPECT_EQ(l.t.comms.size(), 2u);
  std::vector<uint32_t> parts;
  for (uint32_t i = 0; i < l.t.nodes.size(); ++i) {
    if (l.NameOf(i) == "ncclDevKernel_SendRecv(x)") parts.push_back(i);
  }
  ASSERT_EQ(parts.size(), 3u);
  for (const size_t p : {0u, 1u}) {
    const TimelineNode& n = l.t.nodes[parts[p]];
    EXPECT_EQ(n.start, 9000);
    EXPECT_EQ(n.dur, 4000);
    EXPECT_LT(n.lane, 0) << "two at once are no lane";
  }
  EXPECT_EQ(l.t.comms[l.t.nodes[parts[0]].comm].op, CommOp::kSend);
  EXPECT_EQ(l.t.comms[l.t.nodes[parts[1]].comm].op, CommOp::kRecv);
  EXPECT_EQ(l.t.comms[l.t.nodes[parts[1]].comm].root, 1);
  const TimelineNode& end = l.t.nodes[parts[2]];
  EXPECT_EQ(end.start, 13000);
  EXPECT_EQ(end.dur, 0);
  EXPECT_EQ(end.comm, kNoRow);
  ExpectReplaysItself(l);
  // The next operation of the stream waits for both.
  EXPECT_EQ(Play(l.t, parts[1], 3000).begin[l.Find("after")], 17000);
}

// "nccl:_all_gather_base" around or beside the record_param_comms that records the same call.
TEST(AssignComms, JoinsPartsOfACoalescedCall) {
  for (const bool around : {true, false}) {
    KinetoBuilder k;
    for (const int part : {0, 1}) {
      const int64_t at = 4000 * part;
      k.Annotation(1, "nccl:_all_gather_base", at, around ? 3000 : 500)
          .Op(1, "record_param_comms", at + 1000, 1000,
              CommArgs("_allgather_base", 100 + 200 * part, 200 + 400 * part, "g", "[0, 1]", 2));
    }
    const Linked l = Link(k.Annotation(1, "nccl:coalesced", 9000, 3000)
                              .Launch(1, 10000, 1000, 20, "ncclDevKernel_AllGather_RING_LL(x)", 14000, 4000));
    const CommCall& call = l.Comm("ncclDevKernel_AllGather_RING_LL(x)");
    EXPECT_EQ(call.op, CommOp::kAllGather);
    EXPECT_EQ(call.in_bytes, 4 * 400);
    EXPECT_EQ(call.out_bytes, 4 * 800);
    EXPECT_EQ(call.group, "g");
    EXPECT_EQ(l.t.tally.calls, 2u);
    EXPECT_EQ(l.Repairs("calls_without_kernel"), 0u);
    ExpectReplaysItself(l);
  }
}

TEST(AssignComms, ReadsBatchesOnlyByTheirArguments) {
  const Linked l = Link(KinetoBuilder()
                            .Annotation(1, "nccl:send 0->1", 0, 1500)
                            .Op(1, "record_param_comms", 100, 1000,
                                CommArgs("send", 10, 10, "g", "[0, 1]", 2, "Float", ",\"Dst Rank\":1"))
                            .Annotation(1, "nccl:recv 0<-1", 2000, 1500)
                            .Op(1, "record_param_comms", 2100, 1000,
                                CommArgs("recv", 20, 20, "g", "[0, 1]", 2, "Float", ",\"Src Rank\":1"))
                            .Annotation(1, "nccl:coalesced", 4000, 3000)
                            .Launch(1, 5000, 1000, 20, "ncclDevKernel_SendRecv(x)", 9000, 4000));
  EXPECT_EQ(l.t.comms.size(), 2u);
  EXPECT_EQ(l.t.tally.calls, 2u);
}

TEST(AssignComms, UnevenGatherIsSeveralBroadcasts) {
  const Linked l =
      Link(KinetoBuilder()
               .Op(1, "record_param_comms", 0, 1000,
                   CommArgs("_broadcast_oop", 100, 100, "g", "[0, 1]", 2, "Float", ",\"Rank\":0"))
               .Op(1, "record_param_comms", 2000, 1000,
                   CommArgs("_broadcast_oop", 300, 300, "g", "[0, 1]", 2, "Float", ",\"Rank\":1"))
               .Annotation(1, "nccl:ALLGATHER_coalesced", 4000, 3000)
               .Launch(1, 5000, 1000, 20, "ncclDevKernel_Broadcast_RING_LL(x)", 9000, 4000));
  const CommCall& call = l.Comm("ncclDevKernel_Broadcast_RING_LL(x)");
  EXPECT_EQ(call.op, CommOp::kAllGather);
  EXPECT_EQ(call.out_bytes, 4 * 400);
  EXPECT_EQ(call.group, "g");
}

TEST(AssignComms, WaitsAndSetUpAreNoCalls) {
  const Linked l =
      Link(KinetoBuilder()
               .Op(1, "record_param_comms", 0, 1000, CommArgs("init", 0, 0, "g", "[0, 1]", 2))
               .Op(1, "record_param_comms", 2000, 1000, CommArgs("wait", 0, 0, "g", "[0, 1]", 2)));
  EXPECT_EQ(l.t.tally.calls, 0u);
  EXPECT_TRUE(l.t.comms.distinct().empty());
  EXPECT_EQ(l.Repairs("calls_without_kernel"), 0u);
}

TEST(AssignComms, CountsCallsWithoutKernels) {
  const Linked l =
      Link(KinetoBuilder()
               .Op(1, "record_param_comms", 0, 1000, CommArgs("allreduce", 100, 100, "g", "[0]", 1))
               .Op(1, "record_param_comms", 2000, 1000, CommArgs("broadcast", 50, 50, "g", "[0]", 1)));
  EXPECT_EQ(l.t.tally.calls, 2u);
  EXPECT_EQ(l.t.tally.bytes, 600u);
  EXPECT_EQ(l.t.tally.left_out, 2u);
  EXPECT_EQ(l.t.tally.left_out_bytes, 600u);
  EXPECT_EQ(l.Repairs("calls_without_kernel"), 2u);
}

TEST(AssignComms, HostCollectiveIsItsOwnEvent) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "c10d::allreduce_", 0, 9000)
                            .Event("user_annotation", "gloo:all_reduce", 1, "3", 2000, 5000,
                                   ",\"Input Dims\":[[10,10],[4]],\"Input type\":[\"float\",\"long int\"]"));
  const CommCall& c = l.Comm("gloo:all_reduce");
  EXPECT_EQ(c.op, CommOp::kAllReduce);
  EXPECT_EQ(c.in_bytes, 10 * 10 * 4 + 4 * 8);
  EXPECT_EQ(l.t.tally.bytes, 432u);
  EXPECT_EQ(l.t.tally.left_out, 0u);
}

constexpr char kSendRecv[] = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)";

std::string Shapes(const std::string& dims, const std::string& types) {
  return absl::StrCat(",\"Input Dims\":", dims, ",\"Input type\":", types);
}

TEST(AssignComms, ShapesOfAnnotationsGiveTheSize) {
  const Linked l = Link(KinetoBuilder()
                            .Event("user_annotation", "nccl:all_to_all", 1, "1", 0, 9000,
                                   Shapes("[[8, 1024, 16], [4]]", "[\"float\", \"long int\"]"))
                            .Launch(1, 1000, 100, 20, kSendRecv, 5000, 1000));
  EXPECT_EQ(l.Comm(kSendRecv).op, CommOp::kAllToAll);
  EXPECT_EQ(l.Comm(kSendRecv).in_bytes, 8 * 1024 * 16 * 4 + 4 * 8);
  EXPECT_EQ(l.Comm(kSendRecv).dtype, "float");
  EXPECT_EQ(l.t.tally.calls, 1u);
  EXPECT_EQ(l.t.tally.bytes, 524320u);
}

TEST(AssignComms, AnnotationsNameThePeer) {
  const Linked l = Link(KinetoBuilder()
                            .Event("user_annotation", "nccl:recv 1<-0", 1, "1", 0, 9000,
                                   Shapes("[[10]]", "[\"c10::BFloat16\"]"))
                            .Launch(1, 1000, 100, 20, kSendRecv, 5000, 1000));
  EXPECT_EQ(l.Comm(kSendRecv).op, CommOp::kRecv);
  EXPECT_EQ(l.Comm(kSendRecv).root, 0);
  EXPECT_FALSE(l.Comm(kSendRecv).root_is_global);
  EXPECT_EQ(l.Comm(kSendRecv).in_bytes, 20);
}

TEST(AssignComms, IgnoresAnnotationsOfRecordedCalls) {
  const Linked l =
      Link(KinetoBuilder()
               .Op(1, "record_param_comms", 0, 9000, CommArgs("allreduce", 100, 100, "g", "[0, 1]", 2))
               .Event("user_annotation", "nccl:all_reduce", 1, "1", 500, 8000, Shapes("[[7]]", "[\"float\"]"))
               .Launch(1, 1000, 100, 20, "ncclDevKernel_Generic(x)", 5000, 1000));
  EXPECT_EQ(l.Comm("ncclDevKernel_Generic(x)").in_bytes, 400);
  EXPECT_EQ(l.Comm("ncclDevKernel_Generic(x)").group, "g");
  EXPECT_EQ(l.t.tally.calls, 1u);
}

TEST(AssignComms, SplitsBatchesOfAnnotatedCalls) {
  const Linked l = Link(
      KinetoBuilder()
          .Event("user_annotation", "nccl:send 0->1", 1, "1", 0, 1000, Shapes("[[10]]", "[\"float\"]"))
          .Event("user_annotation", "nccl:recv 0<-1", 1, "1", 2000, 1000, Shapes("[[20]]", "[\"float\"]"))
          .Annotation(1, "nccl:coalesced", 4000, 3000)
          .Launch(1, 5000, 1000, 20, kSendRecv, 9000, 4000));
  ASSERT_EQ(l.t.comms.size(), 2u);
  EXPECT_EQ(l.t.comms[0].op, CommOp::kSend);
  EXPECT_EQ(l.t.comms[0].in_bytes, 40);
  EXPECT_EQ(l.t.comms[1].op, CommOp::kRecv);
  EXPECT_EQ(l.t.comms[1].root, 1);
  ExpectReplaysItself(l);
}

constexpr char kMultimem[] = "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(x)";

TEST(AssignComms, OperatorsOfOtherLibrariesGiveSizeAndKind) {
  const Linked l =
      Link(KinetoBuilder()
               .Op(1, "vllm::all_reduce", 0, 9000, Shapes("[[888,2880],[]]", "[\"c10::BFloat16\",\"\"]"))
               .Op(1, "symm_mem::multimem_all_reduce_", 500, 8000,
                   Shapes("[[2557440],[],[]]", "[\"c10::BFloat16\",\"\",\"\"]"))
               .Launch(1, 1000, 100, 20, kMultimem, 5000, 1000));
  EXPECT_EQ(l.Comm(kMultimem).op, CommOp::kAllReduce);
  EXPECT_EQ(l.Comm(kMultimem).in_bytes, 2557440 * 2);
  EXPECT_EQ(l.Comm(kMultimem).library, "symmetric memory");
  EXPECT_TRUE(l.Comm(kMultimem).own_group);
  EXPECT_FALSE(l.Comm(kMultimem).kept);
  EXPECT_EQ(l.t.tally.calls, 1u);
}

TEST(AssignComms, KernelsOfCommOperatorsAreCommunication) {
  const auto comm = [](const std::string& op, const std::string& inner, const std::string& kernel) {
    KinetoBuilder k;
    k.Op(1, op, 0, 9000);
    if (!inner.empty()) k.Op(1, inner, 500, 8000);
    const Linked l = Link(k.Launch(1, 1000, 100, 20, kernel, 5000, 1000));
    return l.t.nodes[l.Find(kernel)].comm != kNoRow;
  };
  EXPECT_TRUE(comm("_C_custom_ar::all_reduce", "", "a_new_kernel"));
  EXPECT_TRUE(comm("c10d::allreduce_", "", "a_new_kernel"));
  EXPECT_TRUE(comm("symm_mem::two_shot_all_reduce_", "", "a_new_kernel"));
  EXPECT_TRUE(comm("c10d::allreduce_", "record_param_comms", "a_new_kernel"));
  EXPECT_FALSE(comm("c10d::allgather_", "aten::copy_", "a_new_kernel")) << "a copy before the call";
  EXPECT_FALSE(comm("aiter::fused_allreduce_rmsnorm", "", "a_new_kernel")) << "it may be the norm";
  EXPECT_TRUE(comm("aiter::fused_allreduce_rmsnorm", "", "aiter::cross_device_reduce_1stage<x, 8>(y)"));
  EXPECT_FALSE(comm("_C_custom_ar::all_reduce", "", "aiter::local_device_load_rmsnorm<x>(y)"));
  EXPECT_FALSE(comm("aten::all_reduce_look_alike", "", "a_new_kernel"));
  EXPECT_FALSE(comm("_c10d_functional::wait_tensor", "", "a_new_kernel"));
}

TEST(AssignComms, KernelThatNamesACollectiveCarriesTheCall) {
  const Linked l =
      Link(KinetoBuilder()
               .Event("user_annotation", "nccl:all_reduce", 1, "1", 0, 9000, Shapes("[[7]]", "[\"float\"]"))
               .Launch(1, 1000, 100, 20, "a_new_check(x)", 3000, 1000)
               .Launch(1, 2000, 100, 20, "ncclDevKernel_Generic(x)", 5000, 1000));
  EXPECT_FALSE(l.Comm("ncclDevKernel_Generic(x)").kept);
  EXPECT_EQ(l.Comm("ncclDevKernel_Generic(x)").in_bytes, 28);
  EXPECT_TRUE(l.Comm("a_new_check(x)").kept);
}

TEST(AssignComms, KernelMayBeAPartOfItsOperator) {
  // Uneven parts are gathered by broadcasts, each of which is a call.
  const Linked l =
      Link(KinetoBuilder()
               .Op(1, "c10d::allgather_", 0, 9000, Shapes("[[100], [50]]", "[\"float\", \"float\"]"))
               .Launch(1, 1000, 100, 20, "ncclDevKernel_Broadcast_1(x)", 5000, 1000)
               .Launch(1, 2000, 100, 20, "ncclDevKernel_Broadcast_2(x)", 7000, 1000));
  for (const char* name : {"ncclDevKernel_Broadcast_1(x)", "ncclDevKernel_Broadcast_2(x)"}) {
    EXPECT_EQ(l.Comm(name).op, CommOp::kBroadcast);
    EXPECT_EQ(l.Comm(name).in_bytes, kNone) << "of which part, nothing tells";
    EXPECT_FALSE(l.Comm(name).kept);
  }
}

TEST(AssignComms, CopyBetweenDevicesIsCommunication) {
  const Linked l = Link(
      KinetoBuilder()
          .Op(1, "aten::copy_", 0, 9000)
          .Call(1, "cudaMemcpyPeerAsync", 1000, 100, 7)
          .OnDevice("gpu_memcpy", 7, "Memcpy PtoP (Device -> Device)", 5000, 1000, 7, ",\"bytes\":4096"));
  EXPECT_TRUE(l.Comm("Memcpy PtoP (Device -> Device)").kept);
  EXPECT_EQ(l.Comm("Memcpy PtoP (Device -> Device)").library, "peer copy");
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
