#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/import/linked/linker.h"
#include "trace/import/reader.h"
#include "trace/model/capture_info.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// Two threads, two streams, a copy, an all-reduce and a step.
KinetoBuilder Sample(int rank) {
  return KinetoBuilder()
      .Rank(rank, 2)
      .Annotation(11, "ProfilerStep#5", 0, 90000)
      .Op(11, "aten::mm", 1000, 20000, ",\"Input Dims\":[[8,8],[8,8]],\"Input type\":[\"float\",\"float\"]")
      .Launch(11, 2000, 3000, 7, "gemm", 9001, 10002)
      .Call(11, "cudaMemcpyAsync", 6000, 1000, 4)
      .OnDevice("gpu_memcpy", 7, "Memcpy HtoD (Pinned -> Device)", 20000, 1500, 4, ",\"bytes\":4096")
      .Op(12, "loader", 500, 70000)
      .Launch(11, 22000, 1000, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 30000 + rank * 1000,
              20000 - rank * 1000, CommArgs("allreduce", 1000, 1000, "0", "[0, 1]", 2))
      .Call(11, "cudaStreamSynchronize", 24000, 27000, 5);
}

Capture Two() {
  const CaptureFolder folder;
  for (const int rank : {0, 1}) folder.Rank(rank, Sample(rank));
  return folder.Read();
}

TEST(Emit, WritesEveryFieldOfADeviceOperation) {
  const Written w = Emitted(Two());
  const auto& gemm = w.Only("gemm");
  EXPECT_EQ(gemm.type(), ChakraProtoMsg::COMP_NODE);
  EXPECT_EQ(gemm.start_time_micros(), 9u);
  EXPECT_EQ(gemm.duration_micros(), 10u);
  EXPECT_EQ(Written::Value(gemm, "start_ns"), "9001");
  EXPECT_EQ(Written::Value(gemm, "duration_ns"), "10002");
  EXPECT_EQ(Written::Value(gemm, "is_cpu_op"), "false");
  EXPECT_EQ(Written::Value(gemm, "stream"), "7");
  EXPECT_EQ(Written::Value(gemm, "device"), "0");
  EXPECT_EQ(Written::Value(gemm, "tid"), "none");
  EXPECT_EQ(Written::Value(gemm, "category"), "kernel");
  EXPECT_EQ(Written::Value(gemm, "op"), "aten::mm");
  EXPECT_EQ(gemm.inputs().shapes(), "[[8,8],[8,8]]");
  EXPECT_EQ(gemm.inputs().types(), "[\"float\",\"float\"]");
  const auto& copy = w.Only("Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(Written::Value(copy, "tensor_size"), "4096");
  EXPECT_EQ(Written::Value(copy, "category"), "gpu_memcpy");
  EXPECT_EQ(Written::Value(copy, "correlation"), "4");
}

TEST(Emit, WritesEveryFieldOfAHostCall) {
  const Written w = Emitted(Two());
  const auto parts = w.Named("aten::mm");
  ASSERT_EQ(parts.size(), 3u) << "before, between and after its two callees";
  EXPECT_EQ(Written::Value(*parts[0], "tid"), "11");
  EXPECT_EQ(Written::Value(*parts[0], "stream"), "none");
  EXPECT_EQ(Written::Value(*parts[0], "is_cpu_op"), "true");
  EXPECT_EQ(Written::Value(*parts[0], "part"), "none");
  EXPECT_EQ(Written::Value(*parts[2], "part"), "2");
  EXPECT_EQ(parts[0]->inputs().shapes(), "[[8,8],[8,8]]");
  EXPECT_EQ(parts[2]->inputs().shapes(), "") << "only once";
  EXPECT_EQ(Written::Value(w.Only("loader"), "tid"), "12");
}

TEST(Emit, DependenciesCarryTheirKindAndDelay) {
  const Written w = Emitted(Two());
  const auto& gemm = w.Only("gemm");
  ASSERT_EQ(gemm.data_deps_size(), 1);
  EXPECT_EQ(gemm.ctrl_deps_size(), 0);
  EXPECT_EQ(Written::Value(gemm, "dep_kinds"), "launch");
  EXPECT_EQ(Written::Value(gemm, "dep_delay_ns"), "4001");
  EXPECT_EQ(w.Dep(w.Only("cudaStreamSynchronize"), w.Only("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)")),
            "sync");
  for (const auto& n : w.nodes) {
    const auto* delays = Written::Attr(n, "dep_delay_ns");
    const auto kinds = std::string(Written::Value(n, "dep_kinds"));
    if (n.data_deps_size() == 0) {
      EXPECT_EQ(kinds, "none");
      continue;
    }
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), ',') + 1, n.data_deps_size());
    if (delays != nullptr) {
      EXPECT_EQ(delays->int64_list().values_size(), n.data_deps_size());
    }
  }
}

