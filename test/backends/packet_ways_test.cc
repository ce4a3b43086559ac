// Paths of packets: the table of paths, where paths diverge, and the choice there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "backends/packet/ways/adapt.h"
#include "backends/packet/ways/ways.h"
#include "test/backends/packet_testing.h"
#include "test/backends/packet_ways_testing.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PathTable, CallsBackBeforeItMoves) {
  PathTable paths;
  int moves = 0;
  paths.set_before_move([&] { ++moves; });
  paths.MakeRoom(10);
  EXPECT_EQ(moves, 1);
  for (uint32_t i = 0; i < 10; ++i) paths.Add(i);
  paths.MakeRoom(10);  // the table has more room than was asked for
  EXPECT_EQ(moves, 1);
  paths.MakeRoom(100000);
  EXPECT_EQ(moves, 2);
  EXPECT_EQ(paths.size(), 10u);
  EXPECT_EQ(paths[9], 9u);
}

TEST(PathTable, CopiesPathsOfAnotherTable) {
  PathTable from, to;
  for (const uint32_t port : {5, 6, 7, 8}) from.Add(port);
  to.Add(1);
  EXPECT_EQ(to.AddCopy(from, 1, 2), 1u);
  EXPECT_EQ(to.size(), 3u);
  EXPECT_EQ(to[1], 6u);
  EXPECT_EQ(to[2], 7u);
}

// The paths of a pair, by their ports; an empty path is not found.
struct WaysOfPair {
  PathTable paths;
  std::vector<Way> ways;
  explicit WaysOfPair(const std::vector<std::vector<uint32_t>>& ports) {
    for (const std::vector<uint32_t>& of : ports) {
      paths.AddPlaceOfAlternatives();
      Way way;
      way.ports = paths.size();
      way.hops = static_cast<uint8_t>(of.size());
      way.found = !of.empty();
      for (const uint32_t port : of) paths.Add(port);
      ways.push_back(way);
    }
    paths.LinkAlternatives(ways);
  }
  // The path after `way` in the circle of alternatives at a hop.
  uint32_t Next(uint32_t way, uint32_t hop) const { return paths.Next(ways[way].ports, hop).way; }
};

TEST(PathTable, AlternativesFormCircles) {
  // After port 1 there are three ports, after port 2 two; one path is not found.
  const WaysOfPair p({{1, 2, 4}, {1, 2, 5}, {1, 3, 6}, {}, {1, 7, 8}});
  for (const uint32_t way : {0u, 1u, 2u, 4u}) EXPECT_EQ(p.Next(way, 0), 0u) << "alone: the first of its port";
  EXPECT_EQ(p.Next(0, 1), 2u);
  EXPECT_EQ(p.Next(1, 1), 2u);
  EXPECT_EQ(p.Next(2, 1), 4u);
  EXPECT_EQ(p.Next(4, 1), 0u);
  EXPECT_EQ(p.Next(0, 2), 1u);
  EXPECT_EQ(p.Next(1, 2), 0u);
  EXPECT_EQ(p.Next(2, 2), 2u);
  EXPECT_EQ(p.paths.Next(p.ways[2].ports, 1).hops, 3u);
}

TEST(TakeLeastLoaded, KeepsItsPortUnlessAnotherHasLess) {
  const WaysOfPair p({{1, 2, 4}, {1, 3, 5}, {1, 6, 7}});
  const auto taken = [&](std::map<uint32_t, double> load, uint8_t hop) {
    Packet k;
    k.ports = p.ways[0].ports;
    k.hop = hop;
    k.hops = 3;
    TakeLeastLoaded(
        p.paths, [&](uint32_t port) { return load[port]; }, &k);
    EXPECT_EQ(k.ports, p.ways[k.path].ports);
    return k.path;
  };
  EXPECT_EQ(taken({{2, 5}, {3, 5}, {6, 5}}, 1), 0);
  EXPECT_EQ(taken({{2, 5}, {3, 4}, {6, 4}}, 1), 1);
  EXPECT_EQ(taken({{2, 5}, {3, 4}, {6, 3}}, 1), 2);
  EXPECT_EQ(taken({{4, 5}}, 2), 0) << "no other way has been the same so far";
}

struct Found {
  explicit Found(const PacketOptions& options)
      : topology(Line({1, 2}, Time::Micros(1))),
        network(topology, options),
        ways(&network, options),
        finder(&network, &ways) {
    connection.dst = 1;
    connection.tag = 6;
    connection.ways = ways.AddPair();
  }
  Topology topology;
  PacketNetwork network;
  Ways ways;
  TopologyWays finder;
  Connection connection;
};

TEST(Ways, ConnectionsFindTheirOnlyPath) {
  PacketOptions o;
  o.paths = 4;
  Found f(o);
  f.ways.Find(f.connection);
  f.ways.Find(f.connection);
  EXPECT_THAT(f.finder.asked, ElementsAre(2));
  f.connection.tag = 3;
  f.ways.Find(f.connection);
  EXPECT_THAT(f.finder.asked, ElementsAre(2, 3));
  f.ways.ForgetRoutes();
  f.ways.Find(f.connection);
  EXPECT_THAT(f.finder.asked, ElementsAre(2, 3, 3));
}

TEST(Ways, SpreadConnectionsFindAllPaths) {
  PacketOptions o;
  o.paths = 3;
  o.spread = PacketOptions::Spread::kPacket;
  Found f(o);
  f.ways.Find(f.connection);
  EXPECT_THAT(f.finder.asked, ElementsAre(0, 1, 2));
  EXPECT_EQ(f.ways.PortsOf(f.connection).size(), 3u * 4);
}

TEST(Ways, FactsGiveNarrowestLinkAndRoundTrip) {
  PacketOptions o;
  o.mtu = 900;
  o.header = 100;
  o.ack = 50;
  Found f(o);
  EXPECT_THAT(f.ways.PortsOf(f.connection), IsEmpty());
  f.ways.Find(f.connection);
  const PathFacts facts = f.ways.Facts(f.connection, f.ways[f.connection.ways]);
  EXPECT_EQ(facts.hops, 2);
  EXPECT_DOUBLE_EQ(facts.rate, 0.001);  // 1 GB/s
  EXPECT_DOUBLE_EQ(facts.nic_rate, 0.001);
  EXPECT_EQ(facts.wire, 1000u);
  // Four links of 1 us; 1,000 B and 50 B at 1 GB/s and at 2 GB/s.
  EXPECT_EQ(facts.base_rtt, Time::Nanos(4000 + 1000 + 500 + 50 + 25));
  EXPECT_EQ(f.ways.BaseRtt(f.connection), facts.base_rtt.picos());
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
