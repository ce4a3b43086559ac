// leaf_spine, fat_tree, rail_optimized, rail_only and multi_plane against formulas and published clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

uint32_t Switches(const Network& n) { return CountOf(n.graph, VertexKind::kSwitch); }

uint32_t Between(const Network& n) {  // links between switches
  return LinksOf(n.graph, "leaf-spine") + LinksOf(n.graph, "leaf-agg") + LinksOf(n.graph, "agg-core");
}

// Expects that the guide offers exactly the arcs that a search for all shortest paths finds.
void ExpectAllShortest(const Network& n, uint32_t step = 1) {
  ASSERT_NE(n.guide, nullptr);
  ShortestPaths paths(n.graph);
  std::vector<uint32_t> guided, searched;
  for (uint32_t to = 0; to < n.graph.devices(); to += step) {
    for (uint32_t at = 0; at < n.graph.vertices(); ++at) {
      guided.clear();
      searched.clear();
      n.guide->Next(at, to, &guided);
      paths.Next(at, to, &searched);
      std::sort(guided.begin(), guided.end());
      ASSERT_EQ(guided, searched) << n.graph.VertexName(at) << " to " << n.graph.VertexName(to);
    }
  }
}

TEST(LeafSpine, CountsAndDistancesFollowTheFormulas) {
  struct Case {
    int k;
    double o;
  };
  for (const Case& c :
       {Case{4, 1}, Case{8, 1}, Case{8, 3}, Case{12, 2}, Case{12, 0.5}, Case{12, 1.0 / 3}, Case{9, 2}}) {
    SCOPED_TRACE(absl::StrCat("k=", c.k, " o=", c.o));
    const int d = static_cast<int>(c.k * c.o / (c.o + 1) + 0.5), u = c.k - d, n = c.k * d;
    const Network net =
        MakeNetwork(absl::StrCat("leaf_spine:k=", c.k, ",oversubscription=", 12 * c.o, ":12"));
    EXPECT_EQ(static_cast<int>(net.graph.devices()), n);
    EXPECT_EQ(static_cast<int>(Switches(net)), c.k + u);
    EXPECT_EQ(static_cast<int>(LinksOf(net.graph, "leaf-spine")), c.k * u);
    EXPECT_EQ(static_cast<int>(LinksOf(net.graph, "host")), n);
    const Distances dist = DeviceDistances(net.graph);
    EXPECT_EQ(dist.diameter, 4);
    EXPECT_NEAR(dist.average, (2.0 * (d - 1) + 4.0 * (n - d)) / (n - 1), 1e-9);
    const auto first = net.graph.devices();
    const uint32_t cut = LinksAcross(net.graph, [&](uint32_t v) {
      return v < first ? static_cast<int>(v) < n / 2 : v < first + static_cast<uint32_t>(c.k / 2);
    });
    if (c.k % 2 == 0) {
      EXPECT_EQ(static_cast<int>(cut), c.k * u / 2);  // leaves in half
    }
    ExpectAllShortest(net);
  }
}

TEST(LeafSpine, AllToAllLoadMatchesFormula) {
  for (const int o : {1, 3}) {
    const Network net = MakeNetwork(absl::StrCat("leaf_spine:k=8,oversubscription=", o));
    const int d = 8 * o / (o + 1), u = 8 - d, n = 8 * d;
    EXPECT_NEAR(BusiestLoad(net, "leaf-spine"), double(d) * (n - d) / u, 1e-6);
    EXPECT_NEAR(BusiestLoad(net, "host"), n - 1, 1e-9);
  }
}

