#include "trace/import/host/record_param_comms.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Call {
  CommCall call;
  CommOddities odd;
};

Call Read(const std::string& values, const std::string& types, const std::string& attrs = "[]") {
  simdjson::dom::parser v, t, a;
  Call out;
  out.call = ReadCommCall(v.parse(values).get_array().value(), t.parse(types).get_array().value(),
                          a.parse(attrs).get_array().value(), &out.odd);
  return out;
}

TEST(ReadCommCall, ReadsLayout101) {
  const CommCall c =
      Read(R"j([[718, 715, 0, 3392, 4, "cuda:0"], 150, 94594108284448, 3, "all_to_allv",
               [96, 224, 288, 1664, 592, 96, 192, 240], [96, 96, 96, 96, 96, 96, 96, 96]])j",
           R"j(["Tensor(int)","Int","Int","Int","String","GenericList[Int,Int]","GenericList[Int,Int]"])j")
          .call;
  EXPECT_EQ(c.op, CommOp::kAllToAll);
  EXPECT_EQ(c.name, "all_to_allv");
  EXPECT_EQ(c.group, "94594108284448");
  EXPECT_EQ(c.seq, 150);
  EXPECT_EQ(c.rank, 3);
  EXPECT_EQ(c.root, kNone);
  EXPECT_EQ(c.group_size, kNone);
  EXPECT_EQ(c.dtype, "int");
  EXPECT_EQ(c.in_bytes, 13568);
  EXPECT_EQ(c.out_elems, 768);
  EXPECT_EQ(c.out_bytes, 3072);
  EXPECT_THAT(c.in_split, ElementsAre(96, 224, 288, 1664, 592, 96, 192, 240));
  EXPECT_THAT(c.out_split, ElementsAre(96, 96, 96, 96, 96, 96, 96, 96));
}

TEST(ReadCommCall, EarlyLayout102HasTheWorldSize) {
  const CommCall c =
      Read(
          R"j([[[1, 2, 0, 10, 2, "cuda:0"]], 5, 1234, 1, "_allgather_base", [], [], 8])j",
          R"j(["GenericList[Tensor(c10::Half)]","Int","Int","Int","String","GenericList[]","GenericList[]","Int"])j")
          .call;
  EXPECT_EQ(c.op, CommOp::kAllGather);
  EXPECT_EQ(c.group, "1234");
  EXPECT_EQ(c.group_size, 8);
  EXPECT_EQ(c.start, kNone);
  EXPECT_EQ(c.in_bytes, 20);
  EXPECT_EQ(c.out_bytes, 160);
}

TEST(ReadCommCall, Layout103HasGroupNameStartAndStride) {
  const CommCall c =
      Read(
          R"j([[[433, 434, 0, 53120, 4, "cuda:0"]], 33, ["2", "tensor_parallel"], 1, "broadcast", [], [], 4, 2, 3])j",
          R"j(["GenericList[Tensor(float)]","Int","Tuple[String,String]","Int","String","GenericList[]","GenericList[]","Int","Int","Int"])j")
          .call;
  EXPECT_EQ(c.op, CommOp::kBroadcast);
  EXPECT_EQ(c.group, "2");
  EXPECT_EQ(c.group_desc, "tensor_parallel");
  EXPECT_EQ(c.root, 1) << "of a broadcast the rank is the root";
  EXPECT_FALSE(c.root_is_global);
  EXPECT_EQ(c.rank, kNone);
  EXPECT_EQ(c.start, 4);
  EXPECT_EQ(c.stride, 2);
  EXPECT_EQ(c.group_size, 3);
  EXPECT_EQ(c.in_bytes, 212480);
  EXPECT_EQ(c.out_bytes, 212480);
}

