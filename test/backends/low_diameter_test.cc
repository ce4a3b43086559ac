// Dragonfly, dragonfly+ and Slim Fly.
#include <map>

#include "backends/topology/builders/galois.h"
#include "backends/topology/builders/global_links.h"
#include "network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::Test;

Distances RouterDistances(const NetworkGraph& g) {
  return DistancesAmong(g, g.devices(), CountOf(g, VertexKind::kSwitch));
}

// The average number of links that the network's guide takes between routers.
double GuidedAverage(const Network& network) {
  const uint32_t first = network.graph.devices(), end = network.graph.vertices();
  std::mt19937_64 random(1);
  double sum = 0;
  for (uint32_t a = first; a < end; ++a) {
    for (uint32_t b = first; b < end; ++b) {
      sum += static_cast<double>(RandomRoute(network, nullptr, a, b, &random).size()) - 1;
    }
  }
  return sum / (static_cast<double>(end - first) * (end - first - 1));
}

void CheckRoutersAlike(const NetworkGraph& g, uint32_t degree) {
  for (uint32_t v = g.devices(); v < g.vertices(); ++v) ASSERT_EQ(g.degree(v), degree) << g.VertexName(v);
}

TEST(GaloisTest, FindsPrimePowers) {
  std::vector<int> found;
  for (int q = -1; q <= 32; ++q) {
    if (GaloisField::IsPrimePower(q)) found.push_back(q);
    EXPECT_EQ(GaloisField::Make(q).has_value(), GaloisField::IsPrimePower(q)) << q;
  }
  EXPECT_EQ(found, (std::vector<int>{2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32}));
}

TEST(GaloisTest, IsAField) {
  for (const int q : {2, 3, 4, 7, 8, 9, 16, 25, 27}) {
    const auto f = GaloisField::Make(q);
    ASSERT_TRUE(f.has_value());
    std::set<int> powers;
    for (int k = 0; k < q - 1; ++k) powers.insert(f->Power(k));
    EXPECT_EQ(powers.size(), static_cast<size_t>(q - 1)) << q;
    EXPECT_EQ(powers.count(0), 0u) << q;
    for (int a = 0; a < q; ++a) {
      std::set<int> products;
      for (int b = 0; b < q; ++b) {
        EXPECT_EQ(f->Subtract(f->Add(a, b), b), a);
        products.insert(f->Multiply(a, b));
        for (int c = 0; c < q; ++c) {
          ASSERT_EQ(f->Multiply(a, f->Add(b, c)), f->Add(f->Multiply(a, b), f->Multiply(a, c))) << q;
        }
      }
      EXPECT_EQ(products.size(), a == 0 ? 1u : static_cast<size_t>(q)) << q;
    }
  }
}

TEST(GlobalLinksTest, PeersAreMutualAndEvenlySpread) {
  for (int groups = 2; groups <= 12; ++groups) {
    for (int ports = groups - 1; ports <= 40; ++ports) {
      const GlobalLinks links(groups, ports);
      EXPECT_GE(links.used(), ports - (groups % 2 != 0 && ports % 2 != 0 ? 1 : 0));
      std::map<std::pair<int, int>, int> count;
      for (int g = 0; g < groups; ++g) {
        for (int port = 0; port < links.used(); ++port) {
          const auto peer = links.Peer({g, port});
          ASSERT_NE(peer.group, g);
          ASSERT_LT(peer.port, links.used());
          const auto back = links.Peer(peer);
          ASSERT_EQ(back.group, g) << groups << " " << ports << " " << port;
          ASSERT_EQ(back.port, port);
          ASSERT_EQ(links.PortTo(port / (groups - 1), links.Offset(g, peer.group)), port);
          ++count[{g, peer.group}];
        }
      }
      ASSERT_EQ(count.size(), static_cast<size_t>(groups) * static_cast<size_t>(groups - 1));
      for (const auto& [pair, n] : count) {
        EXPECT_GE(n, ports / (groups - 1));
        EXPECT_LE(n, ports / (groups - 1) + 1);
      }
    }
  }
}

