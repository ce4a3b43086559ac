// Calls of NCCL in exports of Nsight Systems, as programs make them: in groups, for several GPUs, inside
// PyTorch's operators.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/trace/nsys_sql.h"
#include "trace/import/nsys/importer.h"

namespace chakra::nsys::CHAKRA_FILE {
namespace {

using pytorch::Capture;
using pytorch::CommPlan;
using testing::ElementsAre;

std::string LittleEndian(uint64_t v, int size) {
  std::string out;
  for (int i = 0; i < size; ++i)
    absl::StrAppendFormat(&out, "%02x", static_cast<unsigned>(v >> (8 * i) & 0xff));
  return out;
}

// The payload of a call on communicator 0xabc, as NCCL writes it (src/include/nvtx.h), in SQL.
std::string Payload(int schema, uint64_t bytes, uint64_t peer) {
  return absl::StrCat("x'", LittleEndian(0, 8), LittleEndian((1 << 24) + static_cast<uint64_t>(schema), 8),
                      LittleEndian(24, 8), LittleEndian(0, 8), LittleEndian(0xabc, 8), LittleEndian(bytes, 8),
                      LittleEndian(peer, 8), "'");
}

// The rows of one export.
class Rows {
 public:
  static constexpr int64_t kBegin = 5100000000;
  Rows& Range(int64_t pid, int64_t from, int64_t to, const std::string& text,
              const std::string& data = "NULL") {
    absl::StrAppend(&sql_, "INSERT INTO NVTX_EVENTS VALUES (", kBegin + from, ",", kBegin + to, ",59,'", text,
                    "',", Tid(pid), ",NULL,0,", data, ");");
    return *this;
  }
  // A kernel, and the call that launched it 1000 ns before.
  Rows& Kernel(int64_t pid, int64_t gpu, int64_t launch, int64_t from, int64_t to, int name) {
    ++id_;
    absl::StrAppend(&sql_, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (", kBegin + launch, ",",
                    kBegin + launch + 500, ",", Tid(pid), ",", id_, ",1);");
    absl::StrAppend(&sql_, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (", kBegin + from, ",", kBegin + to,
                    ",", gpu, ",", gpu + 1, ",7,", id_, ",", Tid(pid) - Tid(pid) % (1 << 24), ",", name, ",",
                    name, ",1);");
    return *this;
  }
  // Writes the rows to a file.
  std::string Write(const std::string& path) const {
    RunSql(path, kLeast);
    RunSql(path,
           "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; DELETE FROM "
           "NVTX_EVENTS; INSERT INTO StringIds VALUES (10, 'ncclDevKernel_AllReduce_Sum_f32(int)'), (11, "
           "'ncclDevKernel_SendRecv(int)'), (12, 'ncclDevKernel_Broadcast_RING_LL(int)');");
    RunSql(path, sql_);
    return path;
  }

 private:
  static int64_t Tid(int64_t pid) { return (pid << 24) + 7; }
  std::string sql_;
  int64_t id_ = 0;
};

class NsysCalls : public testing::Test {
 protected:
  Capture Read(const Rows& rows) {
    absl::StatusOr<Capture> capture = ReadExports({rows.Write(folder_.At("calls.sqlite"))}, ReadOptions());
    EXPECT_TRUE(capture.ok()) << capture.status();
    return capture.ok() ? *std::move(capture) : Capture();
  }
  static uint64_t Notes(const Capture& capture, const std::string& kind) {
    uint64_t n = 0;
    for (const proto::ConversionNote& note : capture.report.notes())
      n += note.kind() == kind ? note.count() : 0;
    return n;
  }
  // The calls of a rank, in order: "all_reduce 4096 on nccl abc".
  static std::vector<std::string> CallTexts(const Capture& capture, size_t rank) {
    std::vector<std::string> out;
    for (const CommPlan& plan : capture.joined.comms[rank]) {
      if (plan.type == NodeType::kComp) continue;
      const bool collective = plan.type == NodeType::kCollective;
      out.push_back(absl::StrCat(collective ? Name(plan.collective) : Name(plan.type), " ", plan.bytes,
                                 collective ? " on " : "", collective ? plan.group : ""));
    }
    return out;
  }

  // Two ranks, twice: an operator in which calls of NCCL are made in a group, whose end launches the kernel.
  struct InnerCall {
    std::string name;
    int schema;
    uint64_t bytes, peer;
  };
  Capture InAnOperator(const std::string& name, const std::vector<InnerCall>& calls, int kernel) {
    Rows rows;
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t pid = 7; pid < 9; ++pid) {
        const int64_t at = 200000 * i + 100 * pid;
        int64_t t = at + 2000;
        for (const InnerCall& call : calls) {
          rows.Range(pid, t, t + 500, call.name, Payload(call.schema, call.bytes, call.peer));
          t += 1000;
        }
        rows.Range(pid, t, t + 4000, "ncclGroupEnd")
            .Kernel(pid, pid - 7, t + 1000, t + 5000, 100000 + 200000 * i, kernel);
        rows.Range(pid, at, t + 6000, absl::StrCat(name, ", op_id = 5"));
      }
    }
    return Read(rows);
  }

