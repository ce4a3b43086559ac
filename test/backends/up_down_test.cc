// Up-down routing, and cycles of channel dependencies.
#include "backends/topology/routing/up_down.h"

#include <functional>

#include "backends/topology/routing/dependency_cycle.h"
#include "network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

const LinkClass kLink{"link", Bandwidth::BytesPerSecond(1000000000), Time::Micros(1)};

// A random connected graph: `switches` switches, each with a device; a tree of links between the switches,
// and `more` links (some of them parallel).
NetworkGraph RandomGraph(int switches, int more, uint64_t seed) {
  std::mt19937_64 random(seed);
  GraphBuilder b;
  const auto n = static_cast<uint32_t>(switches);
  b.AddVertices("device", VertexKind::kDevice, n);
  const uint32_t first = b.AddVertices("switch", VertexKind::kSwitch, n, 1);
  const uint16_t link = b.AddClass(kLink);
  for (uint32_t d = 0; d < n; ++d) b.AddLink(d, first + d, link);
  for (uint32_t v = 1; v < n; ++v) b.AddLink(first + v, first + static_cast<uint32_t>(random() % v), link);
  for (int i = 0; i < more; ++i) {
    const auto a = static_cast<uint32_t>(random() % n), c = static_cast<uint32_t>(random() % n);
    if (a != c) b.AddLink(first + a, first + c, link);
  }
  return *b.Build();
}

NetworkGraph LeafSpine(uint32_t leaves, uint32_t spines, uint32_t hosts) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, leaves * hosts);
  const uint32_t leaf = b.AddVertices("leaf", VertexKind::kSwitch, leaves, 1);
  const uint32_t spine = b.AddVertices("spine", VertexKind::kSwitch, spines, 2);
  const uint16_t link = b.AddClass(kLink);
  for (uint32_t d = 0; d < leaves * hosts; ++d) b.AddLink(d, leaf + d / hosts, link);
  for (uint32_t i = 0; i < leaves; ++i) {
    for (uint32_t j = 0; j < spines; ++j) b.AddLink(leaf + i, spine + j, link);
  }
  return *b.Build();
}

// A grid k x k of devices that forward, with or without the links that close the rings.
NetworkGraph Grid(uint32_t k, bool wrap) {
  GraphBuilder b;
  b.AddVertices("node", VertexKind::kDevice, k * k);
  b.set_devices_forward(true);
  const uint16_t link = b.AddClass(kLink);
  for (uint32_t y = 0; y < k; ++y) {
    for (uint32_t x = 0; x < k; ++x) {
      if (x + 1 < k || wrap) b.AddLink(y * k + x, y * k + (x + 1) % k, link);
      if (y + 1 < k || wrap) b.AddLink(y * k + x, (y + 1) % k * k + x, link);
    }
  }
  return *b.Build();
}

// Dimension order, first x, along the shorter side of a ring. With `dateline`, a route takes the second
// virtual channel after the link that closes the ring.
std::vector<uint32_t> DimensionOrder(const NetworkGraph& g, uint32_t k, bool wrap, bool dateline,
                                     uint32_t from, uint32_t to) {
  std::vector<uint32_t> route;
  for (const uint32_t stride : {1u, k}) {
    uint32_t channel = 0;
    while (from / stride % k != to / stride % k) {
      const uint32_t here = from / stride % k, ahead = (to / stride + k - here) % k;
      const bool up = wrap ? ahead <= k / 2 : to / stride % k > here;
      const uint32_t there = up ? (here + 1) % k : (here + k - 1) % k;
      const uint32_t next = from + there * stride - here * stride;
      if (dateline && (up ? there == 0 : here == 0)) channel = 1;
      route.push_back(g.FindArc(from, next) + channel * g.arcs());
      from = next;
    }
  }
  return route;
}

std::vector<uint32_t> GridCycle(uint32_t k, bool wrap, bool dateline) {
  const NetworkGraph g = Grid(k, wrap);
  ChannelDependencies dependencies;
  for (uint32_t a = 0; a < g.devices(); ++a) {
    for (uint32_t b = 0; b < g.devices(); ++b) {
      dependencies.Add(DimensionOrder(g, k, wrap, dateline, a, b));
    }
  }
  return dependencies.FindCycle();
}

