// Fabric `packet` and ns-3 give the same completion times. The peer itself is checked against closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "test/peers/packets.h"

namespace chakra::peers::CHAKRA_FILE {
namespace {

constexpr uint64_t kRate = 12500000000;  // bytes/s: 80 ps a byte
constexpr uint32_t kMtu = 4086;          // 4150 bytes on a link

// One flow over a line of links.
Ns3Case Line(const std::vector<uint64_t>& rates, int64_t delay, uint64_t bytes, uint32_t window) {
  Ns3Case c;
  c.mtu = kMtu;
  Ns3Flow f;
  f.bytes = bytes;
  f.window = window;
  for (uint32_t i = 0; i < rates.size(); ++i) {
    c.links.push_back({i, i + 1, rates[i], delay});
    c.links.push_back({i + 1, i, rates[i], delay});
    f.way.push_back(2 * i);
    f.back.insert(f.back.begin(), 2 * i + 1);
  }
  c.flows.push_back(f);
  return c;
}

void ExpectPeer(const Ns3Case& c, int64_t received, int64_t acked) {
  for (const Ns3Stack stack : {Ns3Stack::kDevices, Ns3Stack::kUdp}) {
    const Ns3Result r = RunNs3(c, stack);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.received[0], received) << static_cast<int>(stack);
    EXPECT_EQ(r.acked[0], acked) << static_cast<int>(stack);
    const uint64_t packets = (c.flows[0].bytes + c.mtu - 1) / c.mtu;
    EXPECT_EQ(r.hops, packets * c.links.size());
  }
}

// Store and forward over k links of one rate: the last byte arrives after k delays, n packets, and k - 1
// more. Its acknowledgement takes k delays and k times its own transfer.
TEST(Ns3Peer, EqualLinksMatchClosedForm) {
  const std::vector<uint64_t> six(6, kRate);
  ExpectPeer(Line(six, 1000000, 10 * kMtu, 10), 10980000, 17010720);
  const int64_t last = 2010 * 80, full = 4150 * 80;
  const int64_t received = 6000000 + 489 * full + last + 5 * full;
  ExpectPeer(Line(six, 1000000, 489 * kMtu + 2010 - 64, 490), received, received + 6000000 + 6 * 64 * 80);
}

// The narrowest link spaces the packets.
TEST(Ns3Peer, UnequalLinksMatchClosedForm) {
  const Ns3Case c = Line({kRate, 4 * kRate, 4 * kRate, kRate}, 500000, 20 * kMtu, 20);
  ExpectPeer(c, 9138000, 9138000 + 2000000 + 64 * (80 + 20 + 20 + 80));
}

// A window of W packets moves by W each round trip T = 2 k p + k (L + A) / r.
TEST(Ns3Peer, WindowMatchesClosedForm) {
  const Ns3Case c = Line(std::vector<uint64_t>(6, kRate), 1000000, 40 * kMtu, 4);
  const int64_t trip = 12000000 + 6 * (4150 + 64) * 80, spacing = 4150 * 80;
  ExpectPeer(c, 9 * trip + 6000000 + (4 + 5) * spacing, 10 * trip + 3 * spacing);
}

TEST(Ns3Peer, RefusesInvalidCases) {
  Ns3Case c = Line({kRate}, 0, 1, 1);
  c.flows[0].way = {7};
  EXPECT_EQ(RunNs3(c).error, "a way that does not lead along links");
  c = Line({kRate}, 0, 1, 1);
  c.flows[0].back = {0};
  EXPECT_EQ(RunNs3(c).error, "a way back that does not lead back");
  c = Line({kRate}, 0, 0, 1);
  EXPECT_EQ(RunNs3(c).error, "a flow without bytes or window");
  c = Line({kRate}, 0, 1, 1);
  c.ack = 6;
  EXPECT_EQ(RunNs3(c).error, "headers take 7 bytes");
}

// Compares both simulations. All packet times are whole picoseconds, so the results are equal, except for
// events at the same instant, whose orders differ. `tolerance` is for cases that cannot avoid such events.
void Compare(const absl::StatusOr<Topology>& topology, const FabricOptions& options, std::vector<Send> sends,
             double tolerance = 0) {
  ASSERT_TRUE(topology.ok()) << topology.status();
  std::stable_sort(sends.begin(), sends.end(),
                   [](const Send& a, const Send& b) { return a.start < b.start; });
  const PacketRun ours = RunPacket(*topology, options, sends);
  ASSERT_EQ(ours.error, "");
  const Ns3Result theirs = RunNs3(Ns3CaseOf(*topology, options, sends));
  ASSERT_EQ(theirs.error, "");
  EXPECT_EQ(ours.hops, theirs.hops);
  for (size_t i = 0; i < sends.size(); ++i) {
    const auto a = static_cast<double>(ours.received[i]), b = static_cast<double>(theirs.received[i]);
    EXPECT_NEAR(a, b, tolerance * b) << "send " << i;
  }
}

uint64_t Below(std::mt19937_64* random, uint64_t n) { return (*random)() % n; }

// Devices 0 and 1 with switches between them.
absl::StatusOr<Topology> Chain(const std::vector<uint64_t>& rates, int64_t delay) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 2);
  const auto switches = static_cast<uint32_t>(rates.size() - 1);
  if (switches > 0) b.AddVertices("switch", VertexKind::kSwitch, switches, 1);
  for (uint32_t i = 0; i < rates.size(); ++i) {
    const auto rate = Bandwidth::BytesPerSecond(static_cast<int64_t>(rates[i]));
    const uint16_t c = b.AddClass({"link" + std::to_string(i), rate, Time::Picos(delay)});
    b.AddLink(i == 0 ? 0 : i + 1, i == switches ? 1 : i + 2, c);
  }
  return OneNetwork(b.Build());
}

