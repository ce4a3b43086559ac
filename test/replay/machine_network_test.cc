// Clusters with networks: sizes, routing, faults, and ranks that are cut off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "replay/cluster/faults.h"
#include "replay/cluster/load.h"
#include "replay/cluster/options.h"
#include "replay/run/cluster_model.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Kind = TopologyDimension::Kind;

constexpr char kNode[] =
    "dimension { kind: SWITCH size: 4 bandwidth_gbytes_per_s: 300 latency_ns: 25 name: \"node\" } ";

proto::Cluster Cluster(const std::string& topology) {
  proto::Cluster cluster;
  const absl::Status s = ParseMessage("topology { " + topology + " }", "test", &cluster);
  EXPECT_TRUE(s.ok()) << s;
  return cluster;
}

std::string Error(const std::string& topology, int ranks) {
  return std::string(BuildCluster(Cluster(topology), ranks).status().message());
}

TEST(MachineNetworks, SizesTheNetworkToTheRanks) {
  const auto m = BuildCluster(
      Cluster(std::string(kNode) + "dimension { kind: NETWORK network { build: \"leaf_spine:k=16\" } }"), 32);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->topology.devices(), 32);
  const TopologyDimension& d = m->topology.dimensions()[1];
  EXPECT_EQ(d.kind, Kind::kNetwork);
  EXPECT_EQ(d.size, 8);
  EXPECT_EQ(d.network->graph.devices(), 32u);
  EXPECT_EQ(d.bandwidth, Bandwidth::FromGigabytes(50));
  EXPECT_EQ(m->proto.topology().dimension(1).size(), 8);
  EXPECT_EQ(m->proto.topology().dimension(1).network().build(), "leaf_spine:k=16");
  // Ranks of one block need no network.
  EXPECT_EQ(BuildCluster(m->proto, 4)->topology.devices(), 32);
  EXPECT_EQ(BuildCluster(Cluster(std::string(kNode) +
                                 "dimension { kind: NETWORK network { build: \"leaf_spine:k=16\" } }"),
                         4)
                ->topology.dimensions()
                .size(),
            1u);
}

TEST(MachineNetworks, ChecksAndNotesAnUnusedNetwork) {
  const std::string net = std::string(kNode) + "dimension { kind: NETWORK network { build: ";
  EXPECT_THAT(Error(net + "\"fat_tree:kk=4\" } }", 4), HasSubstr("unknown parameter \"kk\""));
  EXPECT_THAT(Error(net + "\"fattree\" } }", 4), HasSubstr("'fat_tree'"));
  const auto m = BuildCluster(Cluster(net + "\"fat_tree\" } }"), 4);
  ASSERT_TRUE(m.ok()) << m.status();
  ASSERT_EQ(m->notes.size(), 1u);
  EXPECT_THAT(m->notes[0], HasSubstr("is not used"));
}

TEST(MachineNetworks, EachRailHasItsOwnNetwork) {
  const auto m = BuildCluster(
      Cluster(std::string(kNode) +
              "dimension { kind: NETWORK network { build: \"leaf_spine:k=4\" span: EACH_RAIL } }"),
      32);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->topology.dimensions()[1].network->graph.devices(), 8u);
  EXPECT_EQ(m->topology.NetworkCopies(1), 4u);
}

TEST(MachineNetworks, FixedShapeMayGiveMoreDevices) {
  const auto m =
      BuildCluster(Cluster("dimension { kind: NETWORK network { build: \"torus:shape=4x4x4\" } }"), 48);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->topology.devices(), 64);
  EXPECT_THAT(Error("dimension { kind: NETWORK network { build: \"torus:shape=4x4x4\" } }", 65),
              HasSubstr("65"));
}