TEST(DragonflyTest, CountsAndDistances) {
  const Network n = MakeNetwork("dragonfly:h=2,a=4,p=2");
  const NetworkGraph& g = n.graph;
  EXPECT_EQ(g.devices(), 72u);
  EXPECT_EQ(CountOf(g, VertexKind::kSwitch), 36u);
  EXPECT_EQ(LinksOf(g, "local") + LinksOf(g, "global"), 90u);
  EXPECT_EQ(LinksOf(g, "global"), 36u);
  EXPECT_EQ(LinksOf(g, "host"), 72u);
  CheckRoutersAlike(g, 2 + 3 + 2);
  const Distances d = RouterDistances(g);
  EXPECT_EQ(d.diameter, 3);
  EXPECT_NEAR(d.average, 2.3429, 5e-5);
  EXPECT_NEAR(GuidedAverage(n), 2.3714, 5e-5);
}

TEST(DragonflyTest, CountsMatchFormulas) {
  for (const auto& shape : {std::tuple{4, 2, 2}, std::tuple{6, 3, 3}, std::tuple{3, 1, 2},
                            std::tuple{2, 4, 1}, std::tuple{1, 5, 2}}) {
    const int a = std::get<0>(shape), h = std::get<1>(shape), p = std::get<2>(shape);
    const Network n = MakeNetwork(absl::StrCat("dragonfly:h=", h, ",a=", a, ",p=", p));
    const int groups = a * h + 1, routers = a * groups;
    EXPECT_EQ(n.graph.devices(), static_cast<uint32_t>(p * routers));
    EXPECT_EQ(LinksOf(n.graph, "local"), static_cast<uint32_t>(groups * a * (a - 1) / 2));
    EXPECT_EQ(LinksOf(n.graph, "global"), static_cast<uint32_t>(groups * a * h / 2));
    EXPECT_LE(RouterDistances(n.graph).diameter, 3);
    const double one_global =
        static_cast<double>(a - 1 + h * (2 * a - 1) + (a * h - h) * (3 * a - 1)) / (routers - 1);
    EXPECT_NEAR(GuidedAverage(n), one_global, 1e-12) << a << " " << h;
    CheckRandomRoutes(n, 300, 5);
    const auto half = [&](uint32_t v) {
      const uint32_t router = v < n.graph.devices() ? v / static_cast<uint32_t>(p) : v - n.graph.devices();
      return router / static_cast<uint32_t>(a) < static_cast<uint32_t>(groups / 2);
    };
    EXPECT_EQ(LinksAcross(n.graph, half), static_cast<uint32_t>((groups / 2) * ((groups + 1) / 2)));
  }
}

TEST(DragonflyTest, GlobalLoadOfAllToAll) {
  EXPECT_NEAR(BusiestLoad(MakeNetwork("dragonfly:h=2,a=4,p=2"), "global"), 64, 1e-9);
  EXPECT_NEAR(BusiestLoad(MakeNetwork("dragonfly:h=1,a=3,p=2"), "global"), 36, 1e-9);
}

TEST(DragonflyTest, BuildsFewerGroups) {
  for (int groups = 1; groups <= 9; ++groups) {
    const Network n = MakeNetwork(absl::StrCat("dragonfly:h=2,a=4,p=2,groups=", groups));
    EXPECT_EQ(n.graph.devices(), static_cast<uint32_t>(8 * groups));
    EXPECT_LE(RouterDistances(n.graph).diameter, 3);
    CheckRandomRoutes(n, 300, 5);
    if (groups == 1) continue;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> between;
    for (uint32_t arc = 0; arc < n.graph.arcs(); ++arc) {
      if (n.graph.link_class(arc).name != "global") continue;
      const auto group = [&](uint32_t v) { return (v - n.graph.devices()) / 4; };
      ++between[{group(n.graph.source(arc)), group(n.graph.target(arc))}];
    }
    EXPECT_EQ(between.size(), static_cast<size_t>(groups * (groups - 1)));
    const auto each = static_cast<uint32_t>(8 / (groups - 1));
    for (const auto& [pair, count] : between) {
      EXPECT_GE(count, each);
      EXPECT_LE(count, each + 1);
    }
  }
}