  const ScratchFolder folder_;
};

// PyTorch makes a call in a group: the kernel is launched at the group's end, when the range of the call is
// over.
TEST_F(NsysCalls, CallDescribesTheKernelOfItsGroup) {
  const Capture capture = InAnOperator("c10d::allreduce_", {{"ncclAllReduce", 5, 4096, 0}}, 10);
  ASSERT_EQ(capture.ranks.size(), 2u);
  for (size_t r = 0; r < 2; ++r)
    EXPECT_THAT(CallTexts(capture, r),
                ElementsAre("all_reduce 4096 on nccl abc", "all_reduce 4096 on nccl abc"));
  EXPECT_EQ(Notes(capture, "calls_without_kernel") + Notes(capture, "comm_size_unknown"), 0u);
}

TEST_F(NsysCalls, JoinsSeveralCallsOfOneKernel) {
  const Capture capture = InAnOperator("c10d::allreduce_coalesced_",
                                       {{"ncclAllReduce", 5, 4096, 0}, {"ncclAllReduce", 5, 512, 0}}, 10);
  for (size_t r = 0; r < 2; ++r)
    EXPECT_THAT(CallTexts(capture, r),
                ElementsAre("all_reduce 4608 on nccl abc", "all_reduce 4608 on nccl abc"));
  EXPECT_EQ(Notes(capture, "calls_without_kernel") + Notes(capture, "comm_size_unknown"), 0u);
}

// An all-to-all of PyTorch is a group of sends and receives, those to the rank itself among them.
TEST_F(NsysCalls, MessagesInACollectiveGiveItsSizes) {
  const Capture capture = InAnOperator("c10d::alltoall_base_",
                                       {{"ncclSend", 9, 1024, 0},
                                        {"ncclRecv", 10, 1024, 0},
                                        {"ncclSend", 9, 1024, 1},
                                        {"ncclRecv", 10, 1024, 1}},
                                       11);
  for (size_t r = 0; r < 2; ++r)
    EXPECT_THAT(CallTexts(capture, r),
                ElementsAre("all_to_all 2048 on nccl abc", "all_to_all 2048 on nccl abc"));
  EXPECT_EQ(Notes(capture, "calls_without_kernel") + Notes(capture, "comm_size_unknown"), 0u);
}

// A gather of uneven parts is a row of broadcasts, which one kernel runs. Its size is a rank's mean part.
TEST_F(NsysCalls, GatherOfUnevenPartsIsOneCall) {
  const Capture capture =
      InAnOperator("c10d::allgather_", {{"ncclBroadcast", 6, 1024, 0}, {"ncclBroadcast", 6, 3072, 1}}, 12);
  for (size_t r = 0; r < 2; ++r)
    EXPECT_THAT(CallTexts(capture, r),
                ElementsAre("all_gather 2048 on nccl abc", "all_gather 2048 on nccl abc"));
  EXPECT_EQ(Notes(capture, "calls_without_kernel") + Notes(capture, "comm_size_unknown"), 0u);
}

// One thread that makes a call for each GPU, one after the other in a group, like nccl-tests with -g.
TEST_F(NsysCalls, AssignsCallsOfAGroupToGpus) {
  Rows rows;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t at = 1000000 * step;
    rows.Range(7, at, at + 900000, absl::StrCat("iteration ", step));
    for (int64_t gpu = 0; gpu < 4; ++gpu) {
      rows.Range(7, at + 1000 * gpu + 100, at + 1000 * gpu + 600, "ncclAllReduce",
                 Payload(5, 4096 * static_cast<uint64_t>(step + 1), 0));
      rows.Kernel(7, gpu, at + 10000 + 1000 * gpu, at + 20000, at + 120000, 10);
    }
    rows.Range(7, at + 9000, at + 15000, "ncclGroupEnd");
  }
  const Capture capture = Read(rows);
  ASSERT_EQ(capture.ranks.size(), 4u);
  EXPECT_EQ(Notes(capture, "nsys_shared_thread"), 0u);
  EXPECT_EQ(Notes(capture, "group_guessed"), 0u);
  for (size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(capture.ranks[r].timeline.steps.size(), 3u);
    EXPECT_THAT(CallTexts(capture, r),
                ElementsAre("all_reduce 4096 on nccl abc", "all_reduce 8192 on nccl abc",
                            "all_reduce 12288 on nccl abc"));
  }
}

}  // namespace
}  // namespace chakra::nsys::CHAKRA_FILE
