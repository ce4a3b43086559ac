// Compares packets on links without other traffic with closed forms, to the picosecond.
#include <gtest/gtest.h>

#include <cmath>

#include "test/backends/packet_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

// A full packet has 4,150 bytes on a link: 332 ns at 100 Gb/s (12.5 GB/s).
const char kPackets[] = "mtu=4086,header=64,ack=64,transport=(window:bytes=1GB)";
constexpr uint64_t kMtu = 4086;
constexpr int64_t kPacket = 332000;  // ps

PacketRun Alone(const Topology& t, const std::string& options, uint64_t bytes) {
  return PacketRun(t, PacketFabricOptions(options), {{Message(0, 1, bytes, 7), Time::Zero()}});
}

TEST(PacketWire, StoreAndForwardMatchesClosedForm) {
  // k p + ((n - 1) L + l) / r + (k - 1) L / r; acknowledgements of 64 bytes come back in k p + k A / r.
  const Topology t = Line(std::vector<double>(6, 12.5), Time::Micros(1));
  const PacketRun ten = Alone(t, kPackets, 10 * kMtu);
  EXPECT_EQ(ten.Received(7), Time::Nanos(10980));
  EXPECT_EQ(ten.last, Time::Picos(17010720));
  // The last packet has 2,010 bytes. Its acknowledgement arrives at 176,199.52 ns.
  const PacketRun many = Alone(t, kPackets, 489 * kMtu + 1946);
  EXPECT_EQ(many.Received(7), Time::Picos(176199520 - 6030720));
  EXPECT_EQ(many.last, Time::Picos(176199520));
  // A single packet: its own bytes on every link.
  EXPECT_EQ(Alone(t, kPackets, 936).Received(7), Time::Nanos(6000 + 6 * 80));
  EXPECT_EQ(Alone(t, kPackets, 0).Received(7), Time::Picos(6000000 + 6 * 5120));
}

TEST(PacketWire, UnequalLinksMatchClosedForm) {
  // sum p + sum L / r + (n - 1) L / min r
  const Topology t = Line({12.5, 50, 50, 12.5}, Time::Nanos(500));
  EXPECT_EQ(Alone(t, kPackets, 20 * kMtu).Received(7), Time::Nanos(9138));
  const Topology narrow = Line({50, 12.5, 50}, Time::Nanos(500));
  EXPECT_EQ(Alone(narrow, kPackets, 20 * kMtu).Received(7), Time::Nanos(1500 + 2 * 83 + 20 * 332));
}

TEST(PacketWire, CutThroughMatchesClosedForm) {
  // sum p + (k - 1) (t + H / r) + ((n - 1) L + l) / r with 300 ns a switch; 64 bytes take 5.12 ns.
  const std::string cut = std::string(kPackets) + ",switching=cut_through,switch_latency=300ns";
  const Topology t = Line({12.5, 12.5, 12.5}, Time::Micros(1));
  EXPECT_EQ(Alone(t, cut, 10 * kMtu).Received(7), Time::Picos(3000000 + 2 * 305120 + 10 * kPacket));
  // The acknowledgement is as long as a header: two switches, three links.
  EXPECT_EQ(Alone(t, cut, 10 * kMtu).last - Alone(t, cut, 10 * kMtu).Received(7),
            Time::Picos(3000000 + 2 * 300000 + 3 * 5120));
  // A faster port needs the whole packet first. There, a packet takes 83 ns, and a header 1.28 ns.
  const Topology faster = Line({12.5, 50, 50}, Time::Micros(1));
  EXPECT_EQ(Alone(faster, cut, kMtu).Received(7),
            Time::Picos(3000000 + 2 * 300000 + kPacket + 1280 + kPacket / 4));
  const Topology slower = Line({50, 12.5}, Time::Micros(1));
  EXPECT_EQ(Alone(slower, cut, kMtu).Received(7), Time::Picos(2000000 + 300000 + 1280 + kPacket));
  EXPECT_EQ(Alone(slower, cut, 10 * kMtu).Received(7), Time::Picos(2000000 + 300000 + 1280 + 10 * kPacket));
}

TEST(PacketWire, SwitchLatencyIsPaidAtEachSwitch) {
  const std::string options = std::string(kPackets) + ",switch_latency=300ns";
  const Topology t = Line({12.5, 12.5, 12.5}, Time::Micros(1));
  EXPECT_EQ(Alone(t, options, kMtu).Received(7), Time::Picos(3000000 + 2 * 300000 + 3 * kPacket));
}