// Nine global ports, five groups: two links to each, and one port of each group without one.
TEST(DragonflyTest, LeavesAnOddGlobalPortUnused) {
  const Network n = MakeNetwork("dragonfly:h=3,a=3,p=2,groups=5");
  EXPECT_EQ(LinksOf(n.graph, "global"), 5u * 8 / 2);
  CheckRandomRoutes(n, 500, 5);
  EXPECT_LE(RouterDistances(n.graph).diameter, 3);
}

TEST(DragonflyTest, FewerDevicesFillRoutersInOrder) {
  const Network n = MakeNetwork("dragonfly:h=2,a=4,p=2", 13);
  EXPECT_EQ(n.graph.devices(), 13u);
  EXPECT_EQ(CountOf(n.graph, VertexKind::kSwitch), 36u);
  for (uint32_t d = 0; d < 13; ++d) EXPECT_EQ(n.graph.target(n.graph.begin(d)), 13 + d / 2);
  CheckRandomRoutes(n, 200, 5);
  EXPECT_NEAR(GuidedAverage(n), 2.3714, 5e-5);
}

TEST(DragonflyTest, ChoosesSmallestBalancedSize) {
  EXPECT_EQ(CountOf(MakeNetwork("dragonfly").graph, VertexKind::kSwitch), 36u);
  EXPECT_EQ(CountOf(MakeNetwork("dragonfly", 6).graph, VertexKind::kSwitch), 6u);
  EXPECT_EQ(CountOf(MakeNetwork("dragonfly", 72).graph, VertexKind::kSwitch), 36u);
  EXPECT_EQ(CountOf(MakeNetwork("dragonfly", 73).graph, VertexKind::kSwitch), 114u);
  EXPECT_EQ(MakeNetwork("dragonfly:a=8").graph.devices(), 4u * 8 * 33);
}

// DeepSeek's dragonfly: 64 ports, 511 of 513 groups.
TEST(DragonflyTest, MatchesPublishedCount) {
  const Network n = MakeNetwork("dragonfly:p=16,a=32,h=16,groups=511");
  EXPECT_EQ(n.graph.devices(), 261632u);
  EXPECT_EQ(CountOf(n.graph, VertexKind::kSwitch), 16352u);
  EXPECT_EQ(LinksOf(n.graph, "local") + LinksOf(n.graph, "global"), 384272u);
  CheckRandomRoutes(n, 300, 5);
}

TEST(DragonflyTest, RefusesBadInput) {
  EXPECT_EQ(NetworkError("dragonfly:h=2,a=4,groups=10"),
            "dragonfly: groups is \"10\"; expected 1 to a*h+1 = 9 (a=4, h=2); the nearest is 9");
  EXPECT_EQ(NetworkError("dragonfly:h=2", 73),
            "dragonfly: 73 devices, but room for 72 only; expected p=3,a=6,h=3 with room for 342");
  EXPECT_EQ(NetworkError("dragonfly:h=0"),
            "dragonfly: h is \"0\"; expected a whole number from 1 to 4096; the nearest is 1");
  EXPECT_EQ(NetworkError("dragonfly:host=400GB/s").substr(0, 27), "dragonfly: host is \"400GB/s");
  EXPECT_NE(NetworkError("dragonfly:h=4096,a=4096,p=1", 8), "");
  EXPECT_NE(NetworkError("dragonfly:gruops=3"), "");
}

