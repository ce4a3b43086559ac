#include "backends/topology/measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/topology/expand.h"
#include "backends/topology/measure/max_flow.h"
#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

constexpr double kLink = 50e9;  // B/s

LinkClass Class(const char* name, double gbits = 400) {
  return {name, Bandwidth::FromGigabytes(gbits / 8), Time::Nanos(500)};
}

// A torus or mesh of devices that forward messages.
NetworkGraph TorusOf(const std::vector<int>& shape, bool wrap = true) {
  GraphBuilder b;
  uint32_t n = 1;
  for (const int k : shape) n *= static_cast<uint32_t>(k);
  b.AddVertices("device", VertexKind::kDevice, n, 0, shape);
  b.set_devices_forward(true);
  const uint16_t link = b.AddClass(Class("link"));
  uint32_t stride = 1;
  for (const int k : shape) {
    const auto size = static_cast<uint32_t>(k);
    for (uint32_t v = 0; v < n; ++v) {
      const uint32_t at = v / stride % size;
      if (at + 1 < size) b.AddLink(v, v + stride, link);
      if (at + 1 == size && wrap && size > 2) b.AddLink(v, v - at * stride, link);
    }
    stride *= size;
  }
  return *b.Build();
}

// The three-tier fat tree of switches with k ports.
NetworkGraph FatTree(uint32_t k) {
  GraphBuilder b;
  const uint32_t h = k / 2, pods = k, edges = k * h;
  const uint32_t hosts = b.AddVertices("device", VertexKind::kDevice, edges * h);
  const uint32_t edge = b.AddVertices("edge", VertexKind::kSwitch, edges, 1);
  const uint32_t agg = b.AddVertices("aggregation", VertexKind::kSwitch, edges, 2);
  const uint32_t core = b.AddVertices("core", VertexKind::kSwitch, h * h, 3);
  const uint16_t host = b.AddClass(Class("host")), up = b.AddClass(Class("up"));
  for (uint32_t d = 0; d < edges * h; ++d) b.AddLink(hosts + d, edge + d / h, host);
  for (uint32_t pod = 0; pod < pods; ++pod) {
    for (uint32_t i = 0; i < h; ++i) {
      for (uint32_t j = 0; j < h; ++j) {
        b.AddLink(edge + pod * h + i, agg + pod * h + j, up);
        b.AddLink(agg + pod * h + i, core + i * h + j, up);
      }
    }
  }
  return *b.Build();
}

// Leaves of d devices and u uplinks, one to each spine.
NetworkGraph LeafSpine(uint32_t leaves, uint32_t d, uint32_t u) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, leaves * d);
  const uint32_t leaf = b.AddVertices("leaf", VertexKind::kSwitch, leaves, 1);
  const uint32_t spine = b.AddVertices("spine", VertexKind::kSwitch, u, 2);
  const uint16_t host = b.AddClass(Class("host")), up = b.AddClass(Class("up"));
  for (uint32_t v = 0; v < leaves * d; ++v) b.AddLink(v, leaf + v / d, host);
  for (uint32_t l = 0; l < leaves; ++l) {
    for (uint32_t s = 0; s < u; ++s) b.AddLink(leaf + l, spine + s, up);
  }
  return *b.Build();
}

NetworkGraph Random(uint64_t seed, uint32_t devices, uint32_t switches, uint32_t links, bool forward) {
  std::mt19937_64 random(seed);
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, devices);
  if (switches > 0) b.AddVertices("switch", VertexKind::kSwitch, switches, 1);
  b.set_devices_forward(forward);
  const uint16_t link = b.AddClass(Class("link"));
  for (uint32_t i = 0; i < links; ++i) {
    const auto x = static_cast<uint32_t>(random() % (devices + switches));
    const auto y = static_cast<uint32_t>(random() % (devices + switches));
    if (x != y) b.AddLink(x, y, link);
  }
  return *b.Build();
}

