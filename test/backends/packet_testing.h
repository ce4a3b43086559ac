// Networks and runs for the tests of fabric `packet`.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/packet/packet_fabric.h"
#include "test/backends/fabric_testing.h"
#include "test/backends/network_testing.h"

namespace chakra {

using packet::BucketEvents;
using packet::CheckPacketOptions;
using packet::FixedWindow;
using packet::HeapEvents;
using packet::KindOf;
using packet::kNoIndex;
using packet::PacketFabric;
using packet::PacketFabricOf;
using packet::PacketNetwork;
using packet::PacketOptions;
using packet::ParsePacketOptions;
using packet::Port;
using packet::PortCredit;
using packet::PortInfo;
using packet::PortQueue;
using packet::TransportKind;
using packet::TransportKinds;

inline PacketOptions Packets(const std::string& text) {
  const auto options = ParsePacketOptions(text);
  EXPECT_TRUE(options.ok()) << text << ": " << options.status();
  return options.ok() ? *options : PacketOptions();
}
inline FabricOptions PacketFabricOptions(const std::string& text) {
  FabricOptions options;
  options.Set(Packets(text));
  return options;
}

inline Topology OfNetwork(Network network) {
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kNetwork;
  d.name = "net";
  d.network = std::make_shared<const Network>(std::move(network));
  d.size = static_cast<int>(d.network->graph.devices());
  auto t = Topology::Make({d});
  EXPECT_TRUE(t.ok()) << t.status();
  return *std::move(t);
}
inline Topology OfNetwork(const std::string& spec, int devices = 0) {
  return OfNetwork(MakeNetwork(spec, devices));
}
inline Topology OfGraph(GraphBuilder builder) {
  auto graph = builder.Build();
  EXPECT_TRUE(graph.ok()) << graph.status();
  return OfNetwork(Network{*std::move(graph), nullptr, ""});
}

// Device 0, switches in a row, device 1; rates of the links in GB/s.
inline Topology Line(const std::vector<double>& rates, Time latency) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 2);
  const auto switches = static_cast<uint32_t>(rates.size() - 1);
  b.AddVertices("switch", VertexKind::kSwitch, switches, 1);
  for (uint32_t i = 0; i < rates.size(); ++i) {
    const uint16_t c = b.AddClass({"link", Bandwidth::FromGigabytes(rates[i]), latency});
    b.AddLink(i == 0 ? 0 : 1 + i, i < switches ? 2 + i : 1, c);
  }
  return OfGraph(std::move(b));
}

// Devices around one switch; rates of the links in GB/s.
inline Topology Star(const std::vector<double>& rates, Time latency) {
  GraphBuilder b;
  const auto devices = static_cast<uint32_t>(rates.size());
  b.AddVertices("device", VertexKind::kDevice, devices);
  b.AddVertices("switch", VertexKind::kSwitch, 1, 1);
  for (uint32_t i = 0; i < devices; ++i) {
    b.AddLink(i, devices, b.AddClass({"link", Bandwidth::FromGigabytes(rates[i]), latency}));
  }
  return OfGraph(std::move(b));
}
inline Topology Star(int devices, double gigabytes_per_s, Time latency) {
  return Star(std::vector<double>(static_cast<size_t>(devices), gigabytes_per_s), latency);
}

// The link from vertex `from` to vertex `to`, in a topology with one dimension, a network.
inline uint32_t LinkOf(const Topology& t, const std::string& from, const std::string& to) {
  const NetworkGraph& g = t.dimensions()[0].network->graph;
  return t.NetworkHop(0, 0, g.FindArc(*g.FindVertex(from), *g.FindVertex(to))).link;
}

// Starts all flows at one instant, with tags from 0.
inline std::vector<TimedFlow> AtOnce(std::vector<Flow> flows, Time at = Time::Zero()) {
  std::vector<TimedFlow> timed;
  for (Flow& f : flows) {
    f.tag = timed.size();
    timed.push_back({f, at});
  }
  return timed;
}
// Devices 1 to `senders` send to device 0.
inline std::vector<TimedFlow> Incast(int senders, uint64_t bytes) {
  std::vector<Flow> flows;
  for (int i = 1; i <= senders; ++i) flows.push_back(Message(i, 0, bytes, 0));
  return AtOnce(flows);
}

// Flows between random devices, of up to `most` bytes; many are empty or small.
inline std::vector<TimedFlow> RandomFlows(int devices, int count, uint64_t most, std::mt19937_64* random) {
  std::vector<TimedFlow> flows;
  Time at;
  for (int i = 0; i < count; ++i) {
    Flow f = Message(static_cast<int>((*random)() % static_cast<uint64_t>(devices)),
                     static_cast<int>((*random)() % static_cast<uint64_t>(devices)),
                     (*random)() % 5 == 0 ? (*random)() % 3 : (*random)() % most, static_cast<uint64_t>(i));
    f.want_sent = (*random)() % 2 == 0;
    f.service_class = static_cast<int>((*random)() % 3);
    f.delay = Time::Nanos(static_cast<int64_t>((*random)() % 3 * 500));
    if ((*random)() % 2 == 0) at += Time::Picos(static_cast<int64_t>((*random)() % 3000000));
    flows.push_back({f, at});
  }
  return flows;
}