TEST(DragonflyPlusTest, CountsAndDistances) {
  for (const auto& [l, s, h, p] :
       {std::tuple{2, 2, 2, 2}, std::tuple{3, 2, 2, 1}, std::tuple{4, 4, 1, 2}, std::tuple{1, 3, 2, 2}}) {
    const Network n = MakeNetwork(absl::StrCat("dragonfly_plus:l=", l, ",s=", s, ",h=", h, ",p=", p));
    const NetworkGraph& g = n.graph;
    const int groups = s * h + 1, leaves = l * groups;
    EXPECT_EQ(g.devices(), static_cast<uint32_t>(p * leaves));
    EXPECT_EQ(CountOf(g, VertexKind::kSwitch), static_cast<uint32_t>(groups * (l + s)));
    EXPECT_EQ(LinksOf(g, "local") + LinksOf(g, "global"),
              static_cast<uint32_t>(groups * (l * s) + groups * s * h / 2));
    const Distances d = DistancesAmong(g, g.devices(), static_cast<uint32_t>(leaves));
    EXPECT_EQ(d.diameter, 3);
    EXPECT_NEAR(d.average, static_cast<double>(2 * (l - 1) + 3 * l * s * h) / (leaves - 1), 1e-12);
    for (uint32_t v = g.devices(); v < g.vertices(); ++v) {
      EXPECT_EQ(g.degree(v),
                static_cast<uint32_t>(v < g.devices() + static_cast<uint32_t>(leaves) ? p + s : l + h));
    }
    CheckRandomRoutes(n, 400, 5);
  }
}

TEST(DragonflyPlusTest, GuideOffersAllShortestPathsBetweenLeaves) {
  for (const char* spec : {"dragonfly_plus:l=3,s=2,h=2,p=2", "dragonfly_plus:l=2,s=3,h=2,p=1,groups=4"}) {
    const Network n = MakeNetwork(spec);
    const NetworkGraph& g = n.graph;
    ShortestPaths paths(g);
    for (uint32_t to = 0; to < g.devices(); ++to) {
      for (uint32_t at = 0; at < g.vertices() - CountOf(g, VertexKind::kSwitch); ++at) {
        // Every vertex that a route from `at` may pass.
        std::vector<uint32_t> wave = {at};
        for (int hop = 0; hop < 5 && !wave.empty(); ++hop) {
          std::set<uint32_t> reached;
          for (const uint32_t v : wave) {
            std::vector<uint32_t> guided, shortest;
            n.guide->Next(v, to, &guided);
            paths.Next(v, to, &shortest);
            std::sort(guided.begin(), guided.end());
            ASSERT_EQ(guided, shortest) << g.VertexName(v) << " to " << g.VertexName(to);
            for (const uint32_t arc : guided) reached.insert(g.target(arc));
          }
          wave.assign(reached.begin(), reached.end());
        }
        EXPECT_TRUE(wave.empty() || wave == std::vector<uint32_t>{to});
      }
    }
  }
}

// From any vertex to any vertex; minimal routes between devices need fewer of these.
TEST(DragonflyPlusTest, RoutesReachEveryVertex) {
  const Network n = MakeNetwork("dragonfly_plus:l=2,s=3,h=1,p=2");
  std::mt19937_64 random(3);
  for (uint32_t a = 0; a < n.graph.vertices(); ++a) {
    for (uint32_t b = 0; b < n.graph.vertices(); ++b) RandomRoute(n, nullptr, a, b, &random);
    ASSERT_FALSE(Test::HasFailure());
  }
}

TEST(DragonflyPlusTest, ChoosesSmallestAndRefusesBadInput) {
  EXPECT_EQ(MakeNetwork("dragonfly_plus").graph.devices(), 20u);  // (k^2/4)(k^2/4 + 1), radix 4
  EXPECT_EQ(MakeNetwork("dragonfly_plus:l=4").graph.devices(), 16u * 17);
  EXPECT_EQ(CountOf(MakeNetwork("dragonfly_plus", 21).graph, VertexKind::kSwitch), 60u);
  EXPECT_EQ(MakeNetwork("dragonfly_plus:l=2,groups=2").graph.devices(), 8u);
  EXPECT_EQ(NetworkError("dragonfly_plus:l=2,groups=6"),
            "dragonfly_plus: groups is \"6\"; expected 1 to s*h+1 = 5 (s=2, h=2); the nearest is 5");
  EXPECT_EQ(NetworkError("dragonfly_plus:l=2", 21),
            "dragonfly_plus: 21 devices, but room for 20 only; expected p=3,l=3,s=3,h=3 with room for 90");
  EXPECT_NE(NetworkError("dragonfly_plus:l=4096", 8), "");
}

