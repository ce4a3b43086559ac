#include <gtest/gtest.h>

#include "trace/import/capture/capture.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

TEST(ParseCommOp, ReadsEveryNameOfPyTorch) {
  const struct {
    const char* name;
    CommOp op;
  } kCases[] = {
      {"allreduce", CommOp::kAllReduce},
      {"ALL_REDUCE", CommOp::kAllReduce},
      {"allreduce_coalesced", CommOp::kAllReduce},
      {"allreduce_sparse", CommOp::kAllReduce},
      {"nccl:all_reduce", CommOp::kAllReduce},
      {"gloo:all_reduce", CommOp::kAllReduce},
      {"c10d::allreduce_", CommOp::kAllReduce},
      {"_c10d_functional::all_reduce_", CommOp::kAllReduce},
      {"reduce", CommOp::kReduce},
      {"_reduce_oop", CommOp::kReduce},
      {"c10d::reduce_", CommOp::kReduce},
      {"all_gather", CommOp::kAllGather},
      {"_allgather_base", CommOp::kAllGather},
      {"nccl:_all_gather_base", CommOp::kAllGather},
      {"allgather_into_tensor_coalesced", CommOp::kAllGather},
      {"reduce_scatter", CommOp::kReduceScatter},
      {"_reduce_scatter_base", CommOp::kReduceScatter},
      {"reduce_scatter_tensor_coalesced", CommOp::kReduceScatter},
      {"all_to_all", CommOp::kAllToAll},
      {"all_to_allv", CommOp::kAllToAll},
      {"c10d::alltoall_base_", CommOp::kAllToAll},
      {"broadcast", CommOp::kBroadcast},
      {"_broadcast_oop", CommOp::kBroadcast},
      {"gather", CommOp::kGather},
      {"scatter", CommOp::kScatter},
      {"barrier", CommOp::kBarrier},
      {"c10d::monitored_barrier_", CommOp::kBarrier},
      {"send", CommOp::kSend},
      {"nccl:send 0->1", CommOp::kSend},
      {"recv", CommOp::kRecv},
      {"nccl:recv 1<-0", CommOp::kRecv},
      {"recvAnySource", CommOp::kRecv},
      {"c10d::recv_any_source_", CommOp::kRecv},
      {"wait", CommOp::kWait},
      {"_c10d_functional::wait_tensor", CommOp::kWait},
      {"init", CommOp::kInit},
      {"coalesced", CommOp::kCoalesced},
      {"nccl:coalesced", CommOp::kCoalesced},
      {"", CommOp::kUnknown},
      {"nccl:", CommOp::kUnknown},
      {"aten::mm", CommOp::kUnknown},
      {"reduced_precision", CommOp::kUnknown},
      {"initialize", CommOp::kUnknown},
      {"sender", CommOp::kUnknown},
  };
  for (const auto& c : kCases)
    EXPECT_EQ(ParseCommOp(c.name), c.op) << c.name << ": " << Name(ParseCommOp(c.name));
}

TEST(CommOpName, ReadsBackAsItself) {
  for (int i = 0; i < static_cast<int>(CommOp::kUnknown); ++i) {
    const CommOp op = static_cast<CommOp>(i);
    EXPECT_EQ(ParseCommOp(Name(op)), op) << Name(op);
  }
  EXPECT_EQ(Name(CommOp::kUnknown), "unknown");
}

TEST(ItemSize, KnowsEachName) {
  const struct {
    const char* name;
    int bytes;
  } kCases[] = {
      {"Float", 4},
      {"float", 4},
      {"Double", 8},
      {"Half", 2},
      {"c10::Half", 2},
      {"BFloat16", 2},
      {"c10::BFloat16", 2},
      {"Byte", 1},
      {"Char", 1},
      {"Short", 2},
      {"Int", 4},
      {"int", 4},
      {"Long", 8},
      {"long int", 8},
      {"long", 8},
      {"unsigned char", 1},
      {"signed char", 1},
      {"Bool", 1},
      {"ComplexFloat", 8},
      {"c10::complex<double>", 16},
      {"c10::complex<c10::Half>", 4},
      {"Float8_e4m3fn", 1},
      {"c10::Float8_e5m2", 1},
      {"torch.int64", 8},
      {"UInt16", 2},
      {"", 0},
      {"Undefined", 0},
      {"floats", 0},
      {"flo", 0},
  };
  for (const auto& c : kCases) EXPECT_EQ(ItemSize(c.name), c.bytes) << c.name;
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