// A fabric that ran until nothing more happened, and the ends of its flows.
struct PacketRun {
  std::unique_ptr<Fabric> owner;
  PacketFabric* fabric = nullptr;
  std::vector<FlowEnd> ended;
  Time last;  // the last event of any kind

  PacketRun(const Topology& topology, const FabricOptions& options, const std::vector<TimedFlow>& flows,
            const std::function<void(Time, const PacketFabric&)>& each = nullptr) {
    auto made = MakeFabric("packet", topology, options);
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) return;
    owner = *std::move(made);
    fabric = static_cast<PacketFabric*>(owner.get());
    size_t next = 0;
    for (;;) {
      const Time start = next < flows.size() ? flows[next].at : Time::Never();
      const Time t = std::min(start, fabric->NextEvent());
      if (t == Time::Never()) return;
      if (t > Time::Micros(1000000) || fabric->counters().events > 20000000) {
        ADD_FAILURE() << "no end: " << fabric->WhyStuck();
        return;
      }
      last = t;
      fabric->AdvanceTo(t, &ended);
      for (; next < flows.size() && flows[next].at == t; ++next) fabric->Start(flows[next].flow, t);
      if (each != nullptr) each(t, *fabric);
    }
  }
  Time Received(uint64_t tag) const { return ReceivedAt(ended, tag); }
  Time Sent(uint64_t tag) const { return ReceivedAt(ended, tag, FlowEnd::kSent); }
  // When the last flow was received.
  Time End() const {
    Time end;
    for (const FlowEnd& e : ended) {
      if (e.kind == FlowEnd::kReceived) end = std::max(end, e.at);
    }
    return end;
  }
  PacketTotals counters() const { return fabric->counters(); }
  // The report of a used link's port.
  const PortInfo& Info(uint32_t link) const { return fabric->network().info(fabric->network().Find(link)); }
  // The most bytes that waited for the link.
  uint64_t MostQueued(uint32_t link) const {
    return fabric->network().backlog(fabric->network().Find(link)).most;
  }
};

// Expects that each message was received exactly once, and sent exactly once if this was asked for.
inline void ExpectAllReceived(const std::vector<TimedFlow>& flows, const std::vector<FlowEnd>& ended) {
  std::map<std::pair<uint64_t, int>, int> left;
  size_t expected = 0;
  for (const TimedFlow& f : flows) {
    ++left[{f.flow.tag, FlowEnd::kReceived}];
    ++expected;
    if (!f.flow.want_sent) continue;
    ++left[{f.flow.tag, FlowEnd::kSent}];
    ++expected;
  }
  EXPECT_EQ(ended.size(), expected);
  for (const FlowEnd& e : ended) --left[{e.tag, e.kind}];
  for (const auto& [what, n] : left) EXPECT_EQ(n, 0) << "tag " << what.first << " kind " << what.second;
}

// Expects that nothing waits, nothing is counted as waiting, nothing is paused, and all credit is back.
inline void ExpectQuiet(const PacketFabric& fabric, const FabricOptions& options) {
  const PacketNetwork& n = fabric.network();
  for (uint32_t i = 0; i < n.ports(); ++i) {
    const Port& p = n.port(i);
    const std::string name = n.PortName(i);
    EXPECT_EQ(n.backlog(i).bytes, 0u) << name;
    EXPECT_EQ(p.waiting, 0u) << name;
    EXPECT_EQ(p.ready, 0u) << name;
    EXPECT_EQ(p.paused, 0u) << name;
    EXPECT_FALSE(p.posted) << name;
    const LinkClass& c = n.topology().link_classes()[n.info(i).link_class];
    for (uint32_t k = 0; k < static_cast<uint32_t>(options.Get<PacketOptions>().classes); ++k) {
      const PortQueue& q = n.queue(i, k);
      EXPECT_EQ(q.head, kNoIndex) << name;
      EXPECT_EQ(q.bytes, 0u) << name;
      EXPECT_EQ(q.ring, kNoIndex) << name;
      const PortCredit& f = n.credit(i, k);
      EXPECT_EQ(f.ingress, 0u) << name;
      EXPECT_EQ(f.ingress_headroom, 0u) << name;
      EXPECT_FALSE(f.asked_to_pause) << name;
      EXPECT_EQ(f.credit, static_cast<int64_t>(n.Credit(c))) << name << " class " << k;
    }
  }
  for (uint32_t i = 0; i < n.nodes(); ++i) {
    EXPECT_EQ(n.node(i).buffered, 0u) << i;
    EXPECT_EQ(n.node(i).shared, 0u) << i;
  }
}

}  // namespace chakra