TEST(PacketNs3, OneFlow) {
  const std::vector<std::vector<uint64_t>> lines = {
      {kRate},
      {kRate, kRate},
      {kRate, kRate, kRate, kRate, kRate},
      {4 * kRate, kRate},
      {kRate, 4 * kRate, 2 * kRate, kRate, 8 * kRate},
  };
  for (const auto& rates : lines) {
    const auto topology = Chain(rates, 500000);
    // 5 links in both directions hold 20 packets.
    for (const uint32_t window : {1u, 4u, 20u, 40u}) {
      Compare(topology, PeerOptions(window), {{0, 1, 100 * 4096 + 77, Time::Nanos(3)}});
    }
    Compare(topology, PeerOptions(4), {{0, 1, 1, Time::Zero()}});
    Compare(topology, PeerOptions(4), {{0, 1, 4096, Time::Zero()}});
  }
}

TEST(PacketNs3, OtherPacketSizes) {
  FabricOptions options = PeerOptions(8);
  options.Ask<packet::PacketOptions>().mtu = 1000;
  options.Ask<packet::PacketOptions>().header = 48;
  options.Ask<packet::PacketOptions>().ack = 60;
  options.Ask<packet::PacketOptions>().transport = packet::FixedWindow::Config{8000, 1};
  Compare(Chain({kRate, 4 * kRate, 4 * kRate, kRate}, 1000000), options, {{0, 1, 123456, Time::Zero()}});
}

TEST(PacketNs3, BothDirections) {
  // Acknowledgements of one flow go before data of the other.
  for (const uint32_t window : {2u, 16u}) {
    Compare(Chain({kRate, kRate, kRate}, 500000), PeerOptions(window),
            {{0, 1, 200 * 4096, Time::Zero()}, {1, 0, 100 * 4096 + 5, Time::Picos(123457)}});
  }
}

absl::StatusOr<Topology> Star(uint32_t devices) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, devices);
  b.AddVertices("switch", VertexKind::kSwitch, 1, 1);
  for (uint32_t d = 0; d < devices; ++d) {
    // No two packets from different devices arrive at one instant.
    const auto rate = Bandwidth::BytesPerSecond(static_cast<int64_t>(kRate));
    b.AddLink(d, devices, b.AddClass({"link" + std::to_string(d), rate, Time::Picos(500000 + 997 * d)}));
  }
  return OneNetwork(b.Build());
}

TEST(PacketNs3, Incast) {
  for (const uint32_t window : {1u, 4u, 16u}) {
    std::vector<Send> sends;
    for (int s = 1; s <= 8; ++s) {
      sends.push_back({s, 0, 100 * 4096 + 1000 * static_cast<uint64_t>(s), Time::Picos(1013 * s * s)});
    }
    Compare(Star(9), PeerOptions(window), sends);
  }
}

TEST(PacketNs3, PermutationOnLeafSpine) {
  const auto topology = OneNetwork("leaf_spine:k=8,link=12500MB/s,uplink=12500MB/s", 16);
  std::vector<Send> sends;
  for (int d = 0; d < 16; ++d) {
    sends.push_back({d, (d * 5 + 3) % 16, 60 * 4096 + 300 * static_cast<uint64_t>(d), Time::Picos(4099 * d)});
  }
  std::erase_if(sends, [](const Send& s) { return s.src == s.dst; });
  for (const uint32_t window : {4u, 20u}) Compare(topology, PeerOptions(window), sends);
}

// Switches in a random tree, devices on them, a flow from each device.
TEST(PacketNs3, RandomNetworks) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto devices = static_cast<uint32_t>(4 + Below(&random, 8));
    const auto switches = static_cast<uint32_t>(2 + Below(&random, 4));
    GraphBuilder b;
    b.AddVertices("device", VertexKind::kDevice, devices);
    b.AddVertices("switch", VertexKind::kSwitch, switches, 1);
    const auto link = [&](uint32_t from, uint32_t to) {
      const uint64_t rate = kRate << Below(&random, 3);
      const auto delay = static_cast<int64_t>(100000 + Below(&random, 1000000));
      const std::string name = "c" + std::to_string(from) + "_" + std::to_string(to);
      b.AddLink(
          from, to,
          b.AddClass({name, Bandwidth::BytesPerSecond(static_cast<int64_t>(rate)), Time::Picos(delay)}));
    };
    for (uint32_t s = 1; s < switches; ++s) {
      link(devices + s, devices + static_cast<uint32_t>(Below(&random, s)));
    }
    for (uint32_t d = 0; d < devices; ++d) link(d, devices + static_cast<uint32_t>(Below(&random, switches)));
    std::vector<Send> sends;
    for (uint32_t d = 0; d < devices; ++d) {
      const auto dst = static_cast<uint32_t>(Below(&random, devices));
      if (dst == d) continue;
      sends.push_back({static_cast<int>(d), static_cast<int>(dst), 1 + Below(&random, 100 * 4096),
                       Time::Picos(static_cast<int64_t>(Below(&random, 20000000)))});
    }
    const auto window = static_cast<uint32_t>(1 + Below(&random, 20));
    SCOPED_TRACE(seed);
    Compare(OneNetwork(b.Build()), PeerOptions(window), sends, /*tolerance=*/0.01);
  }
}

}  // namespace
}  // namespace chakra::peers::CHAKRA_FILE
