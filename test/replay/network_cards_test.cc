// --network: the rates of ports, the part of a cluster that a network file replaces, and the warnings for a
// fabric without contention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/cluster/load.h"
#include "replay/run/machine.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "trace/io/compressed_file.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CommandResult Collective(const std::string& arguments) {
  CommandResult result = RunCommand("collective " + arguments);
  EXPECT_EQ(result.status, 0) << arguments << "\n" << result.err;
  return result;
}

// The time of the last row, in microseconds.
double Micros(const std::string& arguments) {
  const CommandResult result = Collective(arguments + " --format csv");
  const std::vector<std::string> lines = absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  const std::vector<std::string> cells = absl::StrSplit(lines.empty() ? "" : lines.back(), ',');
  double us = -1;
  EXPECT_TRUE(cells.size() > 6 && absl::SimpleAtod(cells[6], &us)) << result.out;
  return us;
}

class NetworkFiles : public testing::Test {
 protected:
  NetworkFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "network_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~NetworkFiles() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = absl::StrCat(folder_, "/", name);
    EXPECT_TRUE(WriteFile(path, text, Compression::kNone).ok());
    return path;
  }
  // `hosts` on one switch, in the format of ns-3.
  std::string Star(const std::string& name, int hosts, const std::string& rate) const {
    std::string text = absl::StrCat(hosts + 1, " 1 ", hosts, "\n", hosts, "\n");
    for (int h = 0; h < hosts; ++h) absl::StrAppend(&text, h, " ", hosts, " ", rate, " 0.0005ms 0\n");
    return Write(name, text);
  }
  // Servers of `per` GPUs on `chips` NVSwitches each, and one switch for all, in the format of SimAI.
  std::string Servers(const std::string& name, int servers, int per, int chips,
                      const std::string& rate) const {
    const int gpus = servers * per, nv = servers * chips, nodes = gpus + nv + (servers > 1 ? 1 : 0);
    std::string links, numbers;
    for (int i = gpus; i < nodes; ++i) absl::StrAppend(&numbers, i == gpus ? "" : " ", i);
    int count = 0;
    for (int g = 0; g < gpus; ++g) {
      for (int c = 0; c < chips; ++c, ++count)
        absl::StrAppend(&links, g, " ", gpus + g / per * chips + c, " ", rate, " 0.000025ms 0\n");
      if (servers == 1) continue;
      absl::StrAppend(&links, g, " ", nodes - 1, " 400Gbps 0.0005ms 0\n");
      ++count;
    }
    return Write(name, absl::StrCat(nodes, " ", per, " ", nv, " ", servers > 1 ? 1 : 0, " ", count, " H100\n",
                                    numbers, "\n", links));
  }

  std::string folder_;
};

TEST(NetworkNics, PortsHaveTheRatesOfTheCluster) {
  const std::string call = "all_reduce --bytes 256MiB --ranks 16 --fabric analytical --cluster ";
  for (const char* cluster : {"dgx-a100", "dgx-h100", "dgx-b300", "dgx-h100:nic_gbps=200",
                              "dgx-h100:nic_gbps=800", "dgx-h100:nic_latency_ns=1400", "l40s", "mi300x"}) {
    const double own = Micros(call + cluster);
    // On every preset, a star for each rail costs as much as the preset's own switch, with any NIC.
    EXPECT_EQ(Micros(absl::StrCat(call, cluster, " --network switch:span=rails")), own) << cluster;
    // One star for all saves the hop to the receiver's rail inside a node: only latency.
    const double one_star = Micros(absl::StrCat(call, cluster, " --network switch"));
    EXPECT_LE(one_star, own) << cluster;
    EXPECT_GE(one_star, own - 3) << cluster;
  }
  // Parameters of the network override the cluster.
  EXPECT_EQ(Micros("all_reduce --bytes 256MiB --ranks 16 --network switch:link=400Gb/s --cluster dgx-a100"),
            Micros("all_reduce --bytes 256MiB --ranks 16 --network switch --cluster dgx-a100:nic_gbps=400"));
}