TEST(MachineNetworks, ReadsNetworksFromGraphOrFile) {
  const std::string graph =
      "vertices { name: \"device\" kind: DEVICE count: 4 } vertices { name: \"leaf\" count: 2 tier: 1 } "
      "links { from: \"device\" to: \"leaf\" scheme: BLOCKS bandwidth_gbits_per_s: 400 latency_ns: 500 } "
      "links { from: \"leaf[0]\" to: \"leaf[1]\" bandwidth_gbits_per_s: 100 latency_ns: 500 loss_rate: 0.1 }";
  const auto m = BuildCluster(Cluster("dimension { kind: NETWORK network { graph { " + graph + " } } }"), 4);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->topology.devices(), 4);
  // The link's loss rate.
  ASSERT_EQ(m->link_changes.size(), 2u);
  EXPECT_EQ(m->link_changes[0].bandwidth, 1);
  EXPECT_EQ(m->link_changes[0].loss, 0.1);
  EXPECT_EQ(m->link_changes[0].Left(), 0.9);
  // A fault's loss comes on top of the link's. A link that is down loses nothing.
  const auto more = BuildCluster(
      Cluster("dimension { kind: NETWORK network { graph { " + graph +
              " } } } fault { from: \"leaf.0\" to: \"leaf.1\" loss: 0.5 bandwidth: 0.25 one_way: true "
              "after_us: 1 until_us: 3 } fault { from: \"leaf.0\" to: \"leaf.1\" loss: 0.2 one_way: true } "
              "fault { from: \"leaf.0\" to: \"leaf.1\" one_way: true after_us: 2 until_us: 3 }"),
      4);
  ASSERT_TRUE(more.ok()) << more.status();
  std::vector<std::pair<double, double>> there;
  for (const LinkChange& c : more->link_changes) {
    if (more->topology.LinkName(c.link).find("leaf.0 - leaf.1") == 0) there.push_back({c.bandwidth, c.loss});
  }
  using Parts = std::vector<std::pair<double, double>>;
  EXPECT_EQ(
      there,
      (Parts{{1, 0.2 + 0.1 - 0.2 * 0.1}, {0.25, 0.5 + 0.1 - 0.5 * 0.1}, {0, 0}, {1, 0.2 + 0.1 - 0.2 * 0.1}}));
  const std::string path = ::testing::TempDir() + "/machine_network_test.links";
  std::ofstream(path) << "5 1 4\n4\n0 4 100Gbps 0.001ms 0\n1 4 100Gbps 0.001ms 0\n2 4 100Gbps 0.001ms 0\n"
                         "3 4 100Gbps 0.001ms 0\n";
  const auto file =
      BuildCluster(Cluster("dimension { kind: NETWORK network { file: \"" + path + "\" } }"), 4);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->topology.dimensions()[0].latency, Time::Micros(1));
  EXPECT_THAT(Error("dimension { kind: NETWORK network { file: \"" + path + "\" } }", 5),
              HasSubstr("5 ranks"));
  EXPECT_THAT(Error("dimension { kind: NETWORK size: 8 network { file: \"" + path + "\" } }", 4),
              HasSubstr("of 4 devices; expected 8"));
  std::remove(path.c_str());
  EXPECT_THAT(Error("dimension { kind: NETWORK network { file: \"/no/such\" } }", 4), HasSubstr("/no/such"));
}

TEST(MachineNetworks, RefusesBadNetworks) {
  const std::string net = std::string(kNode) + "dimension { kind: NETWORK ";
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"}", {"dimension[1].network is empty", "one of build, file and graph"}},
      {"network { build: \"leaf_spine\" file: \"x\" } }", {"several ways"}},
      {"network { file: \"net.txt\" } latency_ns: 3 }", {"bandwidth and latency is given"}},
      {"network { build: \"leafspine\" } }", {"no network \"leafspine\"", "leaf_spine"}},
      {"network { build: \"leaf_spine:k=2\" } }", {"k"}},
      {"network { build: \"leaf_spine:link=50\" } }", {"a unit: 50Gb/s (6.25 GB/s) or 50GB/s (400 Gb/s)"}},
      {"network { build: \"leaf_spine:link=400GB/s\" } }", {"400Gb/s would be 50GB/s"}},
      {"network { build: \"leaf_spine:k=16,k=3\" } }", {"k is given twice"}},
  };
  for (const auto& [text, expected] : cases) {
    for (const std::string& part : expected) EXPECT_THAT(Error(net + text, 32), HasSubstr(part)) << text;
  }
  EXPECT_THAT(
      Error("dimension { kind: SWITCH size: 4 bandwidth_gbytes_per_s: 1 network { build: \"x\" } }", 4),
      HasSubstr("kind NETWORK"));
  const std::string routed = net + "network { build: \"leaf_spine\" } } routing { ";
  EXPECT_THAT(Error(routed + "policy: \"spry\" }", 32), HasSubstr("'spray'"));
  EXPECT_THAT(Error(routed + "paths: -1 }", 32),
              HasSubstr("routing.paths is -1; expected a whole number from 1 to 1024, or 0"));
  EXPECT_THAT(Error(routed + "route_file: \"a\" route_file: \"b\" }", 32), HasSubstr("the cluster has 1"));
}

// 16 ranks on 2 leaves and 2 spines.
const char kLeaves[] =
    "dimension { kind: NETWORK network { build: \"leaf_spine:leaves=2,hosts_per_leaf=8,spines=2\" } } ";