TEST(PacketWire, WindowLimitsTheRate) {
  // T = 2 k p + k (L + A) / r = 14,022.72 ns for 6 links: W packets in each T, until W packets fill the link.
  const Topology t = Line(std::vector<double>(6, 12.5), Time::Micros(1));
  constexpr int64_t kRound = 14022720;
  const auto received = [&](uint64_t window, uint64_t packets) {
    const std::string options =
        absl::StrCat("mtu=4086,header=64,ack=64,transport=(window:bytes=", window * kMtu, ")");
    return Alone(t, options, packets * kMtu).Received(7).picos();
  };
  for (const int64_t w : {1, 4, 10, 36}) {
    for (const int64_t n : {1, 7, 40, 101}) {
      EXPECT_EQ(received(static_cast<uint64_t>(w), static_cast<uint64_t>(n)),
                6000000 + 6 * kPacket + (n - 1) / w * kRound + (n - 1) % w * kPacket)
          << w << " of " << n;
    }
  }
  const auto rate = [&](uint64_t w) {  // bytes a nanosecond over ten windows
    return 10.0 * static_cast<double>(w) * 4150 * 1e3 /
           static_cast<double>(received(w, 20 * w) - received(w, 10 * w));
  };
  EXPECT_NEAR(rate(4), 1.1838, 5e-5);
  EXPECT_NEAR(rate(10), 2.9595, 5e-5);
  EXPECT_NEAR(rate(36), 10.654, 5e-4);
  EXPECT_NEAR(rate(60), 12.5, 1e-9);
}

TEST(PacketWire, DefaultWindowFillsThePath) {
  const Topology t = Line(std::vector<double>(6, 12.5), Time::Micros(1));
  EXPECT_EQ(Alone(t, "mtu=4086,header=64,ack=64", 400 * kMtu).Received(7),
            Time::Picos(6000000 + 405 * kPacket));
}

TEST(PacketWire, FlowsTakeTurnsOnANic) {
  // 5 and 9 packets. In strict turns the first would end after 2 x 5 - 1 packet times, the second after 14.
  // But the flow that starts first sends two packets before its turn ends.
  const Topology t = Star(3, 12.5, Time::Micros(1));
  const PacketRun run(t, PacketFabricOptions(kPackets),
                      AtOnce({Message(0, 1, 5 * kMtu, 0), Message(0, 2, 9 * kMtu, 0)}));
  EXPECT_EQ(run.Received(0), Time::Picos(2000000 + 9 * kPacket));
  EXPECT_EQ(run.Received(1), Time::Picos(2000000 + 15 * kPacket));
  // The same from two NICs into one.
  const PacketRun in(t, PacketFabricOptions(kPackets),
                     AtOnce({Message(1, 0, 5 * kMtu, 0), Message(2, 0, 9 * kMtu, 0)}));
  EXPECT_EQ(in.Received(0), Time::Picos(2000000 + 10 * kPacket));
  EXPECT_EQ(in.Received(1), Time::Picos(2000000 + 15 * kPacket));
}

TEST(PacketWire, HeadersReduceGoodput) {
  // The payload gets payload / (payload + header) of the rate: 1000 of 1048 and of 1090, 4086 of 4150.
  const Topology t = Line({12.5, 12.5}, Time::Micros(1));
  for (const auto& [mtu, header] : std::vector<std::pair<int, int>>{{1000, 48}, {1000, 90}, {4086, 64}}) {
    const std::string options =
        absl::StrCat("mtu=", mtu, ",header=", header, ",transport=(window:bytes=1GB)");
    const auto bytes = static_cast<uint64_t>(mtu) * 500;
    const double spent = static_cast<double>(
        (Alone(t, options, 2 * bytes).Received(7) - Alone(t, options, bytes).Received(7)).picos());
    EXPECT_NEAR(static_cast<double>(bytes) / spent * 1e3 / 12.5, mtu / static_cast<double>(mtu + header),
                1e-6);
  }
}

TEST(PacketWire, AckEveryReducesAcknowledgements) {
  const Topology t = Line({12.5, 12.5}, Time::Micros(1));
  const PacketRun each = Alone(t, kPackets, 40 * kMtu);
  EXPECT_EQ(each.counters().acks, 40u);
  const PacketRun eighth = Alone(t, std::string(kPackets) + ",ack_every=8", 41 * kMtu);
  EXPECT_EQ(eighth.counters().acks, 6u);  // the last packet is acknowledged at once
  EXPECT_EQ(eighth.Received(7), each.Received(7) + Time::Picos(kPacket));
}

TEST(PacketWire, CostMatchesIsolatedMessages) {
  for (const char* switching : {"store_and_forward", "cut_through"}) {
    const std::string options = absl::StrCat(kPackets, ",switch_latency=250ns,switching=", switching);
    for (const std::vector<double>& rates :
         {std::vector<double>{12.5}, {12.5, 12.5, 12.5}, {50, 12.5, 25}, {12.5, 25, 50}}) {
      const bool faster = rates.size() == 3 && rates[2] > rates[1];
      const Topology t = Line(rates, Time::Nanos(700));
      for (const uint64_t bytes : {uint64_t{0}, uint64_t{100}, kMtu, 17 * kMtu, 30 * kMtu + 5}) {
        const PacketRun run = Alone(t, options, bytes);
        const Time cost = run.fabric->Cost(0, 1, bytes).received();
        const std::string what = absl::StrCat(switching, " ", rates.size(), " ", rates[0], " ", bytes);
        // With full packets the cost is exact if no port is faster than the one before it.
        if (bytes % kMtu == 0 && bytes > 0 && (!faster || switching[0] == 's')) {
          EXPECT_EQ(run.Received(7), cost) << what;
        } else {
          EXPECT_NEAR(static_cast<double>(run.Received(7).picos()), static_cast<double>(cost.picos()),
                      static_cast<double>(2 * kPacket))
              << what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
