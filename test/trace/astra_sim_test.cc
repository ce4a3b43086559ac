#include "replay/cluster/astra_sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_join.h"
#include "test/folders.h"
#include "trace/io/compressed_file.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNetwork[] =
    "topology: [Ring, Switch]\nnpus_count: [4, 2]\nbandwidth: [50.0, 12.5]\nlatency: [500, 0.5]\n";

std::string Put(const std::string& name, absl::string_view content) {
  // A folder for this process: other test processes run at the same time.
  static const struct Folder {
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    const std::string path = ::testing::TempDir() + "/astra_sim_test." + std::to_string(::getpid());
  } folder;
  const std::string path = folder.path + "/" + name;
  EXPECT_TRUE(WriteFile(path, content).ok());
  return path;
}

absl::StatusOr<AstraSimResult> Convert(absl::string_view network, absl::string_view system = "",
                                       absl::string_view memory = "", absl::string_view groups = "") {
  AstraSimInputs in;
  in.network_yaml = Put("net.yml", network);
  if (!system.empty()) in.system_json = Put("sys.json", system);
  if (!memory.empty()) in.memory_json = Put("mem.json", memory);
  if (!groups.empty()) in.groups_json = Put("groups.json", groups);
  return ClusterFromAstraSim(in);
}

std::string Error(const absl::StatusOr<AstraSimResult>& r) { return std::string(r.status().message()); }

TEST(AstraSim, ConvertsNetworkExactly) {
  const auto r = Convert(kNetwork);
  ASSERT_TRUE(r.ok()) << r.status();
  const auto& t = r->cluster.topology();
  ASSERT_EQ(t.dimension_size(), 2);
  EXPECT_EQ(t.dimension(0).kind(), proto::Dimension::RING);
  EXPECT_EQ(t.dimension(1).kind(), proto::Dimension::SWITCH);
  EXPECT_EQ(t.dimension(0).size(), 4);
  EXPECT_EQ(t.dimension(0).bandwidth_bytes_per_s(), int64_t{50} << 30);
  EXPECT_EQ(t.dimension(1).bandwidth_bytes_per_s(), int64_t{25} << 29);
  EXPECT_EQ(t.dimension(1).latency_ns(), 0.5);
}

TEST(AstraSim, NetworkErrorsNameKeyAndPlace) {
  EXPECT_THAT(Error(Convert("topolgy: [Ring]\n")),
              AllOf(HasSubstr("'topolgy'"), HasSubstr("did you mean 'topology'"), HasSubstr("net.yml:1:1"),
                    HasSubstr("npus_count")));
  EXPECT_THAT(Error(Convert("topology: [Rng]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n")),
              AllOf(HasSubstr("did you mean 'Ring'"), HasSubstr("net.yml:1:12")));
  EXPECT_THAT(Error(Convert("topology: [Ring]\nnpus_count: [4, 2]\nbandwidth: [1]\nlatency: [1]\n")),
              HasSubstr("'npus_count' has 2 entries"));
  EXPECT_THAT(Error(Convert("topology: [Ring]\nnpus_count: [4]\nbandwidth: [0]\nlatency: [1]\n")),
              HasSubstr("key 'bandwidth'"));
  EXPECT_THAT(Error(Convert("topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [-1]\n")),
              HasSubstr("key 'latency'"));
  EXPECT_THAT(Error(Convert("topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\n")),
              HasSubstr("no key 'latency'"));
  EXPECT_THAT(Error(Convert("topology: [Ring\n")), HasSubstr("net.yml:"));
  EXPECT_THAT(Error(Convert("")), HasSubstr("expected the lists"));
  EXPECT_THAT(Error(ClusterFromAstraSim({})), HasSubstr("network"));
}