// Every route that Next() offers from `from` to `to`.
void AllRoutes(const NetworkGraph& g,
               const std::function<void(uint32_t, uint32_t, std::vector<uint32_t>*)>& next, uint32_t at,
               uint32_t to, std::vector<uint32_t>* route,
               const std::function<void(const std::vector<uint32_t>&)>& visit) {
  ASSERT_LE(route->size(), 64u);
  if (at == to) return visit(*route);
  std::vector<uint32_t> arcs;
  next(at, to, &arcs);
  ASSERT_FALSE(arcs.empty()) << g.VertexName(at) << " to " << g.VertexName(to);
  for (const uint32_t arc : arcs) {
    ASSERT_TRUE(arc >= g.begin(at) && arc < g.end(at));
    route->push_back(arc);
    AllRoutes(g, next, g.target(arc), to, route, visit);
    route->pop_back();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Expects of all routes between devices: they go up, then down, have the length that Distance() gives, and
// have no cycle of dependencies.
void CheckUpDown(const NetworkGraph& g, UpDown* paths, const std::vector<bool>* alive = nullptr) {
  ChannelDependencies dependencies;
  for (uint32_t a = 0; a < g.devices(); ++a) {
    for (uint32_t b = 0; b < g.devices(); ++b) {
      std::vector<uint32_t> route;
      AllRoutes(
          g, [&](uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) { paths->Next(at, to, arcs); }, a, b,
          &route,
          [&](const std::vector<uint32_t>& arcs) {
            ASSERT_EQ(static_cast<int>(arcs.size()), paths->Distance(a, b));
            bool down = false;
            for (const uint32_t arc : arcs) {
              ASSERT_FALSE(down && paths->Up(arc)) << "up after down: " << g.ArcName(arc);
              down = !paths->Up(arc);
              ASSERT_TRUE(alive == nullptr || (*alive)[arc]);
            }
            dependencies.Add(arcs);
          });
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  const std::vector<uint32_t> cycle = dependencies.FindCycle();
  EXPECT_TRUE(cycle.empty()) << CycleText(g, cycle);
}

TEST(UpDownTest, RandomGraphsHaveNoCycle) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const NetworkGraph g = RandomGraph(16, static_cast<int>(3 * seed), seed);
    UpDown paths(g);
    EXPECT_FALSE(paths.by_tier());
    CheckUpDown(g, &paths);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

// On the same graphs, all shortest paths together have cycles.
TEST(UpDownTest, ShortestPathsHaveACycle) {
  int cycles = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const NetworkGraph g = RandomGraph(16, static_cast<int>(3 * seed), seed);
    ShortestPaths paths(g);
    ChannelDependencies dependencies;
    for (uint32_t a = 0; a < g.devices(); ++a) {
      for (uint32_t b = 0; b < g.devices(); ++b) {
        std::vector<uint32_t> route;
        AllRoutes(
            g, [&](uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) { paths.Next(at, to, arcs); }, a, b,
            &route, [&](const std::vector<uint32_t>& arcs) { dependencies.Add(arcs); });
      }
    }
    cycles += dependencies.FindCycle().empty() ? 0 : 1;
  }
  EXPECT_GE(cycles, 6);
}

// The distance over links down only, if there is such a path; otherwise one link up, and the distance from
// there.
TEST(UpDownTest, DistancesMatchTheDefinition) {
  constexpr int kFar = UpDown::kUnreachable;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const NetworkGraph g = RandomGraph(24, 20, seed);
    UpDown paths(g);
    for (uint32_t to = 0; to < g.vertices(); ++to) {
      std::vector<int> down(g.vertices(), kFar), all;
      down[to] = 0;
      const auto settle = [&](bool up, std::vector<int>* distance) {
        for (bool changed = true; changed;) {
          changed = false;
          for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
            const uint32_t v = g.source(arc), u = g.target(arc);
            if (paths.Up(arc) != up || (u != to && !g.Forwards(u)) || (*distance)[u] + 1 >= (*distance)[v]) {
              continue;
            }
            if (up && down[v] < kFar) continue;
            (*distance)[v] = (*distance)[u] + 1;
            changed = true;
          }
        }
      };
      settle(false, &down);
      all = down;
      settle(true, &all);
      for (uint32_t at = 0; at < g.vertices(); ++at) {
        ASSERT_EQ(paths.Distance(at, to), all[at]) << g.VertexName(at) << " to " << g.VertexName(to);
      }
    }
  }
}

TEST(UpDownTest, UsesTiersOfALeafSpine) {
  const NetworkGraph g = LeafSpine(4, 3, 2);
  UpDown paths(g);
  EXPECT_TRUE(paths.by_tier());
  ShortestPaths shortest(g);
  for (uint32_t a = 0; a < g.devices(); ++a) {
    for (uint32_t b = 0; b < g.devices(); ++b) {
      EXPECT_EQ(paths.Distance(a, b), shortest.Distance(a, b));
      for (uint32_t at : {a, g.target(g.begin(a))}) {
        std::vector<uint32_t> arcs, expected;
        paths.Next(at, b, &arcs);
        shortest.Next(at, b, &expected);
        EXPECT_EQ(arcs, expected);
      }
    }
  }
  CheckUpDown(g, &paths);
  // From spine to spine, a path would have to go down and then up.
  EXPECT_EQ(paths.Distance(*g.FindVertex("spine.0"), *g.FindVertex("spine.1")), UpDown::kUnreachable);
  UpDown levels(g, UpDown::Order::kLevels);
  EXPECT_FALSE(levels.by_tier());
  CheckUpDown(g, &levels);
}

TEST(UpDownTest, RoutesNetworksWithEqualTiers) {
  for (const char* spec : {"dragonfly:h=1", "dragonfly_plus:l=2", "slim_fly:q=3,p=1"}) {
    const Network n = MakeNetwork(spec);
    UpDown paths(n.graph);
    EXPECT_FALSE(paths.by_tier());
    CheckUpDown(n.graph, &paths);
  }
}

TEST(UpDownTest, RoutesThroughForwardingDevices) {
  const NetworkGraph g = Grid(4, true);
  UpDown paths(g);
  CheckUpDown(g, &paths);
}

TEST(UpDownTest, BudgetDoesNotChangeAnswers) {
  const NetworkGraph g = RandomGraph(40, 30, 5);
  UpDown all(g), few(g, UpDown::Order::kAuto, 1000);
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    const auto a = static_cast<uint32_t>(random() % g.vertices());
    const auto b = static_cast<uint32_t>(random() % g.vertices());
    ASSERT_EQ(all.Distance(a, b), few.Distance(a, b));
    std::vector<uint32_t> x, y;
    all.Next(a, b, &x);
    few.Next(a, b, &y);
    ASSERT_EQ(x, y);
  }
}