TEST(LeafSpine, BuildsByCountsWithParallelLinks) {
  const Network net = MakeNetwork(
      "leaf_spine:leaves=3,spines=2,hosts_per_leaf=8,links_per_pair=4,link=200Gb/s,latency=1us,uplink=400Gb/"
      "s,"
      "uplink_latency=2us");
  EXPECT_EQ(net.graph.devices(), 24u);
  EXPECT_EQ(Switches(net), 5u);
  EXPECT_EQ(LinksOf(net.graph, "leaf-spine"), 24u);
  for (const LinkClass& c : net.graph.classes()) {
    EXPECT_EQ(c.bandwidth.bytes_per_second(), c.name == "host" ? 25000000000 : 50000000000);
    EXPECT_EQ(c.latency, c.name == "host" ? Time::Micros(1) : Time::Micros(2));
  }
  EXPECT_NEAR(BusiestLoad(net, "leaf-spine"), 8.0 * 16 / 8, 1e-9);
  EXPECT_THAT(net.note, HasSubstr("0.5:1 at the leaves"));
  ExpectAllShortest(net);
  CheckRandomRoutes(net, 200, 4);
}

TEST(LeafSpine, BuildsNeededLeavesAndAllSpines) {
  const Network net = MakeNetwork("leaf_spine:k=16", 20);
  EXPECT_EQ(net.graph.devices(), 20u);
  EXPECT_EQ(Switches(net), 3u + 8u);
  ExpectAllShortest(net);
  // The least even number of ports with room: 14*14/2 = 98 < 100 <= 128.
  EXPECT_EQ(Switches(MakeNetwork("leaf_spine", 100)), 13u + 8u);
  EXPECT_EQ(Switches(MakeNetwork("fat_tree:tiers=2", 100)), 13u + 8u);
}

TEST(FatTree, MatchesAlFaresCounts) {
  struct Case {
    int k;
    double average;
  };
  for (const Case& c : {Case{4, 5.467}, Case{8, 5.717}, Case{6, 0}}) {
    SCOPED_TRACE(c.k);
    const int k = c.k, n = k * k * k / 4;
    const Network net = MakeNetwork(absl::StrCat("fat_tree:k=", k));
    EXPECT_EQ(static_cast<int>(net.graph.devices()), n);
    EXPECT_EQ(static_cast<int>(Switches(net)), 5 * k * k / 4);
    EXPECT_EQ(static_cast<int>(Between(net)), k * k * k / 2);
    EXPECT_EQ(static_cast<int>(LinksOf(net.graph, "host")), n);
    for (uint32_t v = net.graph.devices(); v < net.graph.vertices(); ++v) {
      ASSERT_EQ(static_cast<int>(net.graph.degree(v)), k);
    }
    const Distances dist = DeviceDistances(net.graph);
    EXPECT_EQ(dist.diameter, 6);
    EXPECT_NEAR(dist.average,
                (2.0 * (k / 2 - 1) + 4.0 * (k * k / 4 - k / 2) + 6.0 * (n - k * k / 4)) / (n - 1), 1e-9);
    if (c.average > 0) {
      EXPECT_NEAR(dist.average, c.average, 5e-4);
    }
    ExpectAllShortest(net, k == 8 ? 7 : 1);
  }
}

TEST(FatTree, CutBetweenPodHalvesMatchesFormula) {
  for (const int k : {4, 8}) {
    const Network net = MakeNetwork(absl::StrCat("fat_tree:k=", k));
    const NetworkGraph& g = net.graph;
    const uint32_t n = g.devices();
    // All cores are on one side: each core has equally many links to each half.
    const uint32_t cut = LinksAcross(g, [&](uint32_t v) {
      const VertexGroup& group = g.group(v);
      return group.tier < 3 && v - group.first < group.count / 2;
    });
    EXPECT_EQ(cut, n / 2);
  }
}

TEST(FatTree, AllToAllLoadMatchesFormula) {
  const int k = 4, n = 16;
  const Network net = MakeNetwork("fat_tree:k=4");
  EXPECT_NEAR(BusiestLoad(net, "leaf-agg"), n - k / 2.0, 1e-9);
  EXPECT_NEAR(BusiestLoad(net, "agg-core"), n - k * k / 4.0, 1e-9);
}