double RingSum(int k) { return k % 2 == 0 ? k / 4.0 : (k * k - 1) / (4.0 * k); }

TEST(MeasureDistances, MatchesClosedForms) {
  const MeasureOptions o;
  const DistanceFigures ring = MeasureDistances(TorusOf({9}), o);
  EXPECT_EQ(ring.diameter, 4);
  EXPECT_DOUBLE_EQ(ring.average, 9.0 / 8 * RingSum(9));
  const DistanceFigures torus = MeasureDistances(TorusOf({4, 4, 8}), o);
  EXPECT_EQ(torus.diameter, 8);
  EXPECT_DOUBLE_EQ(torus.average, 128.0 / 127 * (2 * RingSum(4) + RingSum(8)));
  const DistanceFigures mesh = MeasureDistances(TorusOf({5, 3}, false), o);
  EXPECT_EQ(mesh.diameter, 6);
  EXPECT_DOUBLE_EQ(mesh.average, 15.0 / 14 * (24 / 15.0 + 8 / 9.0));
  const DistanceFigures star = MeasureDistances(LeafSpine(1, 8, 0), o);
  EXPECT_EQ(star.diameter, 2);
  EXPECT_DOUBLE_EQ(star.average, 2);
  for (const int k : {4, 8}) {
    const double n = k * k * k / 4.0;
    const DistanceFigures tree = MeasureDistances(FatTree(static_cast<uint32_t>(k)), o);
    EXPECT_EQ(tree.diameter, 6);
    EXPECT_DOUBLE_EQ(tree.average,
                     (2 * (k / 2.0 - 1) + 4 * (k * k / 4.0 - k / 2.0) + 6 * (n - k * k / 4.0)) / (n - 1));
    EXPECT_TRUE(tree.exact);
    EXPECT_EQ(tree.devices, n);
    EXPECT_EQ(tree.unreachable, 0u);
  }
}

TEST(MeasureDistances, MatchesSearchFromEveryDevice) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const bool forward = seed % 3 == 0;
    const NetworkGraph g =
        Random(seed, 5 + seed % 90, seed % 7, static_cast<uint32_t>(20 + seed * 3), forward);
    int diameter = 0;
    double sum = 0;
    uint64_t pairs = 0, unreachable = 0;
    for (uint32_t a = 0; a < g.devices(); ++a) {
      const std::vector<int> d = LinksFrom(g, a);
      for (uint32_t b = 0; b < g.devices(); ++b) {
        if (a == b) continue;
        if (d[b] < 0) {
          ++unreachable;
          continue;
        }
        diameter = std::max(diameter, d[b]);
        sum += d[b];
        ++pairs;
      }
    }
    const DistanceFigures f = MeasureDistances(g, {});
    EXPECT_EQ(f.diameter, diameter) << seed;
    EXPECT_EQ(f.unreachable, unreachable) << seed;
    EXPECT_DOUBLE_EQ(f.average, pairs == 0 ? 0 : sum / static_cast<double>(pairs)) << seed;
    for (const auto& [a, b] : f.examples) EXPECT_LT(LinksFrom(g, a)[b], 0) << seed;
    EXPECT_EQ(f.examples.empty(), unreachable == 0) << seed;
  }
}

TEST(MeasureDistances, SamplesAboveTheBudget) {
  MeasureOptions o;
  o.distance_budget = 1;
  const NetworkGraph g = TorusOf({16, 16});
  const DistanceFigures f = MeasureDistances(g, o);
  EXPECT_FALSE(f.exact);
  EXPECT_EQ(f.devices, 64u);
  EXPECT_EQ(f.diameter, 16);  // every device sees the same
  EXPECT_DOUBLE_EQ(f.average, 256.0 / 255 * 8);
  EXPECT_EQ(f.unreachable, 0u);
}

