// Steps as traces: the launches of the host, and files against traces in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "test/trace/generate_schedule_testing.h"
#include "trace/generate/write.h"
#include "trace/import/reader.h"
#include "trace/model/graph_builder.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

// The host takes the time of all its launches, in pieces that nodes of streams wait for.
TEST(GenerateWrite, HostLaunchesEachNode) {
  const StepGraphs without = Step(kDense, "tp=2", "seq=64,launch=0us"),
                   with = Step(kDense, "tp=2", "seq=64,launch=50us,layer=0us,call=20us,batch=0us,step=0us");
  const StageGraph& stage = with.stages[0];
  int64_t host_ns = 0, expected_ns = 0;
  size_t host_nodes = 0;
  for (size_t i = 0; i < stage.nodes.size(); ++i) {
    const StepNode& n = stage.nodes[i];
    if (n.stream != Stream::kHost) {
      expected_ns += n.type == NodeType::kComp ? 50'000 * stage.operators[n.op].launches : 20'000;
      continue;
    }
    ++host_nodes;
    host_ns += stage.operators[n.op].duration_ns;
    ASSERT_LT(i + 1, stage.nodes.size());
    const StepNode& next = stage.nodes[i + 1];
    EXPECT_EQ(stage.deps[next.dep_end - 1], i) << "what is launched last waits for the host";
  }
  EXPECT_EQ(stage.nodes.size(), without.stages[0].nodes.size() + host_nodes);
  EXPECT_GT(host_ns, expected_ns - 200'000);  // the last piece launches nothing more
  EXPECT_LE(host_ns, expected_ns);
  const auto traces = TracesOf(with, "step", {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  const Graph& graph = *traces->ranks[0].graph;
  Time of_host;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.is_cpu(row)) of_host += graph.duration[row];
  }
  EXPECT_EQ(of_host, Time::FromNanos(host_ns));
}

// CUDA graphs take no Python; a host that is never late has no nodes.
TEST(GenerateWrite, CudaGraphsReduceHostTime) {
  const auto host = [](const std::string& training) {
    int64_t ns = 0;
    const StepGraphs step = Step(kDense, "tp=2", absl::StrCat("seq=64", training));
    for (const StepNode& n : step.stages[0].nodes) ns += step.stages[0].operators[n.op].duration_ns;
    return ns;
  };
  EXPECT_EQ(host(",launch=0us"), 0);
  EXPECT_GT(host(",cuda_graphs=yes"), 0);
  EXPECT_GT(host(""), 2 * host(",cuda_graphs=yes"));
  EXPECT_GT(host(",launch=100us"), host(""));
}

// Files and memory hold the same, each message has both ends, and no node comes before what it needs.
TEST(GenerateWrite, FilesEqualTracesInMemory) {
  const std::string folder = (std::filesystem::path(::testing::TempDir()) / "generate_write").string();
  for (const char* parallel :
       {"tp=2,pp=2,dp=2,zero=1", "cp=2,pp=4,vpp=2", "dp=4,zero=3", "tp=2,dp=2,pp=2,order=tp-cp-ep-pp-dp"}) {
    const StepGraphs step = Step(kDense, parallel, "seq=64,global_batch=16");
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(WriteStep(step, folder, {}, 2).ok());
    ReadOptions strict;
    strict.strict = true;
    const auto files = ReadTraceSet({folder}, strict);
    ASSERT_TRUE(files.ok()) << files.status();
    const auto memory = TracesOf(step, "step", strict);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(files->groups, memory->groups);
    EXPECT_EQ(memory->distinct_graphs(), step.stages.size());
    ASSERT_EQ(files->ranks.size(), memory->ranks.size());
    std::map<std::tuple<int, int, int>, int> messages;
    for (size_t r = 0; r < files->ranks.size(); ++r) {
      const RankTrace &a = files->ranks[r], &b = memory->ranks[r];
      EXPECT_TRUE(SameContent(*a.graph, *b.graph));
      EXPECT_EQ(a.group_names, b.group_names);
      ASSERT_EQ(a.peers.size(), b.peers.size());
      for (size_t i = 0; i < a.peers.size(); ++i) {
        EXPECT_EQ(std::tie(a.peers[i].src, a.peers[i].dst, a.peers[i].tag, a.peers[i].group),
                  std::tie(b.peers[i].src, b.peers[i].dst, b.peers[i].tag, b.peers[i].group));
      }
      for (uint32_t row = 0; row < a.graph->size(); ++row) {
        if (a.graph->type[row] != NodeType::kSend && a.graph->type[row] != NodeType::kRecv) continue;
        const Peer& p = a.peers[a.graph->payload[row]];
        messages[{p.src, p.dst, p.tag}] += a.graph->type[row] == NodeType::kSend ? 1 : -1000;
      }
    }
    for (const auto& [message, ends] : messages) EXPECT_EQ(ends, -999) << parallel;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
