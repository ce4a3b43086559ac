#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/network.h"
#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Shape = std::vector<int>;

std::string Text(const Shape& shape) { return absl::StrJoin(shape, "x"); }

int Product(const Shape& shape) {
  int n = 1;
  for (const int k : shape) n *= k;
  return n;
}

int Coordinate(uint32_t v, const Shape& shape, size_t dim) {
  for (size_t i = 0; i < dim; ++i) v /= static_cast<uint32_t>(shape[i]);
  return static_cast<int>(v % static_cast<uint32_t>(shape[dim]));
}

// Links out of the half with the low coordinates of `dim`.
uint32_t CutOf(const NetworkGraph& g, const Shape& shape, size_t dim) {
  return LinksAcross(g, [&](uint32_t v) { return 2 * Coordinate(v, shape, dim) < shape[dim]; });
}

size_t Longest(const Shape& shape) {
  return static_cast<size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

// The mean distance in one dimension, for a ring, a line and a full mesh of `k` routers.
double RingMean(int k) { return k % 2 == 0 ? k / 4.0 : (k * k - 1) / (4.0 * k); }
double LineMean(int k) { return (k * k - 1) / (3.0 * k); }
double AllMean(int k) { return 1 - 1.0 / k; }

double Average(const Shape& shape, double (*mean)(int)) {
  const double n = Product(shape);
  double sum = 0;
  for (const int k : shape) sum += mean(k);
  return n < 2 ? 0 : n / (n - 1) * sum;
}

// For a network whose devices are its routers: the route of each random pair has no loop and is as short as a
// search finds.
void ExpectShortRoutes(const Network& network, int pairs) {
  const NetworkGraph& g = network.graph;
  std::mt19937_64 random(7);
  ShortestPaths paths(g);
  for (int i = 0; i < pairs && !::testing::Test::HasFailure(); ++i) {
    const auto a = static_cast<uint32_t>(random() % g.devices());
    const auto b = static_cast<uint32_t>(random() % g.devices());
    const std::vector<uint32_t> way = RandomRoute(network, &paths, a, b, &random);
    EXPECT_EQ(static_cast<int>(way.size()) - 1, LinksFrom(g, a)[b]) << g.VertexName(a) << g.VertexName(b);
  }
}

// At every vertex and for every device, the guide offers exactly the arcs that lead nearer.
void ExpectAllShortestPaths(const Network& network) {
  const NetworkGraph& g = network.graph;
  ASSERT_NE(network.guide, nullptr);
  for (uint32_t to = 0; to < g.devices(); ++to) {
    const std::vector<int> left = LinksFrom(g, to);
    for (uint32_t at = 0; at < g.vertices(); ++at) {
      std::vector<uint32_t> offered, nearer;
      network.guide->Next(at, to, &offered);
      std::sort(offered.begin(), offered.end());
      for (uint32_t arc = g.begin(at); arc < g.end(at); ++arc) {
        if (left[g.target(arc)] == left[at] - 1 && (g.Forwards(g.target(arc)) || g.target(arc) == to)) {
          nearer.push_back(arc);
        }
      }
      ASSERT_EQ(offered, nearer) << g.VertexName(at) << " to " << g.VertexName(to);
    }
  }
}

TEST(Ring, CountsDistancesAndLoad) {
  for (const int k : {1, 2, 3, 4, 7, 8, 15}) {
    SCOPED_TRACE(k);
    const Network network = MakeNetwork("ring", k);
    const NetworkGraph& g = network.graph;
    EXPECT_EQ(g.devices(), static_cast<uint32_t>(k));
    EXPECT_EQ(g.vertices(), g.devices());
    EXPECT_EQ(g.links(), k > 2 ? static_cast<uint32_t>(k) : static_cast<uint32_t>(k - 1));
    const Distances d = DeviceDistances(g);
    EXPECT_EQ(d.diameter, k / 2);
    EXPECT_NEAR(d.average, Average({k}, RingMean), 1e-12);
    ExpectShortRoutes(network, 50);
    // One link joins two devices; each direction carries one byte.
    const double load = k == 1 ? 0 : k == 2 ? 1 : k % 2 == 0 ? k * k / 8.0 : (k * k - 1) / 8.0;
    EXPECT_NEAR(BusiestLoad(network, "link"), load, 1e-9);
    if (k > 2) {
      EXPECT_EQ(CutOf(g, {k}, 0), 2u);
    }
  }
}

TEST(FullMesh, CountsDistancesAndLoad) {
  for (const int n : {1, 2, 5, 8, 16}) {
    SCOPED_TRACE(n);
    const Network network = MakeNetwork(absl::StrCat("full_mesh:devices=", n, ",link=300GB/s,latency=1us"));
    const NetworkGraph& g = network.graph;
    EXPECT_EQ(g.links(), static_cast<uint32_t>(n * (n - 1) / 2));
    EXPECT_EQ(DeviceDistances(g).diameter, n > 1 ? 1 : 0);
    EXPECT_EQ(BusiestLoad(network, "link"), n > 1 ? 1 : 0);
    EXPECT_EQ(CutOf(g, {n}, 0), static_cast<uint32_t>(n / 2 * ((n + 1) / 2)));
    ExpectShortRoutes(network, 30);
    ASSERT_EQ(g.classes().size(), 1u);
    EXPECT_EQ(g.classes()[0].bandwidth.bytes_per_second(), 300000000000);
    EXPECT_EQ(g.classes()[0].latency, Time::Micros(1));
  }
}

TEST(Mesh, CountsDistancesAndCut) {
  for (const Shape& shape :
       std::vector<Shape>{{1}, {5}, {2, 2}, {3, 5}, {6, 4}, {1, 4, 1}, {4, 3, 2}, {4, 4, 8}}) {
    SCOPED_TRACE(Text(shape));
    const Network network = MakeNetwork("mesh:shape=" + Text(shape));
    const NetworkGraph& g = network.graph;
    uint32_t links = 0;
    int diameter = 0;
    for (const int k : shape) {
      links += static_cast<uint32_t>(Product(shape) / k * (k - 1));
      diameter += k - 1;
    }
    EXPECT_EQ(g.devices(), static_cast<uint32_t>(Product(shape)));
    EXPECT_EQ(g.links(), links);
    const Distances d = DeviceDistances(g);
    EXPECT_EQ(d.diameter, diameter);
    EXPECT_NEAR(d.average, Average(shape, LineMean), 1e-12);
    const size_t longest = Longest(shape);
    if (shape[longest] % 2 == 0) {
      EXPECT_EQ(CutOf(g, shape, longest), static_cast<uint32_t>(Product(shape) / shape[longest]));
    }
    ExpectShortRoutes(network, 50);
    ExpectAllShortestPaths(MakeNetwork(absl::StrCat("mesh:order=any,shape=", Text(shape))));
  }
}

TEST(Torus, CountsDistancesAndCut) {
  for (const Shape& shape : std::vector<Shape>{
           {6}, {4, 6}, {8, 4}, {5, 5}, {3, 7}, {1, 5}, {3, 1, 4}, {4, 4, 4}, {3, 4, 5}, {4, 4, 8}}) {
    SCOPED_TRACE(Text(shape));
    const Network network = MakeNetwork("torus:shape=" + Text(shape));
    const NetworkGraph& g = network.graph;
    const int n = Product(shape);
    int diameter = 0;
    uint32_t links = 0;
    for (const int k : shape) {
      diameter += k / 2;
      links += k > 2 ? static_cast<uint32_t>(n) : 0;
    }
    EXPECT_EQ(g.links(), links);
    EXPECT_TRUE(g.devices_forward());
    ASSERT_EQ(g.groups().size(), 1u);
    EXPECT_EQ(g.groups()[0].shape, shape);
    const Distances d = DeviceDistances(g);
    EXPECT_EQ(d.diameter, diameter);
    EXPECT_NEAR(d.average, Average(shape, RingMean), 1e-12);
    const size_t longest = Longest(shape);
    if (shape[longest] % 2 == 0) {
      EXPECT_EQ(CutOf(g, shape, longest), static_cast<uint32_t>(2 * n / shape[longest]));
    }
    ExpectShortRoutes(network, 100);
    ExpectAllShortestPaths(MakeNetwork(absl::StrCat("torus:order=any,shape=", Text(shape))));
  }
}

TEST(Torus, MatchesKnownValuesOf4x4x8) {
  const Network network = MakeNetwork("torus:shape=4x4x8");
  EXPECT_EQ(network.graph.links(), 384u);
  const Distances d = DeviceDistances(network.graph);
  EXPECT_EQ(d.diameter, 8);
  EXPECT_NEAR(d.average, 4.032, 6e-4);
  EXPECT_EQ(CutOf(network.graph, {4, 4, 8}, 2), 32u);
  EXPECT_EQ(network.note, "4x4x8");
}

// Every device sends a byte to every other one.
TEST(Torus, AllToAllLoadOfEachDimension) {
  for (const Shape& shape : std::vector<Shape>{{4, 6}, {8, 4}, {4, 4, 4}, {5, 5}, {3, 4, 5}}) {
    for (const char* order : {"dimension", "any"}) {
      const Network network = MakeNetwork(absl::StrCat("torus:shape=", Text(shape), ",order=", order));
      for (size_t i = 0; i < shape.size(); ++i) {
        const double n = Product(shape), k = shape[i];
        const double load = shape[i] % 2 == 0 ? n * k / 8 : n * (k * k - 1) / (8 * k);
        EXPECT_NEAR(BusiestLoad(network, absl::StrCat("dim", i)), load, 1e-9)
            << Text(shape) << " " << order << " dimension " << i;
      }
    }
  }
  EXPECT_EQ(BusiestLoad(MakeNetwork("torus:shape=4x6"), "dim0"), 12);
  EXPECT_EQ(BusiestLoad(MakeNetwork("torus:shape=4x6"), "dim1"), 18);
}

TEST(Torus, SizeTwoHasOneLink) {
  const Network network = MakeNetwork("torus:shape=2x3x2");
  EXPECT_EQ(network.graph.links(), 6u + 12u + 6u);
  EXPECT_EQ(LinksOf(network.graph, "dim0"), 6u);
  EXPECT_EQ(LinksOf(network.graph, "dim1"), 12u);
  ExpectAllShortestPaths(MakeNetwork("torus:shape=2x3x2,order=any"));
  ExpectShortRoutes(network, 100);
}

TEST(Torus, OffersBothDirectionsAtEqualDistance) {
  const Network network = MakeNetwork("torus:shape=4x4");
  std::vector<uint32_t> arcs;
  network.guide->Next(0, 2, &arcs);
  std::set<uint32_t> next;
  for (const uint32_t arc : arcs) next.insert(network.graph.target(arc));
  EXPECT_THAT(next, ElementsAre(1, 3));
  arcs.clear();
  network.guide->Next(1, 2, &arcs);
  ASSERT_EQ(arcs.size(), 1u);
  EXPECT_EQ(network.graph.target(arcs[0]), 2u);
  arcs.clear();
  network.guide->Next(5, 5, &arcs);
  EXPECT_TRUE(arcs.empty());
}

TEST(Torus, RoutesFirstDimensionFirst) {
  const Network network = MakeNetwork("torus:shape=5x5");
  std::mt19937_64 random(1);
  EXPECT_THAT(RandomRoute(network, nullptr, 0, 12, &random), ElementsAre(0, 1, 2, 7, 12));
}

TEST(Torus, WrapsOnlyGivenDimensions) {
  const Network network = MakeNetwork("torus:shape=4x4x8,wrap=1x0x1");
  const NetworkGraph& g = network.graph;
  EXPECT_EQ(g.links(), 128u + 96u + 128u);
  const Distances d = DeviceDistances(g);
  EXPECT_EQ(d.diameter, 2 + 3 + 4);
  EXPECT_NEAR(d.average, 128.0 / 127 * (RingMean(4) + LineMean(4) + RingMean(8)), 1e-12);
  ExpectShortRoutes(network, 100);
  ExpectAllShortestPaths(MakeNetwork("torus:shape=4x3x5,wrap=0x1x0,order=any"));
  const Network mesh = MakeNetwork("torus:shape=4x5,wrap=0x0");
  EXPECT_EQ(mesh.graph.links(), MakeNetwork("mesh:shape=4x5").graph.links());
}

struct Twisted {
  Shape shape;
  int diameter, plain_diameter;
  double average, plain_average, ratio;
};

// `ratio` is the load of the plain torus's busiest link over the twisted torus's. A twisted torus looks the
// same from every device and along every dimension, so all links carry the same load, which is
// average * (N - 1) / (2 * dimensions).
TEST(TwistedTorus, MatchesKnownValues) {
  for (const Twisted& t : std::vector<Twisted>{{{4, 8}, 4, 6, 2.710, 3.097, 1.52},
                                               {{8, 4}, 4, 6, 2.710, 3.097, 1.52},
                                               {{8, 16}, 8, 12, 5.354, 6.047, 1.505},
                                               {{4, 4, 8}, 6, 8, 3.465, 4.032, 1.745},
                                               {{4, 8, 4}, 6, 8, 3.465, 4.032, 1.745},
                                               {{4, 8, 8}, 6, 10, 4.329, 5.020, 1.391}}) {
    SCOPED_TRACE(Text(t.shape));
    const Network plain = MakeNetwork("torus:shape=" + Text(t.shape));
    const Network twisted = MakeNetwork("torus:twist=yes,shape=" + Text(t.shape));
    EXPECT_EQ(twisted.graph.links(), plain.graph.links());
    const Distances p = DeviceDistances(plain.graph), d = DeviceDistances(twisted.graph);
    EXPECT_EQ(p.diameter, t.plain_diameter);
    EXPECT_EQ(d.diameter, t.diameter);
    EXPECT_NEAR(p.average, t.plain_average, 6e-4);
    EXPECT_NEAR(d.average, t.average, 5e-4);
    double most = 0;
    for (size_t i = 0; i < t.shape.size(); ++i) {
      const std::string name = absl::StrCat("dim", i);
      most = std::max(most, BusiestLoad(plain, name));
      EXPECT_NEAR(BusiestLoad(twisted, name),
                  d.average * (Product(t.shape) - 1) / static_cast<double>(2 * t.shape.size()), 1e-6);
    }
    EXPECT_NEAR(most / BusiestLoad(twisted, "dim0"), t.ratio, 5e-3);
    EXPECT_THAT(twisted.note, HasSubstr("twisted"));
  }
}

TEST(TwistedTorus, GuideMatchesSearch) {
  for (const char* shape : {"2x4", "4x2", "3x6", "4x8", "8x4", "5x10", "2x2x4", "2x4x2", "4x2x2", "3x3x6",
                            "4x4x8", "2x4x4", "4x2x4", "4x4x2", "3x6x6", "6x3x6", "4x8x8"}) {
    SCOPED_TRACE(shape);
    const Network network = MakeNetwork(absl::StrCat("torus:twist=yes,shape=", shape));
    ExpectAllShortestPaths(network);
    ExpectShortRoutes(network, 50);
  }
}

TEST(TwistedTorus, RoutesThousandsOfDevices) {
  const Network network = MakeNetwork("torus:twist=yes,shape=16x16x32");
  EXPECT_EQ(network.graph.links(), 3u * 8192);
  CheckRandomRoutes(network, 500, 24);
}

TEST(Torus, DefaultShapeFor4096Devices) {
  const Network network = MakeNetwork("torus", 4096);
  EXPECT_EQ(network.note, "16x16x16");
  EXPECT_EQ(network.graph.links(), 3u * 4096);
  EXPECT_EQ(CutOf(network.graph, {16, 16, 16}, 0), 512u);
  EXPECT_LT(network.graph.MemoryBytes(), 1u << 20);
  CheckRandomRoutes(network, 500, 24);
}

TEST(Hypercube, CountsDistancesAndLoad) {
  for (const int n : {0, 1, 2, 3, 6}) {
    SCOPED_TRACE(n);
    const Network network = MakeNetwork(absl::StrCat("hypercube:dims=", n));
    const NetworkGraph& g = network.graph;
    const uint32_t half = (1u << n) / 2;
    EXPECT_EQ(g.devices(), 1u << n);
    EXPECT_EQ(g.links(), static_cast<uint32_t>(n) * half);
    const Distances d = DeviceDistances(g);
    EXPECT_EQ(d.diameter, n);
    EXPECT_NEAR(d.average, n == 0 ? 0 : n * half / ((1u << n) - 1.0), 1e-12);
    for (int bit = 0; bit < n; ++bit) {
      EXPECT_EQ(LinksAcross(g, [&](uint32_t v) { return (v >> bit & 1) != 0; }), half);
    }
    // All arcs carry the same load: the sum of the distances over the number of arcs.
    EXPECT_EQ(BusiestLoad(network, "link"), half);
    ExpectShortRoutes(network, 50);
  }
}

TEST(Hypercube, RoutesLowestBitFirst) {
  const Network network = MakeNetwork("hypercube", 16);
  std::mt19937_64 random(1);
  EXPECT_THAT(RandomRoute(network, nullptr, 1, 14, &random), ElementsAre(1, 0, 2, 6, 14));
}

TEST(HyperX, CountsDistancesCutAndLoad) {
  for (const Shape& shape :
       std::vector<Shape>{{1}, {7}, {4, 4}, {3, 5}, {2, 6}, {1, 4}, {4, 3, 2}, {4, 4, 4}}) {
    SCOPED_TRACE(Text(shape));
    const Network network = MakeNetwork("hyperx:shape=" + Text(shape));
    const NetworkGraph& g = network.graph;
    const int n = Product(shape);
    int diameter = 0, links = 0;
    for (const int k : shape) {
      diameter += k > 1 ? 1 : 0;
      links += n * (k - 1);
    }
    EXPECT_EQ(g.links(), static_cast<uint32_t>(links / 2));
    const Distances d = DeviceDistances(g);
    EXPECT_EQ(d.diameter, diameter);
    EXPECT_NEAR(d.average, Average(shape, AllMean), 1e-12);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) continue;
      if (shape[i] % 2 == 0) {
        EXPECT_EQ(CutOf(g, shape, i), static_cast<uint32_t>(n * shape[i] / 4));
      }
      const std::string name = shape.size() == 1 ? "link" : absl::StrCat("dim", i);
      EXPECT_EQ(BusiestLoad(network, name), n / shape[i]);
    }
    ExpectShortRoutes(network, 50);
    ExpectAllShortestPaths(MakeNetwork(absl::StrCat("hyperx:order=any,shape=", Text(shape))));
  }
}