TEST(MachineNetworks, FaultsBecomeLinkChanges) {
  const auto m =
      BuildCluster(Cluster(std::string(kLeaves) +
                           "fault { vertex: \"spine.0\" after_us: 5 until_us: 9 } "
                           "fault { from: \"leaf.0\" to: \"spine.0\" bandwidth: 0.5 one_way: true } "
                           "fault { device: 3 loss: 0.2 }"),
                   16);
  ASSERT_TRUE(m.ok()) << m.status();
  std::map<std::string, std::vector<std::pair<int64_t, double>>> changes;
  for (const LinkChange& c : m->link_changes) {
    changes[m->topology.LinkName(c.link)].push_back({c.at.picos() / 1000000, c.Left()});
  }
  using V = std::vector<std::pair<int64_t, double>>;
  EXPECT_EQ(changes["leaf.0 - spine.0 of dim0"], (V{{0, 0.5}, {5, 0}, {9, 0.5}}));
  EXPECT_EQ(changes["spine.0 - leaf.0 of dim0"], (V{{5, 0}, {9, 1}}));
  EXPECT_EQ(changes["leaf.1 - spine.0 of dim0"], (V{{5, 0}, {9, 1}}));
  EXPECT_EQ(changes["device.3 - leaf.0 of dim0"], (V{{0, 0.8}}));
  EXPECT_EQ(changes.size(), 6u);
}

TEST(MachineNetworks, SeedDrawsAShareOfTheLinks) {
  const auto drawn = [](const std::string& fault) {
    const auto m = BuildCluster(
        Cluster("dimension { kind: NETWORK network { build: \"fat_tree:k=8\" } } fault { bandwidth: 0.5 " +
                fault + "}"),
        128);
    EXPECT_TRUE(m.ok()) << m.status();
    std::vector<std::string> names;
    for (const LinkChange& c : m->link_changes) names.push_back(m->topology.LinkName(c.link));
    return names;
  };
  const auto first = drawn("link_class: \"leaf-agg\" share: 0.1 ");
  EXPECT_EQ(first.size(), 26u);  // 13 of 128 links, both directions
  EXPECT_EQ(first, drawn("link_class: \"leaf-agg\" share: 0.1 seed: 1 "));
  EXPECT_NE(first, drawn("link_class: \"leaf-agg\" share: 0.1 seed: 2 "));
  EXPECT_EQ(drawn("share: 1 ").size(), 2u * 384);
}

TEST(MachineNetworks, FaultedDimensionsHaveVertices) {
  const auto m =
      BuildCluster(Cluster(std::string(kNode) +
                           "dimension { kind: SWITCH size: 4 bandwidth_gbytes_per_s: 50 latency_ns: 500 "
                           "name: \"nic\" } fault { dimension: 1 device: 6 bandwidth: 0.5 }"),
                   16);
  ASSERT_TRUE(m.ok()) << m.status();
  ASSERT_EQ(m->link_changes.size(), 2u);
  // Device 6 has the place 2 in node 1.
  EXPECT_EQ(m->topology.LinkName(m->link_changes[0].link), "device.1 - switch of nic (2)");
  EXPECT_EQ(m->proto.topology().dimension(1).kind(), proto::Dimension::SWITCH);
}

TEST(MachineNetworks, RefusesBadFaults) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "names no link; expected one of from and to, vertex, device, or share"},
      {"vertex: \"leaf.0\" device: 1", "links in several ways"},
      {"vertex: \"laef.0\"", "laef.0"},
      {"vertex: \"leaf.2\"", "\"leaf.0\" to \"leaf.1\""},
      {"from: \"leaf.0\" to: \"leaf.1\"", "a vertex that is linked to leaf.0: device.0"},
      {"device: 16", "0 to 15; the nearest is 15"},
      {"link_class: \"hots\"", "'host'"},
      {"share: 1.5", "share is 1.5"},
      {"device: 1 bandwidth: 2", "bandwidth is 2; expected 0 to 1; the nearest is 1"},
      {"device: 1 loss: 5", "5 % is 0.05"},
      {"device: 1 after_us: 5 until_us: 5", "more than after_us, which is 5"},
      {"device: 1 dimension: 1", "dimension is 1; expected 0 to 0"},
      {"device: 1 copy: 1", ""},
      {"vertex: \"leaf.0\" copy: 1 until_us: 1", "copy is 1; expected 0 to 0"},
      {"vertex: \"leaf.0\" one_way: true", "unless with from and to"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(Error(std::string(kLeaves) + "fault { " + text + " }", 16), HasSubstr(expected)) << text;
  }
}

