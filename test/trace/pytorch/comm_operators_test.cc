#include "trace/import/comm/comm_operators.h"

#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

CommCall Read(const std::string& name, const std::string& shapes, const std::string& types) {
  CommOperator op;
  EXPECT_TRUE(ReadCommOperator(name, &op)) << name;
  CommCall call;
  ReadOperatorCall(op, shapes, types, &call);
  return call;
}

CommOp KindOf(const std::string& name) {
  CommOperator op;
  return ReadCommOperator(name, &op) ? op.op : CommOp::kUnknown;
}

TEST(CommOperators, ReadsKinds) {
  EXPECT_EQ(KindOf("nccl:all_reduce"), CommOp::kAllReduce);
  EXPECT_EQ(KindOf("nccl:_all_gather_base"), CommOp::kAllGather);
  EXPECT_EQ(KindOf("nccl:all_reduce_barrier"), CommOp::kBarrier);
  EXPECT_EQ(KindOf("nccl:send 0->1"), CommOp::kSend);
  EXPECT_EQ(KindOf("nccl:coalesced"), CommOp::kCoalesced);
  EXPECT_EQ(KindOf("xccl:reduce_scatter_tensor"), CommOp::kReduceScatter);
  EXPECT_EQ(KindOf("c10d::_reduce_scatter_base_"), CommOp::kReduceScatter);
  EXPECT_EQ(KindOf("c10d::allgather_into_tensor_coalesced_"), CommOp::kAllGather);
  EXPECT_EQ(KindOf("_c10d_functional::all_to_all_single"), CommOp::kAllToAll);
  EXPECT_EQ(KindOf("symm_mem::one_shot_all_reduce_copy"), CommOp::kAllReduce);
  EXPECT_EQ(KindOf("vllm::reduce_scatter"), CommOp::kReduceScatter);
  EXPECT_EQ(KindOf("sglang::flashinfer_allreduce_residual_rmsnorm"), CommOp::kAllReduce);
  EXPECT_EQ(KindOf("sgl_kernel::qr_all_reduce"), CommOp::kAllReduce);
}

TEST(CommOperators, IgnoresOtherOperators) {
  for (const char* name :
       {"aten::broadcast_tensors", "aten::scatter_", "aten::gather", "c10d::unknown_thing",
        "_c10d_functional::wait_tensor", "vllm::rms_norm", "aten::all", "all_reduce",
        "## alltoall_fwd_single ##", "ProfilerStep#1", "symm_mem::memset32_", "sglang::small_reduce"}) {
    CommOperator op;
    EXPECT_FALSE(ReadCommOperator(name, &op)) << name;
  }
}

TEST(CommOperators, AnnotationsSumTheirInputs) {
  const CommCall c = Read("nccl:all_to_all", "[[8, 1024, 8816]]", "[\"float\"]");
  EXPECT_EQ(c.in_bytes, int64_t{8} * 1024 * 8816 * 4);
  EXPECT_EQ(c.in_elems, int64_t{8} * 1024 * 8816);
  EXPECT_EQ(c.dtype, "float");
  EXPECT_EQ(Read("gloo:all_reduce", "[[267786],[]]", "[\"float\",\"Scalar\"]").in_bytes, 267786 * 4);
  EXPECT_EQ(Read("nccl:all_reduce", "[[]]", "[\"long int\"]").in_bytes, 8) << "a tensor without dimensions";
  EXPECT_EQ(Read("nccl:all_reduce", "[[0]]", "[\"float\"]").in_bytes, 0);
}

TEST(CommOperators, ReadsArgumentsByOperator) {
  // Outputs come first.
  const CommCall gather = Read("c10d::_allgather_base_", "[[8, 25136], [1, 25136], [], [], []]",
                               "[\"c10::BFloat16\",\"c10::BFloat16\",\"\",\"Scalar\",\"Scalar\"]");
  EXPECT_EQ(gather.in_bytes, 25136 * 2);
  EXPECT_EQ(gather.out_bytes, 8 * 25136 * 2);
  // The first tensor after a handle.
  EXPECT_EQ(Read("sgl_kernel::all_reduce", "[[], [4, 4096], [4, 4096], [], []]",
                 "[\"Scalar\",\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\",\"Scalar\"]")
                .in_bytes,
            4 * 4096 * 2);
  EXPECT_EQ(
      Read("symm_mem::one_shot_all_reduce_copy", "[[100], [7], [], []]", "[\"float\",\"float\",\"\",\"\"]")
          .in_bytes,
      28);
  // A list of tensors has no type.
  const CommCall list = Read("c10d::allreduce_", "[[[2873320], [5]], [], []]", "[\"TensorList\",\"\",\"\"]");
  EXPECT_EQ(list.in_elems, 2873325);
  EXPECT_EQ(list.in_bytes, kNone);
}

TEST(CommOperators, MissingValuesStayUnknown) {
  EXPECT_EQ(Read("nccl:all_reduce", "", "").in_bytes, kNone);
  EXPECT_EQ(Read("nccl:all_reduce", "[[4], [5]]", "[\"float\", \"TensorList\"]").in_bytes, kNone);
  EXPECT_EQ(Read("nccl:all_reduce", "[[4]]", "[\"a_new_type\"]").in_bytes, kNone);
  EXPECT_EQ(Read("nccl:all_reduce", "[[4, \"s0\"]]", "[\"float\"]").in_bytes, kNone);
  EXPECT_EQ(Read("nccl:all_reduce", "[[-4]]", "[\"float\"]").in_bytes, kNone);
  EXPECT_EQ(Read("nccl:all_reduce", "[[99999999999999, 99999999999]]", "[\"float\"]").in_bytes, kNone);
  EXPECT_EQ(Read("nccl:all_reduce", "[[4]", "[\"float\"]").in_bytes, kNone);
  EXPECT_EQ(Read("nccl:all_reduce", "[[[[[[1]]]]]]", "[\"float\"]").in_bytes, kNone);
}

TEST(CommOperators, ReadsPeers) {
  EXPECT_EQ(Read("nccl:send 0->3", "[[2]]", "[\"float\"]").root, 3);
  EXPECT_EQ(Read("nccl:recv 12<-7", "[[2]]", "[\"float\"]").root, 7);
  EXPECT_EQ(Read("nccl:recv 12<-7", "[[2]]", "[\"float\"]").rank, 12);
  EXPECT_TRUE(Read("nccl:recv 12<-7", "[[2]]", "[\"float\"]").p2p);
  EXPECT_EQ(Read("nccl:send", "[[2]]", "[\"float\"]").root, kNone);
  EXPECT_EQ(Read("nccl:send x->y", "[[2]]", "[\"float\"]").root, kNone);
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