TEST(Grid, HostsAttachDevicesToRouters) {
  for (const char* spec : {"hyperx:shape=3x4,hosts=2", "torus:shape=3x4,hosts=2", "mesh:shape=3x4,hosts=2"}) {
    SCOPED_TRACE(spec);
    const Network network =
        MakeNetwork(absl::StrCat(spec, ",link=200Gb/s,host_link=100Gb/s,host_latency=1us"));
    const NetworkGraph& g = network.graph;
    EXPECT_EQ(g.devices(), 24u);
    EXPECT_EQ(CountOf(g, VertexKind::kSwitch), 12u);
    EXPECT_FALSE(g.devices_forward());
    EXPECT_EQ(LinksOf(g, "host"), 24u);
    EXPECT_EQ(g.target(g.begin(5)), 24u + 2u);
    EXPECT_EQ(g.link_class(g.begin(5)).bandwidth.bytes_per_second(), 12500000000);
    EXPECT_EQ(g.link_class(g.begin(5)).latency, Time::Micros(1));
    EXPECT_EQ(g.groups().back().shape, (Shape{3, 4}));
    EXPECT_EQ(BusiestLoad(network, "host"), 23);
    ExpectShortRoutes(network, 100);
    ExpectAllShortestPaths(MakeNetwork(absl::StrCat(spec, ",order=any")));
  }
  const Network twisted = MakeNetwork("torus:shape=4x8,hosts=3,twist=yes");
  EXPECT_EQ(twisted.graph.devices(), 96u);
  ExpectAllShortestPaths(twisted);
}

TEST(Grid, GuidesLeadToRouters) {
  const Network network = MakeNetwork("hyperx:shape=3x4,hosts=2,order=any");
  std::vector<uint32_t> arcs;
  network.guide->Next(0, 24 + 5, &arcs);
  EXPECT_THAT(arcs, ElementsAre(0));
  arcs.clear();
  network.guide->Next(24, 24 + 5, &arcs);
  std::set<uint32_t> next;
  for (const uint32_t arc : arcs) next.insert(network.graph.target(arc) - 24);
  EXPECT_THAT(next, ElementsAre(2, 3));
}

TEST(Grid, LastRoutersMayHaveFewerDevices) {
  const Network network = MakeNetwork("hyperx:shape=2x3,hosts=4,order=any", 14);
  EXPECT_EQ(network.graph.devices(), 14u);
  EXPECT_EQ(network.graph.links(), 14u + 3u + 6u);
  ExpectAllShortestPaths(network);
  EXPECT_EQ(MakeNetwork("hyperx:hosts=4", 33).note, "3x3, 4 devices a router");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