TEST(MachineNetworks, NamesRanksThatAreCutOff) {
  // A leaf that stays down; a leaf that comes back; one of two spines.
  EXPECT_THAT(Error(std::string(kLeaves) + "fault { vertex: \"leaf.1\" }", 16),
              HasSubstr("device 0 cannot reach device 8"));
  EXPECT_EQ(Error(std::string(kLeaves) + "fault { vertex: \"leaf.1\" until_us: 7 }", 16), "");
  EXPECT_EQ(Error(std::string(kLeaves) + "fault { vertex: \"spine.1\" }", 16), "");
  EXPECT_THAT(
      Error(std::string(kLeaves) + "fault { vertex: \"spine.1\" } fault { vertex: \"spine.0\" after_us: 3 }",
            16),
      HasSubstr("cannot reach"));
  // One direction is enough.
  EXPECT_THAT(Error(std::string(kLeaves) + "fault { from: \"device.9\" to: \"leaf.1\" one_way: true }", 16),
              HasSubstr("device 9 cannot reach device 0"));
  // Devices that no rank uses may be cut off.
  const std::string fixed =
      "dimension { kind: NETWORK size: 16 network { build: \"leaf_spine:leaves=2,hosts_per_leaf=8,spines=2\" "
      "} } ";
  EXPECT_EQ(Error(fixed + "fault { vertex: \"device.15\" }", 8), "");
  EXPECT_THAT(Error(fixed + "fault { vertex: \"device.15\" }", 16), HasSubstr("cannot reach device 15"));
  // Messages between dimensions pass through devices without a rank.
  EXPECT_THAT(
      Error("dimension { kind: SWITCH size: 4 bandwidth_gbytes_per_s: 9 } dimension { kind: SWITCH size: 2 "
            "bandwidth_gbytes_per_s: 9 } fault { dimension: 1 device: 2 }",
            5),
      HasSubstr("cannot reach"));
  // On a ring or a full mesh, the other devices forward messages.
  for (const char* kind : {"RING", "FULLY_CONNECTED"}) {
    const std::string dimension =
        absl::StrCat("dimension { kind: ", kind, " size: 4 bandwidth_gbytes_per_s: 9 } ");
    EXPECT_EQ(Error(dimension + "fault { from: \"device.1\" to: \"device.2\" }", 4), "");
    EXPECT_THAT(Error(dimension + "fault { vertex: \"device.1\" }", 4),
                HasSubstr("device 0 cannot reach device 1"));
  }
}

TEST(MachineNetworks, ReadsShortFormsOfOptions) {
  auto cluster = *LoadCluster("dgx-a100");
  std::vector<std::string> notes;
  TopologyOptions options;
  options.network = "leaf_spine:k=16,span=rails";
  options.routing = "flowlet:paths=4,seed=9";
  options.faults = {"down:vertex=leaf.0,copy=2,after=10us,until=1ms", "slow:device=3,bandwidth=0.25"};
  ASSERT_TRUE(ApplyTopologyOptions(options, &cluster, &notes).ok());
  EXPECT_TRUE(notes.empty());
  const proto::Topology& t = cluster.topology();
  ASSERT_EQ(t.dimension_size(), 2);
  EXPECT_EQ(t.dimension(1).network().build(), "leaf_spine:k=16");
  EXPECT_EQ(t.dimension(1).network().span(), proto::Network::EACH_RAIL);
  EXPECT_EQ(t.routing().policy(), "flowlet");
  EXPECT_EQ(t.routing().paths(), 4);
  ASSERT_EQ(t.fault_size(), 2);
  EXPECT_EQ(t.fault(0).dimension(), 1);
  EXPECT_EQ(t.fault(0).after_us(), 10);
  EXPECT_EQ(t.fault(0).until_us(), 1000);
  EXPECT_FALSE(t.fault(0).has_bandwidth());
  EXPECT_EQ(t.fault(1).bandwidth(), 0.25);
  EXPECT_TRUE(BuildCluster(cluster, 64).ok());
  // A network that is a whole machine replaces all dimensions and the library.
  cluster = *LoadCluster("dgx-a100");
  ASSERT_TRUE(ReplaceNetwork("tpu_pod", &cluster, &notes).ok());
  EXPECT_EQ(cluster.topology().dimension_size(), 1);
  EXPECT_FALSE(cluster.collectives().has_library());
  EXPECT_EQ(notes.size(), 1u);
  const std::pair<const char*, const char*> faults[] = {
      {"dwon:device=1", "'down'"},
      {"down:devise=1", "'device'"},
      {"slow:device=1", "bandwidth=0.5"},
      {"lossy:device=1", "loss=0.01"},
      {"lossy:device=1,los=0.01", "'loss'"},
      {"lossy:device=1,loss=1e-4x", "expected a number"},
      {"lossy:device=1,loss=nan", "expected a number"},
      {"lossy:device=1,loss=-0.1", "\": loss is -0.1; expected >= 0 and < 1"},
      {"lossy:device=1,loss=1", "\": loss is 1; expected >= 0 and < 1"},
      {"lossy:device=1,loss=5", "5 % is 0.05"},
      {"down:device=1,loss=0.1", "slow and lossy"},
      {"down:device=-1", "device is -1; expected a whole number >= 0; the nearest is 0"},
      {"down:device=1,after=5", "a unit"},
      {"down", "--fault \"down\": names no link"},
      {"slow:device=1,bandwidth=2", "\": bandwidth is 2;"},
      {"down:device=99", "\": device is 99;"},
      {"down:vertex=x", "\": vertex: there is no"}};
  for (const auto& [fault, expected] : faults) {
    proto::Topology topology = LoadCluster("dgx-a100")->topology();
    const absl::Status added = AddFault(fault, &topology);
    if (!added.ok()) {
      EXPECT_THAT(std::string(added.message()), HasSubstr(expected)) << fault;
      EXPECT_THAT(std::string(added.message()), StartsWith(absl::StrCat("--fault \"", fault, "\": ")));
      EXPECT_EQ(topology.fault_size(), 0);
      continue;
    }
    proto::Cluster bad = *LoadCluster("dgx-a100");
    *bad.mutable_topology() = topology;
    const std::string error(BuildCluster(bad, 16).status().message());
    EXPECT_THAT(error, HasSubstr(expected)) << fault;
    EXPECT_THAT(error, StartsWith(absl::StrCat("--fault \"", fault, "\": ")));
  }
}