TEST(FatTree, OffersAllEqualPaths) {
  const Network net = MakeNetwork("fat_tree:k=8");
  std::vector<uint32_t> arcs;
  const uint32_t leaf = net.graph.target(net.graph.begin(0));
  net.guide->Next(leaf, 4, &arcs);  // the next leaf of the pod
  EXPECT_EQ(arcs.size(), 4u);
  const uint32_t agg = net.graph.target(arcs[0]);
  arcs.clear();
  net.guide->Next(agg, 127, &arcs);  // another pod: (k/2)^2 paths
  EXPECT_EQ(arcs.size(), 4u);
}

TEST(FatTree, BuildsOversubscribedTrees) {
  const Network net = MakeNetwork("fat_tree:k=16,oversubscription=3:1");
  EXPECT_EQ(net.graph.devices(), 1536u);
  EXPECT_EQ(Switches(net), 224u);
  EXPECT_EQ(Between(net), 1024u);
  EXPECT_THAT(net.note, AllOf(HasSubstr("3:1 at the leaves"), HasSubstr("1:1 below the cores")));
  const Network core = MakeNetwork("fat_tree:k=16,core_oversubscription=7");
  EXPECT_EQ(core.graph.devices(), 16u * 14 * 8);
  EXPECT_EQ(LinksOf(core.graph, "agg-core"), 16u * 8 * 2);
  EXPECT_THAT(core.note, HasSubstr("7:1 below the cores"));
  CheckRandomRoutes(net, 300, 6);
  CheckRandomRoutes(core, 300, 6);
}

TEST(FatTree, PartialTreesRouteShortest) {
  // The last of three pods has two and a half leaves.
  const Network net = MakeNetwork("fat_tree:k=8", 16 * 2 + 4 * 2 + 2);
  EXPECT_EQ(Switches(net), 4u + 4 + 3 + 3 * 4 + 16);
  ExpectAllShortest(net);
  const Network one = MakeNetwork("fat_tree:k=8", 1);
  EXPECT_EQ(one.graph.devices(), 1u);
}

TEST(FatTree, BuildsByCounts) {
  const Network net = MakeNetwork(
      "fat_tree:pods=3,leaves_per_pod=4,hosts_per_leaf=6,aggs_per_pod=2,cores_per_agg=5,links_per_pair=3,"
      "uplink=800Gb/s,core_link=200Gb/s,core_latency=5us");
  EXPECT_EQ(net.graph.devices(), 72u);
  EXPECT_EQ(Switches(net), 12u + 6 + 10);
  EXPECT_EQ(LinksOf(net.graph, "leaf-agg"), 3u * 4 * 2 * 3);
  EXPECT_EQ(LinksOf(net.graph, "agg-core"), 3u * 2 * 5);
  EXPECT_EQ(DeviceDistances(net.graph).diameter, 6);
  ExpectAllShortest(net, 5);
}

TEST(PublishedClusters, MatchesDeepSeekTable3) {
  const Network ft2 = MakeNetwork("leaf_spine:k=64");
  EXPECT_EQ(ft2.graph.devices(), 2048u);
  EXPECT_EQ(Switches(ft2), 96u);
  EXPECT_EQ(Between(ft2), 2048u);
  // Each end point has its own port in each plane: 8 planes of 2,048 have 16,384 end points.
  const Network planes = MakeNetwork("multi_plane:planes=8,of=(fat_tree:k=64,tiers=2)");
  EXPECT_EQ(LinksOf(planes.graph, "host"), 16384u);
  EXPECT_EQ(Switches(planes), 768u);
  EXPECT_EQ(Between(planes), 16384u);
  const Network ft3 = MakeNetwork("fat_tree:k=64");
  EXPECT_EQ(ft3.graph.devices(), 65536u);
  EXPECT_EQ(Switches(ft3), 5120u);
  EXPECT_EQ(Between(ft3), 131072u);
}