// The least cut between vertices 0 and 1: tries all assignments of the other vertices.
int64_t LeastCut(const std::vector<std::vector<int64_t>>& capacity) {
  const size_t n = capacity.size();
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t sides = 0; sides < size_t{1} << (n - 2); ++sides) {
    const auto side = [&](size_t v) { return v < 2 ? v : sides >> (v - 2) & 1; };
    int64_t cut = 0;
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = a + 1; b < n; ++b) cut += side(a) != side(b) ? capacity[a][b] : 0;
    }
    least = std::min(least, cut);
  }
  return least;
}

TEST(MaxFlow, EqualsTheLeastCut) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t n = 2 + random() % 8;
    std::vector<std::vector<int64_t>> capacity(n, std::vector<int64_t>(n, 0));
    MaxFlow flow(static_cast<uint32_t>(n));
    for (size_t i = 0; i < 3 * n; ++i) {
      const size_t a = random() % n, b = random() % n;
      const auto c = static_cast<int64_t>(random() % 20);
      if (a == b) continue;
      capacity[std::min(a, b)][std::max(a, b)] += c;
      flow.AddEdge(static_cast<uint32_t>(a), static_cast<uint32_t>(b), c);
    }
    EXPECT_EQ(flow.Run(0, 1, 1 << 20), LeastCut(capacity)) << round;
  }
}

TEST(MaxFlow, StopsAtItsBudget) {
  MaxFlow flow(102);
  for (uint32_t v = 2; v < 102; ++v) {
    flow.AddEdge(0, v, 1);
    flow.AddEdge(v, 1, 1);
  }
  EXPECT_EQ(flow.Run(0, 1, 50), std::nullopt);
}

TEST(MeasureHalvings, MatchesClosedForms) {
  const auto least = [](const NetworkGraph& g) {
    int left_out = -1;
    const std::vector<Halving> all = MeasureHalvings(g, {}, &left_out);
    EXPECT_EQ(left_out, 0);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                               [](const Halving& a, const Halving& b) { return a.bandwidth < b.bandwidth; }));
    return all.front();
  };
  EXPECT_DOUBLE_EQ(least(TorusOf({8})).bandwidth, 2 * kLink);
  const Halving torus = least(TorusOf({4, 4, 8}));
  EXPECT_DOUBLE_EQ(torus.bandwidth, 32 * kLink);
  EXPECT_DOUBLE_EQ(torus.share, 32 / (64.0 * 6));
  EXPECT_DOUBLE_EQ(least(TorusOf({8, 4})).bandwidth, 8 * kLink);
  EXPECT_EQ(least(TorusOf({8, 4})).name, "dimension 0 of device");
  EXPECT_DOUBLE_EQ(least(TorusOf({4, 6}, false)).bandwidth, 4 * kLink);
  const Halving tree = least(FatTree(8));
  EXPECT_DOUBLE_EQ(tree.bandwidth, 64 * kLink);  // N/2 links
  EXPECT_DOUBLE_EQ(tree.share, 1);
  // k = 16, 3:1: d = 12, u = 4, cut k u / 2.
  const Halving thin = least(LeafSpine(16, 12, 4));
  EXPECT_DOUBLE_EQ(thin.bandwidth, 16 * 4 / 2 * kLink);
  EXPECT_DOUBLE_EQ(thin.share, 1 / 3.0);
  EXPECT_DOUBLE_EQ(least(LeafSpine(1, 8, 0)).bandwidth, 4 * kLink);
}

TEST(MeasureHalvings, HandlesHugeRates) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 4);
  const uint32_t s = b.AddVertices("switch", VertexKind::kSwitch, 1, 1);
  const uint16_t link =
      b.AddClass({"link", Bandwidth::BytesPerSecond(std::numeric_limits<int64_t>::max()), Time()});
  for (uint32_t d = 0; d < 4; ++d) b.AddLink(d, s, link);
  int left_out = 0;
  const auto all = MeasureHalvings(*b.Build(), {}, &left_out);
  EXPECT_NEAR(all.front().bandwidth / 0x1p64, 1, 1e-9);
  EXPECT_NEAR(all.front().share, 1, 1e-9);
}

