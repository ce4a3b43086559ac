#include "backends/topology/inputs/links_file.h"

#include <gmock/gmock.h>

#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

ReadNetwork Read(const std::string& text) {
  auto read = ReadLinksFile(text, "net.txt");
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *std::move(read) : ReadNetwork();
}

std::string Error(const std::string& text) {
  const auto read = ReadLinksFile(text, "net.txt");
  return read.ok() ? "" : std::string(read.status().message());
}

TEST(LinksFile, HostsListedFirstKeepTheirNumbers) {
  const ReadNetwork r =
      Read("5 1 4\n4\n0 4 400Gbps 0.0005ms 0\n1 4 50GB/s 500ns 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n");
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.devices(), 4u);
  EXPECT_EQ(g.vertices(), 5u);
  EXPECT_EQ(g.links(), 4u);
  EXPECT_EQ(g.classes().size(), 2u);  // 400 Gb/s is 50 GB/s
  const LinkClass& a = g.link_class(g.FindArc(0, 4));
  EXPECT_EQ(a.bandwidth.bytes_per_second(), 50000000000);
  EXPECT_EQ(a.latency, Time::Nanos(500));
  EXPECT_EQ(g.class_of(g.FindArc(0, 4)), g.class_of(g.FindArc(1, 4)));
  EXPECT_EQ(a.name, "device-switch");
  EXPECT_EQ(g.VertexName(4), "switch");
  EXPECT_EQ(g.kind(4), VertexKind::kSwitch);
  EXPECT_FALSE(g.devices_forward());
  EXPECT_EQ(DeviceDistances(g).diameter, 2);
  EXPECT_THAT(r.notes, ::testing::ElementsAre("switch: nodes 4"));
}

TEST(LinksFile, HostsAfterSwitchesAreRenumbered) {
  // In HPCC's sample, node 0 is the switch.
  const ReadNetwork r = Read("3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 25Gbps 1us 0\n");
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.devices(), 2u);
  EXPECT_EQ(g.link_class(g.FindArc(0, 2)).bandwidth.bytes_per_second(), 12500000000);
  EXPECT_EQ(g.link_class(g.FindArc(1, 2)).bandwidth.bytes_per_second(), 3125000000);
  EXPECT_THAT(r.notes, Contains(AllOf(HasSubstr("ranks 0 to 1"), HasSubstr("nodes 1-2"))));
}

TEST(LinksFile, ReadsSimAiNvSwitchesAndTiers) {
  // 2 servers of 2 devices, an NVSwitch in each server, a leaf for each place in a server, one spine.
  const std::string text =
      "9 2 2 3 10 H100\n4 5 6 7 8\n"
      "0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps "
      "0.000025ms 0\n"
      "0 6 400Gbps 0.0005ms 0\n2 6 400Gbps 0.0005ms 0\n1 7 400Gbps 0.0005ms 0\n3 7 400Gbps 0.0005ms 0\n"
      "6 8 400Gbps 0.0005ms 0.125\n7 8 400Gbps 0.0005ms 0\n";
  const ReadNetwork r = Read(text);
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.devices(), 4u);
  EXPECT_EQ(CountOf(g, VertexKind::kNvSwitch), 2u);
  EXPECT_EQ(CountOf(g, VertexKind::kSwitch), 3u);
  EXPECT_EQ(LinksOf(g, "device-nvswitch"), 4u);
  EXPECT_EQ(LinksOf(g, "switch-switch"), 2u);
  EXPECT_EQ(g.link_class(g.FindArc(0, 4)).latency, Time::Nanos(25));
  EXPECT_EQ(g.link_class(g.FindArc(0, 4)).bandwidth.bytes_per_second(), 360000000000);
  EXPECT_EQ(r.network.note, "2 H100 a server");
  const auto spine = g.FindVertex("switch_tier2");
  EXPECT_FALSE(spine.ok());  // a name that ends in a digit keeps its number
  ASSERT_TRUE(g.FindVertex("switch_tier2.0").ok());
  EXPECT_EQ(*g.FindVertex("switch_tier2.0"), 8u);
  EXPECT_EQ(g.group(8).tier, 2);
  EXPECT_EQ(g.group(6).tier, 1);
  ASSERT_EQ(r.losses.size(), 1u);
  EXPECT_EQ(r.losses[0].arc, g.FindArc(6, 8));
  EXPECT_EQ(r.losses[0].rate, 0.125);
  EXPECT_EQ(DeviceDistances(g).diameter, 4);
  CheckRandomRoutes(r.network, 50, 4);
}