TEST(NetworkNics, EveryNetworkKindUsesNicRates) {
  for (const char* network :
       {"leaf_spine", "fat_tree", "rail_optimized", "switch", "ring", "mesh", "torus", "full_mesh",
        "hypercube", "hyperx", "dragonfly", "dragonfly_plus", "slim_fly", "multi_plane:of=(leaf_spine)",
        "torus:hosts=2", "multi_plane:planes=2,of=(multi_plane:planes=2,of=(leaf_spine)),split=no"}) {
    // The additional time of 128 MiB: fixed times do not depend on NICs. One device a node, so that nothing
    // else limits.
    const auto more = [&](const std::string& cards) {
      const auto at = [&](const char* bytes) {
        return Micros(absl::StrCat("all_to_all --bytes ", bytes, " --ranks 32 --network '", network,
                                   "' --cluster dgx-a100:gpus_per_node=1", cards));
      };
      return at("192MiB") - at("64MiB");
    };
    const double at_200 = more("");
    EXPECT_NEAR(more(",nic_gbps=400"), at_200 / 2, 1e-3 * at_200) << network;
  }
  // Links between switches are as fast as the ports, but without the latency of a NIC.
  const CommandResult shown = Collective(
      "all_reduce --bytes 1MiB --ranks 32 --cluster dgx-h100:nic_latency_ns=2000 --network leaf_spine:k=16");
  EXPECT_THAT(
      shown.out,
      HasSubstr("# network leaf_spine: 400 Gb/s a device in 1 port, the rate of the cluster's NICs; "));
}

TEST(NetworkNics, ReportNamesSourceOfRates) {
  const std::string run =
      absl::StrCat("replay ", CHAKRA_SOURCE_DIR,
                   "/examples/transformer_step --cluster dgx-a100:gpus_per_node=2 --format json "
                   "--report - -q --network ");
  const auto report = [&](const std::string& network) { return RunCommand(run + network).out; };
  EXPECT_THAT(report("leaf_spine:hosts_per_leaf=2,spines=2"), HasSubstr("\"rates_from\": \"cluster\""));
  EXPECT_THAT(report("leaf_spine:hosts_per_leaf=2,spines=2"),
              HasSubstr("\"injection_bytes_per_s\": \"25000000000\""));
  EXPECT_THAT(report("leaf_spine:hosts_per_leaf=2,spines=2,link=400Gb/s"),
              HasSubstr("\"rates_from\": \"network\""));
  // A field may also set the rate: --set applies after the network.
  const CommandResult set = RunCommand(
      run + "leaf_spine:hosts_per_leaf=2,spines=2 --set topology.dimension[1].bandwidth_gbytes_per_s=100");
  EXPECT_THAT(set.out, HasSubstr("\"injection_bytes_per_s\": \"100000000000\""));
}

TEST(NetworkNics, NetworksDefaultToAFabricWithContention) {
  const std::string call = "all_to_all --bytes 64MiB --ranks 64 --cluster dgx-h100 --network leaf_spine:k=16";
  const std::string seven = call + ",oversubscription=7:1";
  EXPECT_GT(Micros(seven), 2 * Micros(call));
  EXPECT_EQ(Micros(seven), Micros(seven + " --fabric fluid"));
  // A fabric that ignores contention causes a warning.
  const CommandResult blind = Collective(seven + " --fabric analytical");
  EXPECT_THAT(blind.err,
              HasSubstr("network leaf_spine: messages share its links (oversubscription 7:1 at leaf), which "
                        "--fabric analytical does not model"));
  EXPECT_THAT(Collective(seven).err, Not(HasSubstr("does not model")));
  EXPECT_THAT(Collective("all_to_all --bytes 64MiB --ranks 64 --network switch --fabric analytical").err,
              Not(HasSubstr("does not model")));
  const CommandResult run = RunCommand(absl::StrCat(
      "replay ", CHAKRA_SOURCE_DIR, "/examples/transformer_step --cluster dgx-h100:gpus_per_node=2 -q ",
      "--fabric analytical --network leaf_spine:hosts_per_leaf=2,spines=1"));
  EXPECT_THAT(run.out, HasSubstr("does not model: its times"));
}

TEST(NetworkNics, InjectionSetsBandwidthOfDevice) {
  const std::string show = "topology show torus:shape=4x4x4";
  EXPECT_THAT(RunCommand(show).out, HasSubstr("injection   2.4 Tb/s a device, in 6 ports"));
  EXPECT_THAT(RunCommand(show + ",injection=400Gb/s").out,
              HasSubstr("injection   400 Gb/s a device, in 6 ports"));
  EXPECT_THAT(RunCommand("topology show leaf_spine:k=8,devices_per_nic=2").out,
              HasSubstr("injection   200 Gb/s a device, in 1 port"));
  EXPECT_NEAR(Micros("all_gather --bytes 64MiB --ranks 64 --cluster dgx-h100:gpus_per_node=1 --network "
                     "ring:injection=200Gb/s"),
              Micros("all_gather --bytes 64MiB --ranks 64 --cluster dgx-h100:gpus_per_node=1 --network "
                     "ring:link=100Gb/s"),
              1e-3);
}

