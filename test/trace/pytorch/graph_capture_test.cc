// Kernels of CUDA and HIP graphs get the operators that the graphs' capture shows: in one trace, or in two.
#include "trace/import/kineto/graph_capture.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "test/folders.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/import/kineto/graph_annotations.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

// The capture of a graph of `ops`, from `at` on: each operator launches one kernel, which does not run.
void Capture(KinetoBuilder* k, int64_t at, const std::vector<std::string>& ops, const std::string& dims) {
  static int correlation = 500;
  k->Call(1, "cudaStreamBeginCapture", at, 100, ++correlation);
  for (const std::string& op : ops) {
    at += 1000;
    k->Op(1, op, at, 800, ",\"Input Dims\":" + dims + ",\"Input type\":[\"float\"]");
    k->Call(1, "cudaLaunchKernel", at + 100, 200, ++correlation);
  }
  k->Call(1, "cudaStreamEndCapture", at + 1000, 100, ++correlation);
}

void LaunchOf(KinetoBuilder* k, int64_t at, int correlation, int kernels, int streams = 1) {
  k->Call(1, "cudaGraphLaunch", at, 500, correlation);
  for (int i = 0; i < kernels; ++i)
    k->Kernel(7 + i % streams, "kernel" + std::to_string(i), at + 1000 + i * 1000, 800, correlation);
}

std::vector<std::string> OpsOf(const DeviceTrace& trace) {
  std::vector<std::string> ops;
  for (const Event& e : trace.events) {
    if (!OnDevice(e.kind)) continue;
    const uint32_t op = trace.device[e.extra].graph_op;
    ops.push_back(op == kNoRow ? "-"
                               : absl::StrCat(trace.strings.Get(trace.graph_ops[op].name), " ",
                                              trace.strings.Get(trace.graph_ops[op].shapes)));
  }
  return ops;
}

using testing::ElementsAre;

TEST(GraphCapture, KernelsMatchCapturedLaunchesInOrder) {
  KinetoBuilder k;
  Capture(&k, 1000, {"aten::mm", "aten::add"}, "[[8,4]]");
  LaunchOf(&k, 100000, 1, 2);
  LaunchOf(&k, 200000, 2, 2);
  k.Launch(1, 300000, 100, 7, "eager", 301000, 100);
  DeviceTrace trace = k.Trace();
  const GraphJoin join = JoinCapturedGraphs({&trace}, &trace);
  EXPECT_EQ(join.kernels, 4u);
  EXPECT_EQ(join.joined, 4u);
  EXPECT_THAT(OpsOf(trace), ElementsAre("aten::mm [[8,4]]", "aten::add [[8,4]]", "aten::mm [[8,4]]",
                                        "aten::add [[8,4]]", "-"));
}

TEST(GraphCapture, KeepsOperatorsThatAllCapturesAgreeOn) {
  KinetoBuilder captures, run;
  Capture(&captures, 1000, {"aten::mm", "aten::add", "aten::cat"}, "[[8,4]]");
  Capture(&captures, 50000, {"aten::mm", "aten::sub", "aten::cat"}, "[[16,4]]");
  LaunchOf(&run, 100000, 1, 3);
  LaunchOf(&run, 200000, 2, 5);  // of a graph that was not captured here
  const DeviceTrace from = captures.Trace();
  DeviceTrace to = run.Trace();
  const GraphJoin join = JoinCapturedGraphs({&from}, &to);
  EXPECT_EQ(join.kernels, 8u);
  EXPECT_EQ(join.joined, 2u);
  EXPECT_THAT(OpsOf(to), ElementsAre("aten::mm ", "-", "aten::cat ", "-", "-", "-", "-", "-"));
  EXPECT_TRUE(ShowsGraphCaptureOnly(from));
  EXPECT_FALSE(ShowsGraphCaptureOnly(to));
}

TEST(GraphCapture, BranchesOnSeveralStreamsHaveNoOrder) {
  KinetoBuilder k;
  Capture(&k, 1000, {"aten::mm", "aten::add"}, "[[8,4]]");
  LaunchOf(&k, 100000, 1, 2, 2);
  DeviceTrace trace = k.Trace();
  EXPECT_EQ(JoinCapturedGraphs({&trace}, &trace).joined, 0u);
}

std::string Node(int64_t node) { return absl::StrCat(",\"graph id\":9,\"graph node id\":", node); }

// Where kernels have the numbers of their nodes, the numbers give the order, if each stream's order agrees
// with them.
TEST(GraphCapture, NodeNumbersOrderBranchesOnSeveralStreams) {
  for (const bool agree : {true, false}) {
    KinetoBuilder k;
    Capture(&k, 1000, {"aten::mm", "aten::add", "aten::cat"}, "[[8,4]]");
    k.Call(1, "cudaGraphLaunch", 100000, 500, 1);
    // The second node ran before the first, on another stream.
    k.Kernel(8, "add", 101000, 800, 1, Node(42949672962));
    k.Kernel(7, "mm", 101500, 800, 1, Node(agree ? 42949672961 : 42949672964));
    k.Kernel(7, "cat", 103000, 800, 1, Node(42949672963));
    DeviceTrace trace = k.Trace();
    EXPECT_EQ(trace.graph_nodes.size(), 3u);
    EXPECT_EQ(JoinCapturedGraphs({&trace}, &trace).joined, agree ? 3u : 0u);
    if (agree) {
      EXPECT_THAT(OpsOf(trace), ElementsAre("aten::add [[8,4]]", "aten::mm [[8,4]]", "aten::cat [[8,4]]"));
    }
  }
}

