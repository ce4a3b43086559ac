// Switches that choose the port of each packet (spread=adaptive).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/backends/packet_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr double kRate = 12.5;  // GB/s

// Two leaves of `hosts` devices, `spines` above them. The uplink of the first leaf to the first spine has
// `share` of the rate of the other links.
Topology TwoLeaves(uint32_t hosts, uint32_t spines, double share) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 2 * hosts);
  b.AddVertices("leaf", VertexKind::kSwitch, 2, 1);
  b.AddVertices("spine", VertexKind::kSwitch, spines, 2);
  const uint16_t c = b.AddClass({"link", Bandwidth::FromGigabytes(kRate), Time::Nanos(500)});
  const uint16_t slow = b.AddClass({"slow", Bandwidth::FromGigabytes(kRate * share), Time::Nanos(500)});
  for (uint32_t i = 0; i < 2 * hosts; ++i) b.AddLink(i, 2 * hosts + i / hosts, c);
  for (uint32_t s = 0; s < spines; ++s) {
    b.AddLink(2 * hosts, 2 * hosts + 2 + s, s == 0 ? slow : c);
    b.AddLink(2 * hosts + 1, 2 * hosts + 2 + s, c);
  }
  return OfGraph(std::move(b));
}

// Each device of one leaf sends to one device of the other, all at once. Returns the last end in
// microseconds.
double Across(const Topology& t, int hosts, uint64_t bytes, const std::string& options) {
  std::vector<Flow> flows;
  for (int i = 0; i < hosts; ++i) flows.push_back(Message(i, hosts + i, bytes, 0));
  const std::vector<TimedFlow> timed = AtOnce(flows);
  const PacketRun run(t, PacketFabricOptions(options), timed);
  ExpectAllReceived(timed, run.ended);
  return run.End().seconds() * 1e6;
}

constexpr char kWindow[] = "transport=(window:bdp=4),";

TEST(PacketAdaptive, SlowPathsCarryTheirShare) {
  const Topology t = TwoLeaves(4, 4, 0.25);
  const double line = 4 * 10e6 * (4160.0 / 4096) / (kRate * 1e3);  // on one link; us
  const double adaptive = Across(t, 4, 10'000'000, std::string(kWindow) + "spread=adaptive,paths=16");
  const double in_turn = Across(t, 4, 10'000'000, std::string(kWindow) + "spread=packet,paths=16");
  EXPECT_NEAR(adaptive / (line / 3.25), 1, 0.06);     // the last packets of the slow path come late
  EXPECT_NEAR(in_turn / (line / 4 / 0.25), 1, 0.25);  // a quarter of the packets take the slow path
  EXPECT_GT(in_turn, 2.5 * adaptive);
}

TEST(PacketAdaptive, EqualPathsAreAllUsed) {
  const Topology t = TwoLeaves(4, 4, 1);
  const double line = 10e6 * (4160.0 / 4096) / (kRate * 1e3);
  EXPECT_NEAR(Across(t, 4, 10'000'000, std::string(kWindow) + "spread=adaptive,paths=16") / line, 1, 0.03);
}

TEST(PacketAdaptive, SinglePathMatchesPlainSpread) {
  const Topology t = Star(4, kRate, Time::Nanos(500));
  const std::vector<TimedFlow> flows = Incast(3, 3'000'000);
  const PacketRun adaptive(t, PacketFabricOptions("spread=adaptive,paths=4"), flows);
  const PacketRun plain(t, PacketFabricOptions("spread=packet,paths=4"), flows);
  for (uint64_t tag = 0; tag < 3; ++tag) EXPECT_EQ(adaptive.Received(tag), plain.Received(tag));
}

TEST(PacketAdaptive, DownPortsAreAvoided) {
  const Topology t = TwoLeaves(4, 4, 1);
  FabricOptions options = PacketFabricOptions(std::string(kWindow) + "spread=adaptive,paths=16");
  options.changes = {{Time::Micros(100), LinkOf(t, "leaf.0", "spine.1"), 0}};
  std::vector<Flow> flows;
  for (int i = 0; i < 4; ++i) flows.push_back(Message(i, 4 + i, 10'000'000, 0));
  const std::vector<TimedFlow> timed = AtOnce(flows);
  const PacketRun run(t, options, timed);
  ExpectAllReceived(timed, run.ended);
  const double line = 10e6 * (4160.0 / 4096) / (kRate * 1e3);
  // 100 us on four links, the rest on three.
  EXPECT_NEAR(run.End().seconds() * 1e6 / (100 + (line - 100) * 4 / 3), 1, 0.05);
  EXPECT_LT(run.counters().drops, 200u);  // the packets on the link and in its queue
}

TEST(PacketAdaptive, RefusesUnfitOptions) {
  const auto error = [](const char* text) {
    return std::string(ParsePacketOptions(text).status().message());
  };
  EXPECT_THAT(error("spread=adaptive,recovery=go_back_n"), HasSubstr("selective with spread=adaptive"));
  EXPECT_THAT(error("spread=adaptive,paths=1"), HasSubstr("at least 2"));
  EXPECT_THAT(error("spread=adaptive,transport=hpcc"), HasSubstr("follows the ports of one path"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