TEST(ReadCommCall, NewerLayoutHasSeqAndPointToPoint) {
  const CommCall c =
      Read(
          R"j([[[1, 2, 0, 10, 4, "cuda:0"]], [12, true], ["3", ""], 1, "send", [], [], 0, 1, 2])j",
          R"j(["GenericList[Tensor(float)]","Tuple[Int,Bool]","Tuple[String,String]","Int","String","GenericList[]","GenericList[]","Int","Int","Int"])j")
          .call;
  EXPECT_EQ(c.op, CommOp::kSend);
  EXPECT_EQ(c.seq, 12);
  EXPECT_TRUE(c.p2p);
  EXPECT_EQ(c.root, 1) << "of a send the rank is the peer";
  EXPECT_EQ(c.group, "3");
  // The same flag on a collective, as a number, and false.
  EXPECT_FALSE(Read(R"j([[7, 0], ["3", ""], 1, "barrier", [], [], 0, 1, 2])j", "[]").call.p2p);
  EXPECT_EQ(Read(R"j([[7, 0], ["3", ""], 1, "barrier", [], [], 0, 1, 2])j", "[]").call.seq, 7);
  EXPECT_TRUE(Read(R"j([[7, 1], ["3", ""], 1, "allreduce", [], [], 0, 1, 2])j", "[]").call.p2p);
}

TEST(ReadCommCall, ReadsCallsWithoutTensors) {
  const CommCall old_wait = Read(R"j([141, 0, 2, "wait", [], []])j",
                                 R"j(["Int","Int","Int","String","GenericList[]","GenericList[]"])j")
                                .call;
  EXPECT_EQ(old_wait.op, CommOp::kWait);
  EXPECT_EQ(old_wait.group, "") << "0 is no pointer";
  EXPECT_EQ(old_wait.seq, 141);
  EXPECT_EQ(old_wait.rank, 2);
  EXPECT_EQ(old_wait.in_bytes, kNone);
  const CommCall wait =
      Read(
          R"j([33, ["", ""], 1, "wait", [], [], -1, -1, 1])j",
          R"j(["Int","Tuple[String,String]","Int","String","GenericList[]","GenericList[]","Int","Int","Int"])j")
          .call;
  EXPECT_EQ(wait.group, "");
  EXPECT_EQ(wait.seq, 33);
  EXPECT_EQ(wait.start, -1);
  EXPECT_EQ(wait.group_size, 1);
  const CommCall barrier = Read(R"j([4, ["0", "default_pg"], 1, "barrier", [], [], 0, 1, 2])j", "[]").call;
  EXPECT_EQ(barrier.op, CommOp::kBarrier);
  EXPECT_EQ(barrier.group, "0");
  const CommCall init = Read(R"j([0, ["0", "default_pg"], 1, "init", [], [], 0, 1, 2])j", "[]").call;
  EXPECT_EQ(init.op, CommOp::kInit);
  const CommCall empty = Read(R"j([[], 4, ["0", "d"], 1, "allreduce", [], [], 0, 1, 2])j",
                              R"j(["GenericList[]","Int","Tuple[String,String]","Int","String"])j")
                             .call;
  EXPECT_EQ(empty.seq, 4);
  EXPECT_EQ(empty.group_size, 2);
}

TEST(ReadCommCall, AddsUpNestedListsOfTensors) {
  const CommCall list =
      Read(
          R"j([[[1,2,0,10,4,"cuda:0"],[3,4,0,6,4,"cuda:0"]], 5, ["0",""], 0, "allreduce_coalesced", [], [], 0, 1, 2])j",
          R"j(["GenericList[Tensor(float),Tensor(float)]"])j")
          .call;
  EXPECT_EQ(list.in_elems, 16);
  EXPECT_EQ(list.in_bytes, 64);
  const CommCall nested =
      Read(
          R"j([[[[1,2,0,10,4,"cuda:0"],[3,4,0,10,4,"cuda:0"]]], 5, ["0",""], 0, "reduce_scatter", [], [], 0, 1, 2])j",
          R"j(["GenericList[GenericList[Tensor(float),Tensor(float)]]"])j")
          .call;
  EXPECT_EQ(nested.in_bytes, 80);
  EXPECT_EQ(nested.out_bytes, 40) << "reduce_scatter leaves one share of two";
  // Types that are missing: a tensor is one by its shape.
  EXPECT_EQ(Read(R"j([[[1,2,0,10,4,"cuda:0"]], 5, ["0",""], 0, "allreduce", [], []])j", "[]").call.in_bytes,
            40);
}