TEST(MachineNetworks, LabelReplacesThePlaceInErrors) {
  EXPECT_EQ(Error(std::string(kLeaves) + "fault { device: 1 loss: 5 }", 16),
            "cluster: topology.fault[0].loss is 5; expected >= 0 and < 1; 5 % is 0.05");
  EXPECT_EQ(Error(std::string(kLeaves) + "fault { device: 1 loss: 5 label: \"cut\" }", 16),
            "cut: loss is 5; expected >= 0 and < 1; 5 % is 0.05");
  EXPECT_EQ(Error(std::string(kLeaves) + "fault { label: \"cut\" }", 16),
            "cut: names no link; expected one of from and to, vertex, device, or share");
  EXPECT_THAT(Error(std::string(kLeaves) + "fault { vertex: \"leaf.9\" label: \"cut\" }", 16),
              StartsWith("cut: vertex: there is no vertex"));
  EXPECT_EQ(Error(std::string(kLeaves) + "fault { device: 1 after_us: -1 label: \"cut\" }", 16),
            "cut: after_us is -1; expected 0 to 1000000000000; the nearest is 0");
  proto::Cluster cluster = Cluster(kLeaves);
  cluster.mutable_placement()->set_rule("rando:1");
  EXPECT_THAT(std::string(BuildCluster(cluster, 16).status().message()),
              StartsWith("cluster: placement.rule: there is no placement rule"));
  cluster.mutable_placement()->set_label("seats");
  EXPECT_THAT(std::string(BuildCluster(cluster, 16).status().message()),
              StartsWith("seats: there is no placement rule"));
}

TEST(MachineNetworks, NotesRoutingWithoutANetwork) {
  const auto notes = [](const std::string& network, const std::vector<std::string>& faults) {
    proto::Cluster cluster = *LoadCluster("dgx-h100");
    std::vector<std::string> out;
    const TopologyOptions options{.network = network, .routing = "spray:seed=2", .faults = faults};
    EXPECT_TRUE(ApplyTopologyOptions(options, &cluster, &out).ok());
    return out;
  };
  EXPECT_THAT(notes("", {}),
              ElementsAre("no dimension of the cluster is a network: --routing spray:seed=2 is "
                          "not used"));
  EXPECT_THAT(notes("leaf_spine", {}), IsEmpty());
  // The dimension of a fault becomes a network.
  EXPECT_THAT(notes("", {"slow:device=1,bandwidth=0.5"}), IsEmpty());
}

TEST(MachineNetworks, RefusesImpossiblyFastNics) {
  auto cluster = *LoadCluster("dgx-h100");
  cluster.mutable_topology()->mutable_dimension(1)->set_bandwidth_gbytes_per_s(400);
  EXPECT_THAT(std::string(BuildCluster(cluster, 16).status().message()),
              HasSubstr("dimension[1].bandwidth_gbytes_per_s is 400; expected at most 200 (1.6 Tb/s)"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