TEST(PublishedClusters, MatchesHpn) {
  // 15 segments of 128 nodes, two planes: 240 leaves, 120 spines, 128 devices a leaf.
  const Network net = MakeNetwork(
      "multi_plane:planes=2,split=no,of=(rail_optimized:nodes_per_unit=128,spines=60,link=200Gb/"
      "s,uplink=400Gb/s)",
      15360);
  EXPECT_EQ(net.graph.devices(), 15360u);
  EXPECT_EQ(Switches(net), 240u + 120u);
  EXPECT_EQ(Between(net), 240u * 60);
  EXPECT_THAT(net.note, HasSubstr("1.067:1 at the leaves"));
  CheckRandomRoutes(net, 200, 4);
}

TEST(PublishedClusters, MatchesFireFlyerMegaScaleAndLlama) {
  // Fire-Flyer 2: a zone of 800 ports has 40 leaves and 20 spines of 40 ports.
  const Network fire = MakeNetwork("leaf_spine:k=40");
  EXPECT_EQ(fire.graph.devices(), 800u);
  EXPECT_EQ(Switches(fire), 60u);
  // MegaScale: three layers of 64-port switches, 1:1, 12,288 devices.
  const Network mega = MakeNetwork("fat_tree:k=64", 12288);
  EXPECT_EQ(Switches(mega), 384u + 384 + 1024);
  EXPECT_EQ(LinksOf(mega.graph, "leaf-agg"), 12288u);
  EXPECT_EQ(LinksOf(mega.graph, "agg-core"), 12288u);
  CheckRandomRoutes(mega, 200, 6);
  // Llama 3: 8 pods of 192 racks of 16 devices, 1:7 between pods (27.4 links: 28).
  const Network llama = MakeNetwork(
      "fat_tree:pods=8,leaves_per_pod=192,hosts_per_leaf=16,cores_per_agg=28,links_per_pair=4", 24576);
  EXPECT_EQ(llama.graph.devices(), 24576u);
  EXPECT_THAT(llama.note, HasSubstr("27.43:1 below the cores"));
}

TEST(PublishedClusters, SixteenThousandDevicesNeedLittleMemory) {
  const Network net = MakeNetwork("fat_tree", 16384);
  EXPECT_EQ(net.graph.devices(), 16384u);
  EXPECT_LT(net.graph.MemoryBytes(), 50u << 20);
  CheckRandomRoutes(net, 200, 6);
}

TEST(RailOptimized, DevicesOfOnePlaceShareALeaf) {
  const Network net = MakeNetwork("rail_optimized:gpus_per_node=4,nodes_per_unit=8", 4 * 8 * 2 + 6);
  const NetworkGraph& g = net.graph;
  const auto leaf = [&](uint32_t d) { return g.target(g.begin(d)); };
  for (uint32_t d = 0; d < g.devices(); ++d) {
    EXPECT_EQ(leaf(d), g.devices() + d / 32 * 4 + d % 4) << d;
  }
  EXPECT_EQ(Switches(net), 12u + 8u);
  EXPECT_EQ(DeviceDistances(g).diameter, 4);
  EXPECT_EQ(LinksFrom(g, 0)[4], 2);
  EXPECT_EQ(LinksFrom(g, 0)[1], 4);
  ExpectAllShortest(net);
}

