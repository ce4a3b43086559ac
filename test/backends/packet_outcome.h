// Networks in parts for the tests of fabric `packet`, and the results of a run.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "test/backends/packet_testing.h"

namespace chakra {

inline constexpr int kClosDevices = 16;

// Eight leaves of two devices, four spines. With `joined`, an unused link without latency makes the network
// one part.
inline Topology Clos(bool joined = false) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, kClosDevices);
  const uint32_t leaf = b.AddVertices("leaf", VertexKind::kSwitch, 8, 1);
  const uint32_t spine = b.AddVertices("spine", VertexKind::kSwitch, 4, 2);
  const uint16_t down = b.AddClass({"down", Bandwidth::FromGigabytes(50), Time::Nanos(400)});
  const uint16_t up = b.AddClass({"up", Bandwidth::FromGigabytes(40), Time::Nanos(600)});
  for (uint32_t i = 0; i < kClosDevices; ++i) b.AddLink(i, leaf + i / 2, down);
  for (uint32_t i = 0; i < 8; ++i) {
    for (uint32_t k = 0; k < 4; ++k) b.AddLink(leaf + i, spine + k, up);
  }
  if (joined) {
    const uint32_t idle = b.AddVertices("idle", VertexKind::kSwitch, 1, 3);
    b.AddLink(spine + 3, idle, b.AddClass({"idle", Bandwidth::FromGigabytes(1), Time::Zero()}));
  }
  return OfGraph(std::move(b));
}

// Islands of two devices around a switch; each device also has a port of the network.
inline Topology Islands() {
  TopologyDimension island = MakeDim(TopologyDimension::Kind::kSwitch, 2, 100, 50);
  TopologyDimension net;
  net.kind = TopologyDimension::Kind::kNetwork;
  net.name = "net";
  net.network = std::make_shared<const Network>(MakeNetwork("fat_tree:k=4", 16));
  net.size = 8;
  return *Topology::Make({island, net});
}

using Numbers = std::vector<uint64_t>;

// All results of a run.
template <typename Events>
struct PacketOutcome {
  std::vector<std::tuple<int64_t, uint64_t, int>> ended;
  Numbers totals;
  std::vector<Numbers> links;
  size_t most_packets = 0;  // in flight

  void Take(const PacketFabricOf<Events>& fabric, const std::vector<FlowEnd>& ends) {
    for (const FlowEnd& e : ends) ended.push_back({e.at.picos(), e.tag, e.kind});
    most_packets = fabric.most_packets_in_flight();
    const PacketTotals t = fabric.Packets();
    totals = {t.packets, t.again,  t.acks,     t.drops, t.lost,  t.trims,
              t.marks,   t.pauses, t.timeouts, t.hops,  t.events};
    for (const LinkUse& u : fabric.Links(10000).busiest) {
      links.push_back({u.link, u.bytes, u.flows, u.packets, u.marks, u.drops, u.lost, u.trims, u.pauses,
                       u.paused, u.most_queued});
      for (const float share : u.series) links.back().push_back(static_cast<uint64_t>(share * 1e6f));
      links.back().insert(links.back().end(), u.queued.begin(), u.queued.end());
      for (const Numbers& count : u.counts)
        links.back().insert(links.back().end(), count.begin(), count.end());
    }
  }
};

template <typename A, typename B>
void ExpectSameOutcome(const PacketOutcome<A>& a, const PacketOutcome<B>& b) {
  EXPECT_EQ(a.ended, b.ended);
  EXPECT_EQ(a.totals, b.totals);
  EXPECT_EQ(a.links, b.links);
}

}  // namespace chakra