TEST(LinksFile, KeepsAndNotesParallelLinks) {
  const ReadNetwork r =
      Read("3 1 4 2 0 2 10Gbps 1us 0 2 0 10Gbps 1us 0.5 0 2 10Gbps 1us 0.25 1 2 10Gbps 1us 0");
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.links(), 4u);
  EXPECT_EQ(g.degree(0), 3u);
  ASSERT_EQ(r.losses.size(), 2u);  // by arc
  const auto loss = [&](uint32_t arc) {
    for (const LinkLoss& l : r.losses) {
      if (l.arc == arc || l.arc == g.reverse(arc)) return l.rate;
    }
    return 0.0;
  };
  EXPECT_EQ(loss(g.begin(0)), 0);
  EXPECT_EQ(loss(g.begin(0) + 1), 0.5);
  EXPECT_EQ(loss(g.begin(0) + 2), 0.25);
  EXPECT_THAT(r.notes, Contains(HasSubstr("2 of 4 links are parallel")));
}

// The hybrid cube mesh of DGX-1: two squares with diagonals, and links between the squares. Some links have
// two lanes.
TEST(LinksFile, HostsForwardWithoutSwitches) {
  std::string text = "8 0 16\n";
  for (const int s : {0, 4}) {
    for (const auto& [a, b, lanes] :
         {std::tuple{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {1, 2, 2}, {1, 3, 1}, {2, 3, 2}})
      absl::StrAppend(&text, s + a, " ", s + b, " ", lanes * 200, "Gbps 25ns 0\n");
  }
  for (int i = 0; i < 4; ++i)
    absl::StrAppend(&text, i, " ", i + 4, " ", i % 3 == 0 ? 400 : 200, "Gbps 25ns 0\n");
  const ReadNetwork r = Read(text);
  EXPECT_TRUE(r.network.graph.devices_forward());
  EXPECT_EQ(DeviceDistances(r.network.graph).diameter, 2);
  EXPECT_THAT(r.notes, Contains(HasSubstr("no switches: hosts forward messages")));
  CheckRandomRoutes(r.network, 50, 2);
}

TEST(LinksFile, ReadsRatesAndDelaysInAllUnits) {
  const std::pair<const char*, int64_t> rates[] = {
      {"8bps", 1},         {"8kbps", 1000},      {"1KB/s", 1000},          {"1KiB/s", 1024},
      {"1MiBps", 1048576}, {"1Gb/s", 125000000}, {"0.1Tbps", 12500000000}, {"1.5e3MBps", 1500000000}};
  for (const auto& [text, bytes] : rates) {
    const ReadNetwork r = Read(absl::StrCat("2 0 1\n0 1 ", text, " 1ns 0"));
    EXPECT_EQ(r.network.graph.classes()[0].bandwidth.bytes_per_second(), bytes) << text;
  }
  const std::pair<const char*, int64_t> delays[] = {{"0s", 0},           {"7ps", 7},
                                                    {"1ns", 1000},       {"1us", 1000000},
                                                    {"1ms", 1000000000}, {"1s", 1000000000000},
                                                    {"5e-7s", 500000}};
  for (const auto& [text, picos] : delays) {
    const ReadNetwork r = Read(absl::StrCat("2 0 1\n0 1 1Gbps ", text, " 0"));
    EXPECT_EQ(r.network.graph.classes()[0].latency.picos(), picos) << text;
  }
}

TEST(LinksFile, ErrorsNameLineAndCause) {
  const std::string ok = "3 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n";
  ASSERT_EQ(Error(ok), "");
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"", {"net.txt:1", "nodes", "missing"}},
      {"3 x 2", {"net.txt:1", "switches", "\"x\"", "0 to"}},
      {"3 3 2\n", {"no host", "at least 4"}},
      {"99 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n", {"98 hosts", "2 links"}},
      {"3 1 2000000\n", {"too short"}},
      {"3000000000 1 2\n", {"nodes", "3000000000"}},
      {"3 1 2\n3\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n", {"net.txt:2", "switch 0", "\"3\"", "0 to 2"}},
      {"4 2 2\n2 2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n", {"net.txt:2", "switch 1", "not listed yet"}},
      {"3 1 2\n2\n0 2 10Gbps 1us 0\n1 3 10Gbps 1us 0\n", {"net.txt:4", "link 1", "\"3\""}},
      {"3 1 2\n2\n0 2 10Gbps 1us 0\n1 1 10Gbps 1us 0\n", {"net.txt:4", "a different node from the first"}},
      {"3 1 2\n2\n0 2 10 1us 0\n1 2 10Gbps 1us 0\n", {"net.txt:3", "rate", "\"10\"", "400Gbps"}},
      {"3 1 2\n2\n0 2 0Gbps 1us 0\n1 2 10Gbps 1us 0\n", {"net.txt:3", "rate"}},
      {"3 1 2\n2\n0 2 10Gbps 1 0\n1 2 10Gbps 1us 0\n", {"net.txt:3", "delay", "\"1\""}},
      {"3 1 2\n2\n0 2 10Gbps 2s 0\n1 2 10Gbps 1us 0\n", {"net.txt:3", "delay", "up to 1s"}},
      {"3 1 2\n2\n0 2 10Gbps 1us 1\n1 2 10Gbps 1us 0\n", {"net.txt:3", "error rate", "below 1"}},
      {"3 1 2\n2\n0 2 10Gbps 1us nan\n1 2 10Gbps 1us 0\n", {"error rate"}},
      {"3 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us\n", {"error rate", "file ends"}},
      {ok + "0 2 10Gbps 1us 0\n", {"net.txt:5", "after the last link"}},
      {"4 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n", {"node 3", "without a link"}},
      {"4 2 2\n2 3\n0 2 10Gbps 1us 0\n1 3 10Gbps 1us 0\n", {"node 1 (rank 1)", "from node 0"}},
      {"4 1 3\n3\n0 3 10Gbps 1us 0\n1 3 10Gbps 1us 0\n1 2 10Gbps 1us 0\n",
       {"node 2", "through switches"}},  // with switches, hosts do not forward
      {"4 0 2\n0 1 10Gbps 1us 0\n2 3 10Gbps 1us 0\n", {"node 2", "from node 0"}},
  };
  for (const auto& [text, parts] : cases) {
    const std::string error = Error(text);
    for (const std::string& part : parts) EXPECT_THAT(error, HasSubstr(part)) << text;
    EXPECT_THAT(error, ::testing::StartsWith("net.txt:")) << text;
  }
}

TEST(LinksFile, HostsMaySharePairwiseSwitches) {
  // Each pair of three hosts shares a switch; no switch has all of them.
  EXPECT_EQ(Error("6 3 6\n3 4 5\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 4 1Gbps 1us 0\n"
                  "2 5 1Gbps 1us 0\n0 5 1Gbps 1us 0\n"),
            "");
  // Without the last link, 0 and 2 share no switch.
  EXPECT_THAT(Error("6 3 5\n3 4 5\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 4 1Gbps 1us 0\n2 5 "
                    "1Gbps 1us 0\n"),
              HasSubstr("node 2 (rank 2)"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