TEST(Measure, ReportsGroupsAndClasses) {
  const NetworkFigures f = Measure(LeafSpine(4, 6, 2));
  ASSERT_EQ(f.groups.size(), 3u);
  EXPECT_EQ(f.groups[0].most_degree, 1u);
  EXPECT_DOUBLE_EQ(f.groups[0].up, 24 * kLink);
  EXPECT_EQ(f.groups[1].name, "leaf");
  EXPECT_EQ(f.groups[1].least_degree, 8u);
  EXPECT_DOUBLE_EQ(f.groups[1].down, 24 * kLink);
  EXPECT_DOUBLE_EQ(f.groups[1].up, 8 * kLink);
  EXPECT_DOUBLE_EQ(f.groups[1].least_ratio, 3);
  EXPECT_DOUBLE_EQ(f.groups[1].most_ratio, 3);
  EXPECT_DOUBLE_EQ(f.groups[2].most_ratio, 0);
  ASSERT_EQ(f.classes.size(), 2u);
  EXPECT_EQ(f.classes[0].links, 24u);
  EXPECT_EQ(f.classes[1].links, 8u);
  EXPECT_EQ(f.links, 32u);
  EXPECT_GT(f.memory_bytes, 32u * 2 * 10);
}

std::vector<Finding> Findings(const NetworkGraph& g, int radix = 0) {
  return CheckNetwork(g, Measure(g), {radix});
}

TEST(CheckNetwork, FindsNothingInGoodNetworks) {
  EXPECT_TRUE(Findings(FatTree(4), 4).empty());
  EXPECT_TRUE(Findings(TorusOf({4, 4})).empty());
}

TEST(CheckNetwork, ReportsUnreachableDevices) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 5);
  const uint32_t s = b.AddVertices("switch", VertexKind::kSwitch, 2, 1);
  const uint16_t link = b.AddClass(Class("link"));
  for (uint32_t d = 0; d < 4; ++d) b.AddLink(d, s + d / 2, link);
  const std::vector<Finding> all = Findings(*b.Build());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].error);
  EXPECT_EQ(all[0].text.rfind("16 ordered pairs of devices have no path: ", 0), 0u) << all[0].text;
  EXPECT_NE(all[0].text.find("device.0 to device.2"), std::string::npos) << all[0].text;
  EXPECT_EQ(all[1].text, "1 device has no link: device.4");
}

TEST(CheckNetwork, ReportsRadixRatesAndUnevenSwitches) {
  const std::vector<Finding> radix = Findings(LeafSpine(4, 6, 2), 7);
  ASSERT_EQ(radix.size(), 1u);
  EXPECT_TRUE(radix[0].error);
  EXPECT_EQ(radix[0].text,
            "4 switches have more links than a radix of 7, up to 8: leaf.0, leaf.1, leaf.2, leaf.3");

  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 4);
  const uint32_t leaf = b.AddVertices("leaf", VertexKind::kSwitch, 2, 1);
  const uint32_t spine = b.AddVertices("spine", VertexKind::kSwitch, 1, 2);
  const uint16_t odd = b.AddClass(Class("odd", 450)), twice = b.AddClass(Class("bytes", 3200));
  for (uint32_t d = 0; d < 4; ++d) b.AddLink(d, leaf + (d == 3 ? 1 : 0), odd);
  for (uint32_t l = 0; l < 2; ++l) b.AddLink(leaf + l, spine, twice);
  const std::vector<Finding> all = Findings(*b.Build());
  ASSERT_EQ(all.size(), 3u);
  for (const Finding& f : all) EXPECT_FALSE(f.error);
  EXPECT_NE(all[0].text.find("\"odd\" have 450 Gb/s (56.25 GB/s)"), std::string::npos) << all[0].text;
  EXPECT_NE(all[0].text.find("the nearest is 400 Gb/s"), std::string::npos) << all[0].text;
  EXPECT_NE(all[1].text.find("is it Gb/s, written as GB/s?"), std::string::npos) << all[1].text;
  EXPECT_NE(all[2].text.find("switches \"leaf\" differ"), std::string::npos) << all[2].text;
}