// Torch writes the notes of mark_kernels() into the trace: all values are texts.
TEST(GraphCapture, MarkedCollectivesHaveSizesAndGroups) {
  KinetoBuilder k;
  k.Call(1, "cudaGraphLaunch", 100000, 500, 1);
  k.Kernel(
      7, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 101000, 800, 1,
      Node(5) +
          R"(,"In msg nelems":"1048576","Out msg nelems":"1048576","Group size":"2","dtype":"float32",)" +
          R"("Process Group Name":"0","Process Group Description":"default_pg","Process Group Ranks":"[0, 1]")");
  const DeviceTrace trace = k.Trace();
  ASSERT_EQ(trace.comms.size(), 1u);
  EXPECT_EQ(trace.device[0].comm, 0u);
  EXPECT_EQ(trace.comms[0].in_bytes, 4 << 20);
  EXPECT_THAT(trace.comms[0].ranks, ElementsAre(0, 1));
  EXPECT_EQ(trace.comms[0].group, "0");
}

TEST(GraphAnnotations, ReadsCollectivesFromAFileNextToTheTrace) {
  KinetoBuilder k;
  k.Call(1, "cudaGraphLaunch", 100000, 500, 1);
  k.Kernel(7, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 101000, 800, 1, Node(42));
  k.Kernel(7, "gemm", 102000, 800, 1, Node(43));
  DeviceTrace trace = k.Trace();
  const std::string json =
      R"({"42": [{"name": "x", "In msg nelems": 7, "dtype": "float32"}, "phase", {"Collective name": "all_reduce",
 "In msg nelems": 1024, "Out msg nelems": 1024, "Process Group Name": "3", "Process Group Ranks": "[0, 1]"}],
 "43": [{"module_fqn": "layers.0.w1"}], "99": [{"Collective name": "all_gather", "In msg nelems": 8}]})";
  ASSERT_TRUE(AnnotateGraphs(json, "notes.json", &trace).ok());
  ASSERT_EQ(trace.comms.size(), 1u);
  EXPECT_EQ(trace.comms[trace.device[0].comm].in_bytes, 4096);
  EXPECT_EQ(trace.comms[trace.device[0].comm].op, CommOp::kAllReduce);
  EXPECT_EQ(trace.device[1].comm, kNoRow);
  for (const char* bad :
       {"", "[]", "{\"x\": []}", "{\"-1\": []}", "{\"1\": {}}", "{\"1\": [", "{\"0\": []}"}) {
    const absl::Status status = AnnotateGraphs(bad, "notes.json", &trace);
    EXPECT_FALSE(status.ok()) << bad;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("notes.json: "));
  }
  int rank = -1;
  EXPECT_TRUE(NamedAsGraphAnnotations("traces/kernel_annotations_rank12_99.json", &rank));
  EXPECT_EQ(rank, 12);
  EXPECT_FALSE(NamedAsGraphAnnotations("traces/kernel_annotations_rank_99.json", &rank));
}

// vLLM's decode on MI300X: the graph's capture in one trace, its execution in another.
TEST(GraphCapture, JoinsTwoTracesOfAnInferenceEngine) {
  namespace fs = std::filesystem;
  const std::string folder = std::string(CHAKRA_SHARED_DATA) + "/kineto/";
  const std::string capture =
      folder +
      "inference_vllm_decode_full_capture_traces_graph_capture_rank_0.1773709742341309550.pt.trace.json.gz";
  const std::string run = folder + "inference_vllm_decode_full_graph_execution.json.gz";
  if (!fs::exists(capture) || !fs::exists(run)) GTEST_SKIP() << capture;
  for (const auto& inputs :
       {std::vector<std::string>{run, capture}, std::vector<std::string>{capture, run}}) {
    const auto read = ReadCapture(inputs, ReadOptions());
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->ranks.size(), 1u);
    EXPECT_EQ(read->report.ranks(0).graph_kernels(), 421u);
    EXPECT_EQ(read->report.ranks(0).graph_kernels_joined(), 421u);
    // A kernel's name and its operator's go together.
    const DeviceTrace& trace = *read->ranks[0].device;
    uint64_t rotary = 0;
    for (const Event& e : trace.events) {
      if (!OnDevice(e.kind) || !absl::StrContains(trace.name_of(e), "rotary_embedding_kernel")) continue;
      const uint32_t op = trace.device[e.extra].graph_op;
      ASSERT_NE(op, kNoRow);
      EXPECT_EQ(trace.strings.Get(trace.graph_ops[op].name), "_C::rotary_embedding");
      ++rotary;
    }
    EXPECT_EQ(rotary, 24u);
  }
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