TEST(Emit, WritesStandardCollectiveNodes) {
  const Written w = Emitted(Two(), 1);
  const auto& c = w.Only("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
  EXPECT_EQ(c.type(), ChakraProtoMsg::COMM_COLL_NODE);
  EXPECT_EQ(Written::Value(c, "comm_type"), "0");
  EXPECT_EQ(Written::Value(c, "comm_size"), "4000");
  EXPECT_EQ(Written::Value(c, "pg_name"), "0");
  EXPECT_EQ(Written::Value(c, "transfer_ns"), "19000");
  EXPECT_EQ(Written::Value(c, "comm_dtype"), "Float");
  const auto& groups = w.Only("## process_group:init ##");
  EXPECT_EQ(groups.type(), ChakraProtoMsg::METADATA_NODE);
  EXPECT_EQ(groups.inputs().values(), "[{\"pg_name\":\"0\",\"group_size\":2,\"ranks\":[0,1]}]");
}

TEST(Emit, IdsAreDistinctAndDependenciesComeBefore) {
  const Capture capture = Two();
  for (const uint32_t rank : {0u, 1u}) {
    const Written w = Emitted(capture, rank);
    std::set<uint64_t> ids;
    for (const auto& n : w.nodes) {
      for (const uint64_t dep : n.data_deps()) EXPECT_TRUE(ids.contains(dep)) << n.name();
      EXPECT_TRUE(ids.insert(n.id()).second) << n.id();
    }
    EXPECT_EQ(w.nodes.size(), capture.report.ranks(static_cast<int>(rank)).nodes());
  }
}

TEST(Emit, MetadataHasTheStepsAndTheWindow) {
  auto traces = CaptureTraces(Two(), {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  auto info = ReadCaptureInfo(traces->ranks[1]);
  ASSERT_TRUE(info.ok() && info->has_value()) << info.status();
  EXPECT_EQ((*info)->rank, 1);
  EXPECT_EQ((*info)->window_end, Time::Nanos(90000));
  ASSERT_EQ((*info)->steps.size(), 1u);
  EXPECT_EQ((*info)->steps[0].name, "ProfilerStep#5");
}

TEST(Emit, LaterRankStartsLater) {
  const CaptureFolder folder;
  folder.Rank(0, KinetoBuilder().Rank(0, 2).Op(1, "first", 0, 1000));
  folder.Rank(1, KinetoBuilder().Rank(1, 2).Base(KinetoBuilder::kBase + 5000).Op(1, "second", 2000, 1000));
  const Written w = Emitted(folder.Read(), 1);
  EXPECT_EQ(Written::Value(w.Only("second"), "start_ns"), "7000");
  EXPECT_EQ(Written::Value(w.Only("second"), "dep_delay_ns"), "7000")
      << "since the window that all share began";
}

TEST(Emit, NumbersLanesWithoutANumber) {
  const CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Op(1, "a", 0, 90000)
                     .Event("cpu_op", "b", 2, "1", 0, 1000, "")  // the same thread number in another process
                     .Launch(1, 1000, 2000, 7, "k1", 6000, 30000)
                     .Launch(1, 4000, 2000, 7, "k2", 16000, 40000));
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(Written::Value(w.Only("b"), "tid") == Written::Value(*w.Named("a")[0], "tid"), false);
  EXPECT_EQ(Written::Value(w.Only("k1"), "stream"), "7");
  EXPECT_NE(Written::Value(w.Only("k2"), "stream"), "7");
}

TEST(Emit, KeepsNamesThatNeedQuotes) {
  const CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Rank(0, 2)
                     .Op(1, "a\\\"b\\\\c", 0, 10)
                     .Launch(1, 1000, 100, 20, "ncclDevKernel_AllReduce(x)", 5000, 1000,
                             CommArgs("allreduce", 10, 10, "g\\\"\\\\", "[0, 1]", 2)));
  const Capture capture = folder.Read();
  EXPECT_EQ(Emitted(capture).Named("a\"b\\c").size(), 1u);
  const CaptureFolder out;
  ASSERT_TRUE(WriteCapture(capture, out.At("w"), "").ok());
  auto traces = ReadTraceSet({out.path()}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_EQ(traces->groups.count("g\"\\"), 1u);
}

TEST(Emit, WritesCommunicationWithoutACall) {
  const CaptureFolder folder;
  folder.Rank(
      0, KinetoBuilder()
             .Rank(0, 2)
             .Op(1, "aten::mm", 0, 9000)
             .Launch(1, 1000, 100, 20, "ncclDevKernel_Generic_1(x)", 5000, 1000)
             .Launch(1, 2000, 100, 20, "void deep_ep::intranode::dispatch<8, 768>(x)", 7000, 1000, ",\"a\":1")
             .Launch(1, 3000, 100, 20, "gemm", 9000, 1000));
  const Capture capture = folder.Read();
  const Written w = Emitted(capture);
  const auto& generic = w.Only("ncclDevKernel_Generic_1(x)");
  EXPECT_EQ(generic.type(), ChakraProtoMsg::COMP_NODE) << "readers that do not know comm_kind keep its time";
  EXPECT_EQ(Written::Value(generic, "comm_kind"), "unknown");
  EXPECT_EQ(Written::Value(generic, "comm_library"), "NCCL");
  EXPECT_EQ(Written::Value(w.Only("gemm"), "comm_kind"), "none");
  const auto traces = CaptureTraces(capture, ReadOptions());
  ASSERT_TRUE(traces.ok()) << traces.status();
  const Graph& g = *traces->ranks[0].graph;
  int kept = 0;
  for (uint32_t row = 0; row < g.size(); ++row) {
    if (!g.is_kept_comm(row)) continue;
    ++kept;
    EXPECT_EQ(g.name_of(row), "ncclDevKernel_Generic_1(x)");
    EXPECT_EQ(g.kept_kind(row), "unknown");
    EXPECT_EQ(g.duration[row], Time::Nanos(1000));
  }
  EXPECT_EQ(kept, 1) << "an all-to-all of the world is a call, if of unknown size";
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