TEST(FormatRate, ChoosesTheUnit) {
  EXPECT_EQ(FormatRate(50e9), "400 Gb/s");
  EXPECT_EQ(FormatRate(3.2e12), "25.6 Tb/s");
  EXPECT_EQ(FormatRate(0), "0 b/s");
  EXPECT_EQ(FormatRate(124.99e9), "999.9 Gb/s");
  EXPECT_EQ(FormatRate(125e9), "1 Tb/s");
}

TEST(ExpandTopology, LinksAndPathsMatchTheDimensions) {
  using Kind = TopologyDimension::Kind;
  const Bandwidth rate = Bandwidth::FromGigabytes(50);
  const auto dimension = [rate](Kind kind, int size, const char* name) {
    TopologyDimension d;
    d.kind = kind;
    d.size = size;
    d.bandwidth = rate;
    d.name = name;
    return d;
  };
  const auto t =
      Topology::Make({dimension(Kind::kFullyConnected, 3, "mesh"), dimension(Kind::kSwitch, 2, "nic"),
                      dimension(Kind::kRing, 5, "ring"), dimension(Kind::kRing, 2, "ring")});
  ASSERT_TRUE(t.ok());
  const auto network = ExpandTopology(*t);
  ASSERT_TRUE(network.ok()) << network.status();
  const NetworkGraph& g = network->graph;
  EXPECT_EQ(g.devices(), 60u);
  EXPECT_EQ(CountOf(g, VertexKind::kSwitch), 30u);
  EXPECT_EQ(LinksOf(g, "mesh"), 60u);
  EXPECT_EQ(LinksOf(g, "nic"), 60u);
  EXPECT_EQ(LinksOf(g, "ring"), 60u);
  EXPECT_EQ(LinksOf(g, "dim3-ring"), 30u);
  std::vector<Hop> path;
  for (uint32_t a = 0; a < 60; ++a) {
    const std::vector<int> links = LinksFrom(g, a);
    for (uint32_t b = 0; b < 60; ++b) {
      path.clear();
      t->Path(static_cast<int>(a), static_cast<int>(b), &path);
      EXPECT_EQ(links[b], static_cast<int>(path.size())) << a << " to " << b;
    }
  }
}

TEST(ExpandTopology, ExpandsOneNetworkPerRail) {
  TopologyDimension node, fabric;
  node.size = 4;
  node.bandwidth = Bandwidth::FromGigabytes(450);
  node.name = "nvlink";
  fabric.kind = TopologyDimension::Kind::kNetwork;
  fabric.size = 6;
  fabric.name = "fabric";
  fabric.each_rail = true;
  fabric.network = std::make_shared<Network>(MakeNetwork("leaf_spine:k=4", 6));
  const auto t = Topology::Make({node, fabric});
  ASSERT_TRUE(t.ok()) << t.status();
  const auto network = ExpandTopology(*t);
  ASSERT_TRUE(network.ok()) << network.status();
  const NetworkGraph& g = network->graph;
  EXPECT_EQ(LinksOf(g, "fabric host"), 24u);
  EXPECT_EQ(CountOf(g, VertexKind::kNvSwitch), 6u);
  EXPECT_EQ(LinksFrom(g, 0)[4], 2);  // the first two nodes share a leaf
  EXPECT_EQ(LinksFrom(g, 0)[8], 4);  // the third does not
  EXPECT_EQ(LinksFrom(g, 0)[5], 4);  // through the node: rails share no switch
  EXPECT_EQ(MeasureDistances(g, {}).unreachable, 0u);
  const auto leaf = g.FindVertex("fabric_leaf.0");
  ASSERT_TRUE(leaf.ok()) << leaf.status();
  EXPECT_EQ(g.group(*leaf).count, 4 * 3u);
  EXPECT_EQ(g.group(*leaf).tier, 2);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
