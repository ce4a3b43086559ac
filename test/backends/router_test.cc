// Routes through machines with networks, under every policy.
#include "backends/topology/routing/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "backends/registry.h"
#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

TopologyDimension Implicit(Kind kind, int size) {
  return {kind, size, Bandwidth::FromGigabytes(450), Time::Nanos(25), "inner", nullptr, false};
}

TopologyDimension Net(const std::string& spec, int size, int devices, bool each_rail = false) {
  TopologyDimension d;
  d.kind = Kind::kNetwork;
  d.size = size;
  d.name = "net";
  d.network = std::make_shared<const Network>(MakeNetwork(spec, devices));
  d.each_rail = each_rail;
  return d;
}

Topology Only(const std::string& spec, int devices) {
  Network network = MakeNetwork(spec, devices);
  const int n = static_cast<int>(network.graph.devices());
  return *Topology::Make({Net(spec, n, devices)});
}

// The vertices of a route that is not split, in the graph of the only dimension.
std::vector<uint32_t> Vertices(const Topology& t, const Route& route) {
  const NetworkGraph& g = t.dimensions()[0].network->graph;
  std::vector<uint32_t> out;
  for (const RouteHop& h : route.hops) {
    const uint32_t arc = t.NetworkArc(h.hop.link).arc;
    if (out.empty()) out.push_back(g.source(arc));
    EXPECT_EQ(out.back(), g.source(arc));
    out.push_back(g.target(arc));
  }
  return out;
}

const char* const kNetworks[] = {"leaf_spine:k=8",
                                 "fat_tree:k=8",
                                 "torus:shape=4x4x4",
                                 "hyperx:shape=4x4",
                                 "dragonfly:p=2,a=4,h=2",
                                 "slim_fly:q=5",
                                 "multi_plane:planes=2,of=(leaf_spine:k=8)"};

TEST(Router, RoutesHaveNoLoopsUnderAnyPolicy) {
  for (const char* spec : kNetworks) {
    const Topology t = Only(spec, 0);
    for (const std::string& name : RoutingPolicyNames()) {
      RoutingOptions options;
      options.policy = *ParseRoutingPolicy(name);
      Router router(t, options);
      std::mt19937_64 random(3);
      for (int i = 0; i < 200; ++i) {
        const int a = static_cast<int>(random() % static_cast<uint64_t>(t.devices()));
        const int b = static_cast<int>(random() % static_cast<uint64_t>(t.devices()));
        const Route& route = router.Find(a, b, random());
        ASSERT_TRUE(route.found) << spec << " " << name;
        if (a == b) {
          EXPECT_TRUE(route.hops.empty());
          continue;
        }
        // At every vertex, the shares in are the shares out.
        const NetworkGraph& g = t.dimensions()[0].network->graph;
        std::map<uint32_t, double> net;
        std::set<uint32_t> links;
        for (const RouteHop& h : route.hops) {
          const uint32_t arc = t.NetworkArc(h.hop.link).arc;
          ASSERT_TRUE(links.insert(arc).second) << spec << " " << name;
          ASSERT_GT(h.share, 0);
          ASSERT_LE(h.share, 1);
          net[g.source(arc)] += h.share;
          net[g.target(arc)] -= h.share;
        }
        for (const auto& [v, sum] : net) {
          const double expected = v == static_cast<uint32_t>(a) ? 1 : v == static_cast<uint32_t>(b) ? -1 : 0;
          ASSERT_NEAR(sum, expected, 1e-9) << spec << " " << name << " " << g.VertexName(v);
        }
        if (route.split) continue;
        const std::vector<uint32_t> way = Vertices(t, route);
        EXPECT_EQ(std::set<uint32_t>(way.begin(), way.end()).size(), way.size()) << spec << " " << name;
        Time latency;
        for (const RouteHop& h : route.hops) latency += t.link_classes()[h.hop.link_class].latency;
        EXPECT_EQ(route.latency, latency);
      }
    }
  }
}