TEST(SlimFlyTest, CountsAndDistances) {
  for (const auto& [q, degree] :
       {std::pair{3, 5}, std::pair{4, 6}, std::pair{5, 7}, std::pair{7, 11}, std::pair{8, 12},
        std::pair{9, 13}, std::pair{11, 17}, std::pair{13, 19}, std::pair{16, 24}, std::pair{17, 25}}) {
    const Network n = MakeNetwork(absl::StrCat("slim_fly:q=", q, ",p=1"));
    const NetworkGraph& g = n.graph;
    const int routers = 2 * q * q;
    EXPECT_EQ(CountOf(g, VertexKind::kSwitch), static_cast<uint32_t>(routers));
    EXPECT_EQ(LinksOf(g, "local") + LinksOf(g, "global"), static_cast<uint32_t>(q * q * degree));
    CheckRoutersAlike(g, static_cast<uint32_t>(degree + 1));
    const Distances d = RouterDistances(g);
    EXPECT_EQ(d.diameter, 2) << q;
    EXPECT_NEAR(d.average, (degree + 2.0 * (routers - 1 - degree)) / (routers - 1), 1e-12) << q;
    CheckRandomRoutes(n, 200, 4);
  }
}

TEST(SlimFlyTest, GuideOffersAllShortestPaths) {
  for (const int q : {3, 4, 5, 7, 8, 9, 11}) {
    const Network n = MakeNetwork(absl::StrCat("slim_fly:q=", q, ",p=2"), 3 * q * q);
    ShortestPaths paths(n.graph);
    std::mt19937_64 random(1);
    for (int i = 0; i < 3000; ++i) {
      const auto at = static_cast<uint32_t>(random() % n.graph.vertices());
      const auto to = static_cast<uint32_t>(random() % n.graph.vertices());
      std::vector<uint32_t> guided, shortest;
      n.guide->Next(at, to, &guided);
      paths.Next(at, to, &shortest);
      ASSERT_EQ(guided, shortest) << "q=" << q << ": " << n.graph.VertexName(at) << " to "
                                  << n.graph.VertexName(to);
    }
  }
}

TEST(SlimFlyTest, MatchesPublishedCounts) {
  EXPECT_EQ(LinksOf(MakeNetwork("slim_fly:q=5").graph, "global"), 125u);
  EXPECT_EQ(MakeNetwork("slim_fly:q=5").graph.devices(), 200u);  // 4 = ceil(7/2) a router
  EXPECT_EQ(MakeNetwork("slim_fly:q=13").graph.links(), 3211u + 338u * 10);
  EXPECT_EQ(MakeNetwork("slim_fly:q=27,p=1").graph.links(), 1458u * 41 / 2 + 1458);
}

TEST(SlimFlyTest, ChoosesSmallestSize) {
  EXPECT_EQ(CountOf(MakeNetwork("slim_fly").graph, VertexKind::kSwitch), 50u);
  EXPECT_EQ(CountOf(MakeNetwork("slim_fly", 54).graph, VertexKind::kSwitch), 18u);
  EXPECT_EQ(CountOf(MakeNetwork("slim_fly", 201).graph, VertexKind::kSwitch), 98u);
  EXPECT_EQ(CountOf(MakeNetwork("slim_fly:p=1", 51).graph, VertexKind::kSwitch), 98u);
}

TEST(SlimFlyTest, RefusesBadInput) {
  EXPECT_EQ(NetworkError("slim_fly:q=28"),
            "slim_fly: q is \"28\"; expected a power of a prime; the nearest are 27 and 29");
  EXPECT_EQ(NetworkError("slim_fly:q=2"),
            "slim_fly: q is \"2\"; expected a whole number from 3 to 256; the nearest is 3");
  EXPECT_EQ(NetworkError("slim_fly:q=5", 201),
            "slim_fly: 201 devices, but room for 200 only; expected q=7,p=6 with room for 588");
  EXPECT_EQ(NetworkError("slim_fly:q=5,p=1", 200000),
            "slim_fly: 200000 devices, but room for 50 only; expected q=53,p=40 with room for 224720");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