TEST(UpDownTest, AvoidsDeadLinks) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const NetworkGraph g = RandomGraph(16, 20, seed);
    UpDown paths(g);
    std::vector<bool> alive(g.arcs(), true);
    std::mt19937_64 random(seed);
    int tried = 0;
    // Links between switches, as long as everything stays connected.
    for (int i = 0; i < 12; ++i) {
      const uint32_t arc = g.begin(g.devices()) + static_cast<uint32_t>(random() % (g.arcs() - g.devices()));
      if (g.target(arc) < g.devices() || g.source(arc) < g.devices() || !alive[arc]) continue;
      alive[arc] = alive[g.reverse(arc)] = false;
      ShortestPaths shortest(g);
      shortest.SetAlive(&alive);
      bool connected = true;
      for (uint32_t d = 0; d < g.devices(); ++d) {
        connected = connected && shortest.Distance(0, d) != ShortestPaths::kUnreachable;
      }
      if (!connected) alive[arc] = alive[g.reverse(arc)] = true;
      tried += connected ? 1 : 0;
    }
    EXPECT_GT(tried, 3);
    paths.SetAlive(&alive);
    CheckUpDown(g, &paths, &alive);
    // A device without its link.
    alive[g.begin(3)] = alive[g.reverse(g.begin(3))] = false;
    paths.SetAlive(&alive);
    EXPECT_EQ(paths.Distance(0, 3), UpDown::kUnreachable);
    EXPECT_EQ(paths.Distance(3, 0), UpDown::kUnreachable);
    std::vector<uint32_t> arcs;
    paths.Next(0, 3, &arcs);
    EXPECT_TRUE(arcs.empty());
    paths.SetAlive(nullptr);
    EXPECT_NE(paths.Distance(0, 3), UpDown::kUnreachable);
    // Up() is also right without an earlier question.
    UpDown fresh(g);
    fresh.SetAlive(&alive);
    paths.SetAlive(&alive);
    for (uint32_t arc = 0; arc < g.arcs(); ++arc) ASSERT_EQ(fresh.Up(arc), paths.Up(arc)) << g.ArcName(arc);
  }
}