TEST(Router, HashesSpreadPairsBySeed) {
  const Topology t = Only("leaf_spine:k=16", 0);
  RoutingOptions options;
  const auto spines = [&](uint64_t seed, int queue_pairs) {
    options.seed = seed;
    options.queue_pairs = queue_pairs;
    Router router(t, options);
    std::map<uint32_t, int> used;
    for (uint64_t tag = 0; tag < 64; ++tag) {
      for (int i = 0; i < 8; ++i) ++used[Vertices(t, router.Find(i, 127 - i, tag))[2]];
    }
    return used;
  };
  EXPECT_LE(spines(1, 1).size(), 8u);  // one path for each of 8 pairs
  EXPECT_NE(spines(1, 1), spines(2, 1));
  EXPECT_EQ(spines(1, 1), spines(1, 1));
  // 16 queue pairs reach (nearly) all of 8 spines, evenly enough.
  const auto many = spines(1, 64);
  EXPECT_EQ(many.size(), 8u);
  for (const auto& [spine, n] : many) EXPECT_NEAR(n, 64, 40);
}

TEST(Router, DestinationRoutingFormsTrees) {
  const Topology t = Only("fat_tree:k=4", 0);
  RoutingOptions options;
  options.policy = RoutingPolicy::kDestination;
  Router router(t, options);
  for (int b = 0; b < 16; ++b) {
    std::map<uint32_t, uint32_t> next;
    for (int a = 0; a < 16; ++a) {
      const Route& route = router.Find(a, b, 0);
      for (const RouteHop& h : route.hops) {
        const uint32_t arc = t.NetworkArc(h.hop.link).arc;
        const auto [it, fresh] = next.try_emplace(t.dimensions()[0].network->graph.source(arc), arc);
        EXPECT_EQ(it->second, arc);
      }
    }
  }
}

TEST(Router, SprayUsesAllPathsEvenly) {
  const Topology t = Only("fat_tree:k=4", 0);
  RoutingOptions options;
  options.policy = RoutingPolicy::kSpray;
  Router router(t, options);
  // Between pods: 2 uplinks by halves, 4 core links by quarters, and down again.
  const Route& route = router.Find(0, 15, 0);
  std::map<double, int> shares;
  for (const RouteHop& h : route.hops) ++shares[h.share];
  EXPECT_EQ(shares, (std::map<double, int>{{1, 2}, {0.5, 4}, {0.25, 8}}));
}

TEST(Router, NetworksRouteAcrossInnerDimensions) {
  // 4 nodes of 4 devices on one leaf-spine. Each device has its own NIC, so the network leads to the device
  // itself.
  const Topology all = *Topology::Make({Implicit(Kind::kSwitch, 4), Net("leaf_spine:k=8", 4, 16)});
  Router router(all, {});
  const Route& far = router.Find(1, 14, 0);
  for (const RouteHop& h : far.hops) EXPECT_EQ(h.hop.dimension, 1);
  EXPECT_EQ(router.Find(1, 2, 0).hops.size(), 2u);
  EXPECT_EQ(router.Find(1, 2, 0).hops[0].hop.dimension, 0);
  // One switch for each rail: the route first goes to the rail inside the node.
  const Topology rails = *Topology::Make({Implicit(Kind::kSwitch, 4), Net("switch", 4, 4, true)});
  Router of_rails(rails, {});
  const Route& across = of_rails.Find(1, 14, 0);
  ASSERT_EQ(across.hops.size(), 4u);
  EXPECT_EQ(across.hops[1].hop.dimension, 0);
  EXPECT_EQ(across.hops[2].hop.dimension, 1);
  // Each copy of the network has its own links.
  std::set<uint32_t> links;
  for (int rail = 0; rail < 4; ++rail) links.insert(of_rails.Find(rail, 12 + rail, 0).hops[0].hop.link);
  EXPECT_EQ(links.size(), 4u);
  EXPECT_EQ(rails.links(), 16u * 2 + 4 * 8);
}

TEST(Router, AvoidsDeadLinks) {
  const Topology t = Only("leaf_spine:k=8", 0);
  const NetworkGraph& g = t.dimensions()[0].network->graph;
  Router router(t, {});
  const uint32_t leaf = g.target(g.begin(0)), far = g.target(g.begin(31));
  std::set<uint32_t> dead;
  for (uint32_t arc = g.begin(leaf); arc < g.end(leaf); ++arc) {
    if (g.target(arc) >= g.devices() && dead.size() < 3) dead.insert(arc);
  }
  for (const uint32_t arc : dead) router.SetAlive(t.NetworkHop(0, 0, arc).link, false);
  for (uint64_t tag = 0; tag < 50; ++tag) {
    for (const RouteHop& h : router.Find(0, 31, tag).hops) {
      EXPECT_EQ(dead.count(t.NetworkArc(h.hop.link).arc), 0u);
    }
  }
  for (uint32_t arc = g.begin(leaf); arc < g.end(leaf); ++arc) {
    if (g.target(arc) >= g.devices()) router.SetAlive(t.NetworkHop(0, 0, arc).link, false);
  }
  EXPECT_FALSE(router.Find(0, 31, 0).found);
  EXPECT_TRUE(router.Find(31, 0, 0).found);  // the other direction is alive
  EXPECT_TRUE(router.Find(0, 1, 0).found);
  for (uint32_t arc = g.begin(leaf); arc < g.end(leaf); ++arc)
    router.SetAlive(t.NetworkHop(0, 0, arc).link, true);
  EXPECT_TRUE(router.Find(0, 31, 0).found);
  EXPECT_NE(far, leaf);
}