TEST(AstraSim, ConvertsOrReportsEachSystemKey) {
  const auto r =
      Convert(kNetwork, R"({"scheduling-policy": "LIFO", "endpoint-delay": 7, "preferred-dataset-splits": 4,
      "active-chunks-per-dimension": 2, "all-reduce-implementation": ["ring", "halvingDoubling"],
      "all-gather-implementation": ["doubleBinaryTree"], "local-mem-bw": 1600, "peak-perf": 900, "roofline-enabled": 1,
      "reduce-scatter-implementation": ["direct2", "direct"], "all-to-all-implementation": ["ring", "ring"],
      "all-to-all-implementation-custom": ["x"], "endpont-delay": 3, "collective-optimization": "localBWAware"})");
  ASSERT_TRUE(r.ok()) << r.status();
  const auto& c = r->cluster;
  EXPECT_EQ(c.collectives().splits(), 4);
  EXPECT_EQ(c.collectives().splits_at_once(), 2);
  EXPECT_EQ(c.collectives().step_overhead_ns(), 7);
  EXPECT_EQ(c.collectives().reduce_gbytes_per_s(), 1600);
  EXPECT_EQ(c.device().memory_gbytes_per_s(), 1600);
  EXPECT_EQ(c.device().peak_tflops().at("bf16"), 900);
  // All 8 devices run an algorithm for each dimension; a smaller group is one ring.
  const auto& algorithm = c.collectives().algorithm();
  EXPECT_EQ(algorithm.at("all_reduce:8"), "ring+halving_doubling");
  EXPECT_EQ(algorithm.at("all_reduce"), "ring");
  EXPECT_EQ(algorithm.at("reduce_scatter:8"), "direct+direct");
  EXPECT_EQ(algorithm.at("all_to_all:8"), "ring+ring");
  EXPECT_EQ(algorithm.count("all_gather"), 0u);
  for (const char* named : {"doubleBinaryTree", "window of 2", "all-to-all-implementation-custom",
                            "did you mean 'endpoint-delay'?"}) {
    EXPECT_THAT(r->notes, Contains(HasSubstr(named)));
  }
  for (const char* carried :
       {"scheduling-policy", "active-chunks", "collective-optimization", "all-reduce-implementation"})
    EXPECT_THAT(r->notes, Not(Contains(HasSubstr(carried))));
}

TEST(AstraSim, ConvertsCollectiveImplementations) {
  const auto with = [](const std::string& options) {
    const auto r = Convert(kNetwork, "{\"preferred-dataset-splits\": 1, " + options + "}");
    EXPECT_TRUE(r.ok()) << r.status();
    return r.ok() ? *r : AstraSimResult();
  };
  AstraSimResult r = with(R"("all-reduce-implementation": ["oneRing", "oneRing"])");
  EXPECT_EQ(r.cluster.collectives().algorithm().at("all_reduce"), "ring");
  EXPECT_THAT(r.notes, Contains(HasSubstr("over the whole group")));
  r = with(R"("all-reduce-implementation": ["doubleBinaryTree", "doubleBinaryTree"])");
  EXPECT_EQ(r.cluster.collectives().algorithm().at("all_reduce:8"), "double_binary_tree");
  EXPECT_THAT(r.notes, Contains(HasSubstr("whole from level to level")));
  r = with(R"("all-gather-implementation": ["direct"])");
  EXPECT_EQ(r.cluster.collectives().algorithm().at("all_gather:8"), "direct+direct");
  EXPECT_THAT(r.notes, Contains(HasSubstr("1 entries for 2 dimensions")));
  r = with(R"("all-to-all-implementation": ["ring", "halvingDoubling"])");
  EXPECT_TRUE(r.cluster.collectives().algorithm().empty());
  EXPECT_THAT(r.notes, Contains(HasSubstr("no all-to-all by halvingDoubling")));
  r = with(R"("scheduling-policy": "HIGHEST", "collective-optimization": "baseline")");
  EXPECT_THAT(r.notes, Contains(HasSubstr("scheduling-policy")));
  EXPECT_THAT(r.notes, Contains(HasSubstr("collective-optimization")));
  Put("custom.0.et", "");
  r = with(R"("all-reduce-implementation-custom": ["custom"], "all-reduce-implementation": ["ring"])");
  ASSERT_EQ(r.cluster.collectives().program_size(), 1);
  EXPECT_THAT(r.cluster.collectives().program(0), AllOf(HasSubstr("all_reduce="), HasSubstr("/custom")));
  EXPECT_TRUE(r.cluster.collectives().algorithm().empty());
  EXPECT_THAT(
      Error(Convert(kNetwork, R"({"preferred-dataset-splits": 1, "active-chunks-per-dimension": 0})")),
      AllOf(HasSubstr("active-chunks-per-dimension"), HasSubstr("1 or more")));
}