TEST(RailOptimized, BuildsSuperPodAndThirdTier) {
  const Network pod = MakeNetwork("rail_optimized", 1024);  // 4 units of 32 nodes
  EXPECT_EQ(Switches(pod), 32u + 32u);
  EXPECT_EQ(Between(pod), 32u * 32);
  const Network two = MakeNetwork("rail_optimized", 2048);
  EXPECT_EQ(two.graph.groups().size(), 3u);
  // More than 64 leaves do not fit on spines of 64 ports.
  const Network three = MakeNetwork("rail_optimized", 4096);
  EXPECT_EQ(Switches(three), 128u + 4 * 32 + 32 * 32);
  EXPECT_EQ(LinksOf(three.graph, "agg-core"), 4u * 32 * 32);
  CheckRandomRoutes(three, 200, 6);
  const Network small = MakeNetwork("rail_optimized:gpus_per_node=2,nodes_per_unit=2,k=4,tiers=3", 15);
  EXPECT_EQ(DeviceDistances(small.graph).diameter, 6);
  ExpectAllShortest(small);
  EXPECT_EQ(MakeNetwork("rail_optimized:units=3").graph.devices(), 768u);
}

TEST(RailOnly, CrossesInsideTheNodeFirst) {
  const Network net = MakeNetwork("rail_only:gpus_per_node=4", 12);
  const NetworkGraph& g = net.graph;
  EXPECT_TRUE(g.devices_forward());
  EXPECT_EQ(CountOf(g, VertexKind::kNvSwitch), 3u);
  EXPECT_EQ(Switches(net), 4u);
  std::mt19937_64 random(1);
  // Device 1 (node 0, rail 1) to device 7 (node 1, rail 3): over device 3.
  std::vector<std::string> names;
  for (const uint32_t v : RandomRoute(net, nullptr, 1, 7, &random)) names.push_back(g.VertexName(v));
  EXPECT_THAT(names, ::testing::ElementsAre("device.1", "nvswitch.0", "device.3", "rail3.leaf", "device.7"));
  // For each NIC, G - K bytes go to other domains; inside, G - G/K bytes are forwarded or local.
  EXPECT_NEAR(BusiestLoad(net, "host"), 12 - 4, 1e-9);
  EXPECT_NEAR(BusiestLoad(net, "scale-up"), 12 - 12 / 4, 1e-9);
  CheckRandomRoutes(net, 200, 4);
}