// Many links go down and some return between two calls of Find(). Calls in between change nothing.
TEST(Router, AppliesManyChangesAtOnce) {
  const Topology t = Only("fat_tree:k=4", 0);
  const NetworkGraph& g = t.dimensions()[0].network->graph;
  for (const bool up_down : {false, true}) {
    RoutingOptions options;
    options.up_down = up_down;
    Router patient(t, options), asked(t, options);
    const auto set = [&](uint32_t arc, bool alive) {
      patient.SetAlive(t.NetworkHop(0, 0, arc).link, alive);
      asked.SetAlive(t.NetworkHop(0, 0, arc).link, alive);
      asked.Find(0, 15, 0);
    };
    for (uint32_t round = 0; round < 3; ++round) {
      for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
        if (g.Forwards(g.source(arc)) && g.Forwards(g.target(arc)) && (arc + round) % 4 != 3) {
          set(arc, arc % 4 != round);
        }
      }
      int found = 0;
      for (int src = 0; src < 16; ++src) {
        for (int dst = 0; dst < 16; ++dst) {
          const Route a = patient.Find(src, dst, 7), b = asked.Find(src, dst, 7);
          ASSERT_EQ(a.found, b.found) << src << " to " << dst;
          ASSERT_EQ(a.hops.size(), b.hops.size());
          for (size_t i = 0; i < a.hops.size(); ++i) EXPECT_EQ(a.hops[i].hop.link, b.hops[i].hop.link);
          found += a.found && src != dst ? 1 : 0;
        }
      }
      EXPECT_GT(found, 16);
    }
  }
}

class Busy : public LinkLoad {
 public:
  double FlowsOn(uint32_t link) const override { return busy.count(link) ? 100 : 0; }
  std::set<uint32_t> busy;
};

TEST(Router, UgalAvoidsBusyMinimalPaths) {
  const Topology t = Only("dragonfly:p=2,a=4,h=2", 0);
  RoutingOptions options;
  options.policy = RoutingPolicy::kUgal;
  Router router(t, options);
  const Route minimal = router.Find(0, 71, 0);
  Busy load;
  router.set_load(&load);
  EXPECT_EQ(router.Find(0, 71, 0).hops.size(), minimal.hops.size());
  // All links of the route are busy, except the host links, which every path takes.
  for (size_t i = 1; i + 1 < minimal.hops.size(); ++i) load.busy.insert(minimal.hops[i].hop.link);
  const Route& aside = router.Find(0, 71, 0);
  EXPECT_GT(aside.hops.size(), 2u);
  for (const RouteHop& h : aside.hops) EXPECT_EQ(load.busy.count(h.hop.link), 0u);
}

TEST(Router, StaticRoutesComeFirst) {
  const Topology t = Only("leaf_spine:k=8", 0);
  const NetworkGraph& g = t.dimensions()[0].network->graph;
  auto file = RouteFile::Parse("device.0 -> device.31: leaf.0 spine.3 leaf.7 device.31\n", "r", g);
  ASSERT_TRUE(file.ok()) << file.status();
  for (const std::string& name : RoutingPolicyNames()) {
    RoutingOptions options;
    options.policy = *ParseRoutingPolicy(name);
    options.routes = {std::make_shared<const RouteFile>(*file)};
    Router router(t, options);
    EXPECT_EQ(g.VertexName(Vertices(t, router.Find(0, 31, 7))[2]), "spine.3") << name;
  }
}

TEST(Router, UnknownPoliciesGetADidYouMean) {
  EXPECT_THAT(std::string(ParseRoutingPolicy("ecpm").status().message()),
              ::testing::HasSubstr("did you mean 'ecmp'"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