TEST(AstraSim, ChecksSystemDefaultsAndErrors) {
  EXPECT_THAT(Error(Convert(kNetwork, "{}")),
              AllOf(HasSubstr("preferred-dataset-splits"), HasSubstr("divides by zero")));
  EXPECT_THAT(Error(Convert(kNetwork, R"({"preferred-dataset-splits": 0})")),
              HasSubstr("preferred-dataset-splits"));
  const auto r =
      Convert(kNetwork, R"({"preferred-dataset-splits": 1, "peak-perf": 900, "roofline-enabled": 0})");
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->cluster.collectives().step_overhead_ns(), 10);
  EXPECT_TRUE(r->cluster.device().peak_tflops().empty());
  EXPECT_THAT(r->notes, Contains(HasSubstr("peak-perf")));
  EXPECT_THAT(Error(Convert(kNetwork, R"({"preferred-dataset-splits": 1, "local-mem-bw": "fast"})")),
              AllOf(HasSubstr("local-mem-bw"), HasSubstr("sys.json:1:")));
  EXPECT_THAT(
      Error(Convert(kNetwork, R"({"preferred-dataset-splits": 1, "all-reduce-implementation": ["rinng"]})")),
      HasSubstr("did you mean 'ring'?"));
}

TEST(AstraSim, ConvertsRemoteMemory) {
  const auto pool = Convert(
      kNetwork, "", R"({"memory-type": "MEMORY_POOL", "remote-mem-latency": 100, "remote-mem-bw": 50})");
  ASSERT_TRUE(pool.ok()) << pool.status();
  EXPECT_EQ(pool->cluster.remote_memory().kind(), proto::RemoteMemory::POOL);
  EXPECT_EQ(pool->cluster.remote_memory().bandwidth_gbytes_per_s(), 50);
  const auto node = Convert(kNetwork, "", R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-bw": 5,
      "num-nodes": 2, "num-npus-per-node": 4})");
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(node->cluster.remote_memory().ranks_per_node(), 4);
  EXPECT_THAT(node->notes, Contains(HasSubstr("num-nodes")));
  EXPECT_THAT(Error(Convert(kNetwork, "", R"({"memory-type": "MEMORY_POOL"})")), HasSubstr("remote-mem-bw"));
  EXPECT_THAT(Error(Convert(kNetwork, "", R"({"memory-type": "MEMORY_POL"})")),
              HasSubstr("did you mean 'MEMORY_POOL'"));
}

TEST(AstraSim, ChecksGroups) {
  const auto r = Convert(kNetwork, "", "", R"({"1": [0, 7]})");
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_THAT(r->notes, Contains(HasSubstr("--groups")));
  EXPECT_THAT(Error(Convert(kNetwork, "", "", R"({"1": [0, 8]})")), HasSubstr("a rank from 0 to 7"));
  EXPECT_THAT(Error(Convert(kNetwork, "", "", R"({"1": [0, 0]})")), HasSubstr("each rank once"));
}

TEST(AstraSim, ConvertsRealConfigurations) {
  const std::string dir = std::string(CHAKRA_SHARED_DATA) + "/astra-sim/configs/";
  if (!std::filesystem::exists(dir)) GTEST_SKIP() << "SKIPPED: no folder " << dir;
  AstraSimInputs in;
  in.network_yaml = dir + "HGX-H100-validated.yml";
  in.system_json = dir + "HGX-H100-validated.json";
  in.memory_json = dir + "remote_memory/no_memory_expansion.json";
  const auto r = ClusterFromAstraSim(in);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->cluster.topology().dimension(0).bandwidth_bytes_per_s(), int64_t{400} << 30);
  EXPECT_EQ(r->cluster.topology().dimension(0).latency_ns(), 936.25);
  EXPECT_EQ(r->cluster.collectives().splits(), 4);
  EXPECT_EQ(r->cluster.device().memory_gbytes_per_s(), 3350);
  EXPECT_EQ(r->cluster.remote_memory().kind(), proto::RemoteMemory::NONE);
  EXPECT_EQ(r->notes.size(), 2u) << absl::StrJoin(r->notes, "\n");
  for (const char* ring : {"Ring_4npus.yml", "Ring_8npus.yml", "Ring_16npus.yml"}) {
    for (const char* system : {"Ring_4chunks.json", "custom_collective.json"}) {
      in.network_yaml = dir + ring;
      in.system_json = dir + system;
      EXPECT_TRUE(ClusterFromAstraSim(in).ok()) << ClusterFromAstraSim(in).status();
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