TEST(RailOnly, EveryVertexReachesEveryDevice) {
  // 4 ports a switch: rails of one, two and three tiers.
  for (const int nodes : {1, 4, 7, 12}) {
    SCOPED_TRACE(nodes);
    const Network net = MakeNetwork("rail_only:gpus_per_node=3,k=4", nodes * 3);
    const NetworkGraph& g = net.graph;
    std::mt19937_64 random(3);
    for (uint32_t v = 0; v < g.vertices(); ++v) {
      for (uint32_t device = 0; device < g.devices(); ++device) {
        RandomRoute(net, nullptr, v, device, &random);
        if (g.group(v).tier < 2) RandomRoute(net, nullptr, device, v, &random);
      }
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST(MultiPlane, SharesTheRateAndUsesAllPlanes) {
  const Network net = MakeNetwork("multi_plane:planes=4,of=(leaf_spine:k=4,link=400Gb/s,uplink=100Gb/s)");
  EXPECT_EQ(net.graph.devices(), 8u);
  EXPECT_EQ(Switches(net), 4u * 6);
  EXPECT_EQ(net.graph.link_class(net.graph.begin(0)).bandwidth.bytes_per_second(), 12500000000);
  EXPECT_EQ(net.graph.link_class(net.graph.arcs() - 1).bandwidth.bytes_per_second(), 12500000000);
  std::vector<uint32_t> arcs;
  net.guide->Next(0, 7, &arcs);
  EXPECT_EQ(arcs.size(), 4u);
  ExpectAllShortest(net);
  EXPECT_EQ(net.graph.VertexName(net.graph.target(arcs[3])), "plane3.leaf.0");
  const Network whole = MakeNetwork("multi_plane:planes=2,split=no,of=(leaf_spine:k=4)");
  EXPECT_EQ(whole.graph.link_class(whole.graph.begin(0)).bandwidth.bytes_per_second(), 50000000000);
  // A part without a guide: routes are searched, and also use all planes.
  const Network stars = MakeNetwork("multi_plane:planes=3,of=(switch)", 5);
  EXPECT_EQ(stars.guide, nullptr);
  EXPECT_NEAR(BusiestLoad(stars, "link"), 4.0 / 3, 1e-9);
}

TEST(MultiPlane, BuildsNestedPlanes) {
  const Network net = MakeNetwork("multi_plane:planes=2,of=(multi_plane:planes=2,of=(fat_tree:k=4))");
  EXPECT_EQ(Switches(net), 4u * 20);
  EXPECT_EQ(net.graph.degree(0), 4u);
  ExpectAllShortest(net, 3);
}

TEST(Nics, DevicesSharePortsAndRates) {
  const Network net = MakeNetwork("leaf_spine:k=4,devices_per_nic=3,pcie=64GB/s,pcie_latency=200ns");
  EXPECT_EQ(net.graph.devices(), 24u);
  EXPECT_EQ(CountOf(net.graph, VertexKind::kNic), 8u);
  EXPECT_EQ(LinksOf(net.graph, "pcie"), 24u);
  const LinkClass& pcie = net.graph.link_class(net.graph.begin(5));
  EXPECT_EQ(pcie.bandwidth.bytes_per_second(), 64000000000);
  EXPECT_EQ(pcie.latency, Time::Nanos(200));
  const Distances d = DeviceDistances(net.graph);
  EXPECT_EQ(d.diameter, 6);
  ExpectAllShortest(net);
  // The last NIC has only one device.
  const Network odd = MakeNetwork("fat_tree:devices_per_nic=2", 13);
  EXPECT_EQ(CountOf(odd.graph, VertexKind::kNic), 7u);
  ExpectAllShortest(odd);
  // A NIC with one port to each plane.
  const Network planes = MakeNetwork("multi_plane:planes=2,pcie=50GB/s,of=(leaf_spine:k=4)");
  EXPECT_EQ(CountOf(planes.graph, VertexKind::kNic), 8u);
  EXPECT_EQ(planes.graph.degree(8), 3u);
  ExpectAllShortest(planes);
  // NICs inside the part: one for each plane.
  const Network cards = MakeNetwork("multi_plane:planes=2,of=(leaf_spine:k=4,pcie=50GB/s)");
  EXPECT_EQ(CountOf(cards.graph, VertexKind::kNic), 16u);
  ExpectAllShortest(cards);
  const Network rails = MakeNetwork("rail_optimized:gpus_per_node=4,nodes_per_unit=2,devices_per_nic=2", 16);
  EXPECT_EQ(Switches(rails), 4u + 2);
  ExpectAllShortest(rails);
}

TEST(TreeErrors, NameTheFieldAndTheNearestValue) {
  struct Case {
    const char* spec;
    int devices;
    const char* part;
  };
  for (const Case& c : {
           Case{"fat_tree", 0, "k is \"\"; expected the ports of a switch"},
           {"fat_tree:k=7", 0, "k is \"7\"; expected an even number, 8 for instance"},
           {"fat_tree:k=1", 0, "the nearest is 2"},
           {"fat_tree:k=16", 4000, "4000 devices, but room for 1024 only; expected k=26"},
           {"fat_tree:k=16,oversubscription=2", 0, "18 for instance"},
           {"fat_tree:k=16,oversubscription=100", 0, "the nearest is 64:1"},
           {"fat_tree:k=16,oversubscription=1:x", 0,
            "oversubscription is \"1:x\"; expected ports down : ports up"},
           {"fat_tree:k=16,oversubscription=0", 0, "expected ports down : ports up"},
           {"fat_tree:oversubscription=1.2345", 10, "oversubscription is \"1.2345\"; expected a ratio"},
           {"fat_tree:tiers=4,k=4", 0, "tiers is \"4\""},
           {"fat_tree:tiers=2,pods=4,k=4", 0, "pods is \"4\"; expected tiers=3"},
           {"fat_tree:tiers=2", 1 << 30, "expected at most 8388608, with k=4096"},
           {"fat_tree:k=4096", 0, "expected at most 4194304"},
           {"fat_tree:pods=2", 0, "hosts_per_leaf is \"\"; expected how many"},
           {"fat_tree:pods=2,hosts_per_leaf=4", 0, "leaves_per_pod is \"\""},
           {"fat_tree:pods=2,hosts_per_leaf=4,leaves_per_pod=4", 100,
            "100 devices, but room for 32 only; expected pods=7"},
           {"fat_tree:pods=8,leaves_per_pod=192,hosts_per_leaf=16,core_oversubscription=7:1", 0,
            "cores_per_agg is \"\"; expected a value, because"},
           {"fat_tree:k=8,hosts_per_leaf=6", 0, "k is \"8\"; expected at least 12"},
           {"fat_tree:link=400GB/s,k=4", 0, "400Gb/s would be 50GB/s"},
           {"fat_tree:link=400,k=4", 0, "link is \"400\"; expected a unit"},
           {"fat_tree:kk=4", 0, "unknown parameter \"kk\""},
           {"leaf_spine:k=4", 9, "9 devices, but room for 8 only; expected k=6"},
           {"leaf_spine:leaves=2,hosts_per_leaf=3", 9, "9 devices, but room for 6 only; expected leaves=3"},
           {"leaf_spine:hosts_per_leaf=5,leaves=2,links_per_pair=2", 0,
            "spines is \"\"; expected a value, because"},
           {"leaf_spine:hosts_per_leaf=65536,leaves=65536,spines=65536,links_per_pair=65536", 1 << 22,
            "links"},
           {"leaf_spine:k=4,devices_per_nic=0", 0, "devices_per_nic is \"0\""},
           {"rail_optimized:k=32", 256, "k is \"32\"; expected at least 64"},
           {"rail_optimized:gpus_per_node=3,devices_per_nic=2", 0,
            "gpus_per_node is \"3\"; expected a multiple of devices_per_nic (2), 4 for instance"},
           {"rail_optimized:oversubscription=5", 0, "spines=6 is the nearest"},
           {"rail_optimized:units=1", 300, "300 devices, but room for 256 only; expected units=2"},
           {"rail_optimized:tiers=2,k=64", 4096, "room for 2048 only; expected k=128"},
           {"rail_optimized:tiers=1", 64, "the nearest is 2"},
           {"rail_only", 12, "12 devices; expected whole nodes of 8: 16 for instance"},
           {"rail_only", 0, "nodes is \"\"; expected how many"},
           {"rail_only:core_link=5", 8, "core_link is \"5\"; expected a unit"},
           {"rail_only:nodes=2", 24, "24 devices, but room for 16 only; expected nodes=3"},
           {"rail_only:gpus_per_node=1,k=4", 17, "k is \"4\"; expected at least 5 for 17 nodes"},
           {"multi_plane", 4, "of is \"\"; expected a network in parentheses"},
           {"multi_plane:of=(fat_tree:k=5)", 4, "multi_plane: of: fat_tree: k is \"5\""},
           {"multi_plane:of=(nonsense)", 4, "there is no network \"nonsense\""},
           {"multi_plane:of=(torus:shape=2x2x2)", 8, "do not forward messages"},
           {"multi_plane:planes=65,of=(switch)", 4, "the nearest is 64"},
           {"multi_plane:planes=64,of=(multi_plane:planes=64,of=(leaf_spine:k=130))", 0,
            "copies of a network of"},
       }) {
    EXPECT_THAT(NetworkError(c.spec, c.devices), HasSubstr(c.part)) << c.spec;
  }
  std::string deep = "switch";
  for (int i = 0; i < 2000; ++i) deep = absl::StrCat("multi_plane:planes=1,of=(", deep, ")");
  EXPECT_THAT(NetworkError(deep, 4), HasSubstr("of nests 2000 networks; expected at most 8"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