TEST(ReadCommCall, AttributesTakePrecedence) {
  const CommCall c = Read(R"j([[[1,2,0,10,4,"cuda:0"]], 5, ["0","d"], 1, "allreduce", [], [], 0, 1, 2])j",
                          R"j(["GenericList[Tensor(float)]","Int","Tuple[String,String]","Int","String"])j",
                          R"j([{"name":"collective_name","type":"string","value":"_allgather_base"},
               {"name":"dtype","type":"string","value":"BFloat16"},
               {"name":"in_msg_nelems","type":"uint64","value":100},
               {"name":"out_msg_nelems","type":"uint64","value":"400"},
               {"name":"in_split_size","type":"string","value":"[]"},
               {"name":"pg_name","type":"string","value":"9"},
               {"name":"pg_desc","type":"string","value":"dp"},
               {"name":"pg_size","type":"uint64","value":4},
               {"name":"global_rank_start","type":"uint64","value":3},
               {"name":"global_rank_stride","type":"uint64","value":5}])j")
                         .call;
  EXPECT_EQ(c.op, CommOp::kAllGather);
  EXPECT_EQ(c.dtype, "BFloat16");
  EXPECT_EQ(c.in_bytes, 200);
  EXPECT_EQ(c.out_bytes, 800);
  EXPECT_EQ(c.group, "9");
  EXPECT_EQ(c.group_desc, "dp");
  EXPECT_EQ(c.group_size, 4);
  EXPECT_EQ(c.start, 3);
  EXPECT_EQ(c.stride, 5);
}

TEST(ReadCommCall, SplitsOfRowsBecomeElements) {
  const std::string types =
      R"j(["Tensor(float)","Int","Tuple[String,String]","Int","String","GenericList[Int,Int]","GenericList[Int,Int]"])j";
  const Call rows =
      Read(R"j([[1,2,0,80,4,"cuda:0"], 5, ["0","d"], 1, "all_to_allv", [2, 6], [3, 1], 0, 1, 2])j", types);
  EXPECT_THAT(rows.call.in_split, ElementsAre(20, 60));
  EXPECT_THAT(rows.call.out_split, ElementsAre(30, 10));
  EXPECT_EQ(rows.call.out_bytes, 160);
  EXPECT_FALSE(rows.odd.splits_differ);
  // A text that was shortened does not hide the whole list of the inputs.
  const Call cut =
      Read(R"j([[1,2,0,80,4,"cuda:0"], 5, ["0","d"], 1, "all_to_allv", [2, 6], [3, 1], 0, 1, 2])j", types,
           R"j([{"name":"in_split_size","type":"string","value":"[2, ...]"}])j");
  EXPECT_THAT(cut.call.in_split, ElementsAre(20, 60));
  // Rows that do not make up the buffer.
  const Call odd =
      Read(R"j([[1,2,0,81,4,"cuda:0"], 5, ["0","d"], 1, "all_to_allv", [2, 6], [3, 1], 0, 1, 2])j", types);
  EXPECT_TRUE(odd.odd.splits_differ);
  EXPECT_THAT(odd.call.in_split, IsEmpty());
  // A rank that sends nothing.
  const Call none =
      Read(R"j([[1,2,0,0,4,"cuda:0"], 5, ["0","d"], 1, "all_to_allv", [0, 0], [3, 1], 0, 1, 2])j", types);
  EXPECT_FALSE(none.odd.splits_differ);
  EXPECT_EQ(none.call.in_bytes, 0);
  EXPECT_EQ(none.call.out_elems, 4);
}

TEST(ReadCommCall, KeepsDefaultsForOtherValues) {
  for (const char* values :
       {"[]", "[1]", "[null, {}, 1.5]", R"j(["x"])j", R"j([[], [], []])j", R"j([[1, 2], 3, "nothing"])j",
        R"j([[9223372036854775807, 1, 1, 9223372036854775807, 9, "x"], "allreduce", [-1], [1.5]])j"}) {
    const Call c = Read(values, "[]");
    EXPECT_EQ(c.odd.no_name, c.call.op == CommOp::kUnknown) << values;
    EXPECT_EQ(c.call.group_size, kNone) << values;
    EXPECT_EQ(c.call.out_bytes, kNone) << values;
    EXPECT_THAT(c.call.in_split, IsEmpty()) << values;
  }
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