TEST(DependencyCycleTest, DimensionOrderNeedsADateline) {
  EXPECT_TRUE(GridCycle(5, /*wrap=*/false, false).empty());
  EXPECT_TRUE(GridCycle(5, /*wrap=*/true, /*dateline=*/true).empty());
  EXPECT_TRUE(GridCycle(4, /*wrap=*/true, /*dateline=*/true).empty());
  for (const uint32_t k : {4u, 5u}) {
    const NetworkGraph g = Grid(k, true);
    const std::vector<uint32_t> cycle = GridCycle(k, true, false);
    ASSERT_EQ(cycle.size(), k);  // around one ring
    for (size_t i = 0; i < cycle.size(); ++i) {
      EXPECT_EQ(g.target(cycle[i]), g.source(cycle[(i + 1) % cycle.size()]));
    }
  }
}

// Minimal routing on a dragonfly needs two virtual channels, the second after the global link.
TEST(DependencyCycleTest, DragonflyNeedsTwoChannels) {
  const Network n = MakeNetwork("dragonfly:h=2,a=4,p=1");
  const NetworkGraph& g = n.graph;
  ChannelDependencies one, two;
  std::mt19937_64 random(1);
  for (uint32_t a = 0; a < g.devices(); ++a) {
    for (uint32_t b = 0; b < g.devices(); ++b) {
      const std::vector<uint32_t> way = RandomRoute(n, nullptr, a, b, &random);
      std::vector<uint32_t> plain, second;
      uint32_t channel = 0;
      for (size_t i = 0; i + 1 < way.size(); ++i) {
        plain.push_back(g.FindArc(way[i], way[i + 1]));
        second.push_back(plain.back() + channel * g.arcs());
        if (g.link_class(plain.back()).name == "global") channel = 1;
      }
      one.Add(plain);
      two.Add(second);
    }
  }
  EXPECT_FALSE(one.FindCycle().empty());
  EXPECT_TRUE(two.FindCycle().empty()) << CycleText(g, two.FindCycle());
}

TEST(DependencyCycleTest, NamesTheLinks) {
  GraphBuilder b;
  b.AddVertices("n", VertexKind::kDevice, 3);
  b.set_devices_forward(true);
  const uint16_t link = b.AddClass(kLink);
  for (uint32_t v = 0; v < 3; ++v) b.AddLink(v, (v + 1) % 3, link);
  const NetworkGraph g = *b.Build();
  ChannelDependencies dependencies;
  const auto arc = [&](uint32_t v) { return g.FindArc(v % 3, (v + 1) % 3); };
  EXPECT_TRUE(dependencies.FindCycle().empty());
  dependencies.Add({arc(0), arc(1)});
  dependencies.Add({arc(1), arc(2)});
  EXPECT_TRUE(dependencies.FindCycle().empty());
  dependencies.Add({arc(2), arc(0)});
  EXPECT_EQ(CycleText(g, dependencies.FindCycle()), "n.0 - n.1 > n.1 - n.2 > n.2 - n.0");
  EXPECT_EQ(CycleText(g, {arc(0) + g.arcs()}), "n.0 - n.1 (channel 1)");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