TEST_F(NetworkFiles, NetworkFileJoinsNodes) {
  const std::string star = Star("star.txt", 16, "400Gbps");
  const std::string call = "all_reduce --bytes 256MiB --ranks 16 --cluster dgx-h100";
  EXPECT_EQ(Micros(call + " --network " + star), Micros(call + " --network switch"));
  EXPECT_THAT(Collective(call + " --network " + star).out, HasSubstr("library NCCL"));
  EXPECT_THAT(Collective(call + " --network " + star).out, HasSubstr("the rate in its file"));
  // A network for each rail, where the hosts of the file are nodes.
  const std::string nodes = Star("nodes.txt", 2, "400Gbps");
  EXPECT_EQ(Micros(call + " --network " + nodes + ":span=rails"),
            Micros(call + " --network switch:span=rails"));
  // The whole machine, where that is asked for.
  EXPECT_THAT(Collective(call + " --network " + star + ":span=machine").err,
              HasSubstr("replaces the whole machine"));
  EXPECT_THAT(RunCommand("collective " + call + " --network " + nodes).err, HasSubstr("span=rails"));
  EXPECT_THAT(RunCommand("collective " + call + " --network " + star + ":link=3Gb/s").err,
              HasSubstr("expected span=rails, all or machine"));
  EXPECT_THAT(RunCommand("collective " + call + " --network " + star + ":span=rail").err,
              HasSubstr("expected rails, all or machine"));
}

TEST_F(NetworkFiles, NvSwitchesOfFileReplaceInnerDimension) {
  const std::string call = "all_reduce --bytes 256MiB --cluster dgx-h100 --ranks ";
  const std::string two = Servers("two.txt", 2, 8, 4, "900Gbps");
  EXPECT_EQ(Micros(call + "16 --network " + two), Micros(call + "16 --network switch"));
  EXPECT_THAT(Collective(call + "16 --network " + two).out, HasSubstr("library NCCL"));
  // Servers of another size and rate.
  const std::string four = Servers("four.txt", 2, 4, 2, "800Gbps");
  EXPECT_EQ(Micros(call + "8 --network " + four),
            Micros("all_reduce --bytes 256MiB --cluster dgx-h100:gpus_per_node=4,nvlink_gbytes_per_s=200 "
                   "--ranks 8 --network switch"));
}

TEST_F(NetworkFiles, ParallelNvSwitchesEqualOne) {
  for (const char* kind : {"all_reduce", "all_gather", "all_to_all"}) {
    for (const char* span : {"", ":span=machine"}) {
      for (const char* fabric : {"fluid", "analytical"}) {
        const std::string call =
            absl::StrCat(kind, " --bytes 1GiB --ranks 8 --fabric ", fabric, " --network ");
        const double one = Micros(call + Servers("one.txt", 1, 8, 1, "3600Gbps") + span);
        EXPECT_NEAR(Micros(call + Servers("many.txt", 1, 8, 4, "900Gbps") + span), one, 1e-3 * one)
            << call << span;
      }
    }
    EXPECT_NEAR(Micros(absl::StrCat(kind, " --bytes 1GiB --ranks 8 --network dgx_pod")),
                Micros(absl::StrCat(kind, " --bytes 1GiB --ranks 8 --network dgx_pod:chips=one")), 5)
        << kind;
  }
  // A fabric that cannot split a message causes a warning; planes of switches do too.
  const std::string many = Servers("many.txt", 1, 8, 4, "900Gbps") + ":span=machine";
  EXPECT_THAT(Collective("all_reduce --bytes 1MiB --ranks 8 --fabric analytical-fifo --network " + many).err,
              HasSubstr("NVSwitches stripe each message over 4 links"));
  EXPECT_THAT(Collective("all_reduce --bytes 1MiB --ranks 16 --network switch:planes=4").err,
              HasSubstr("a device has 4 ports; a message uses one of them"));
}

TEST(NetworkNics, SharedFilesOfNvSwitchesAgree) {
  const std::string folder = absl::StrCat(CHAKRA_SHARED_DATA, "/strangers/parallel_nvswitches");
  if (!std::filesystem::exists(folder)) GTEST_SKIP();
  const std::string call = "all_reduce --ranks 8 --bytes 1GiB --fabric fluid --network " + folder;
  EXPECT_EQ(Micros(call + "/four.txt"), Micros(call + "/one.txt"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
