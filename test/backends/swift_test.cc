#include "backends/packet/transports/swift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "backends/packet/transports/any_transport.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using namespace packet;

PathFacts Path() {
  PathFacts p;
  p.rate = p.nic_rate = 0.0125;  // 100 Gb/s
  p.base_rtt = Time::Micros(12);
  p.mtu = 4000;
  p.wire = 4064;
  p.hops = 5;  // 4 switches
  return p;
}

// Targets of round numbers: 20 us, 3 us for each switch, 100 us for small windows.
Swift::Config Round(double start) {
  Swift::Config c;
  c.base = Time::Micros(20);
  c.hop = Time::Micros(3);
  c.fs = Time::Micros(100);
  c.start = start;
  return c;
}

struct OneFlow {
  explicit OneFlow(const Swift::Config& config) : swift(config, Path(), &control) {}
  void Ack(int64_t now_us, int64_t rtt_us, uint64_t acked = 4000) {
    packet::Ack ack;
    ack.now = Time::Micros(now_us);
    ack.rtt = Time::Micros(rtt_us);
    ack.acked = acked;
    swift.OnAck(ack, &control);
  }
  void Lose(int64_t now_us, Loss::Kind kind) {
    Loss loss;
    loss.now = Time::Micros(now_us);
    loss.kind = kind;
    swift.OnLoss(loss, &control);
  }
  Control control;
  Swift swift;
};

TEST(Swift, TargetGrowsWithHopsAndForSmallWindows) {
  EXPECT_NEAR(OneFlow(Round(1)).swift.Target(), 61.389889e6, 1);  // 32 + 100 (1 - 0.1) / (sqrt(10) - 0.1)
  EXPECT_NEAR(OneFlow(Round(10)).swift.Target(), 39.061011e6, 1);
  EXPECT_NEAR(OneFlow(Round(0.1)).swift.Target(), 132e6, 1);
  EXPECT_NEAR(OneFlow(Round(0.01)).swift.Target(), 132e6, 1);  // clipped
  EXPECT_NEAR(OneFlow(Round(100)).swift.Target(), 32e6, 1);
  EXPECT_NEAR(OneFlow(Round(110)).swift.Target(), 32e6, 1);
}

TEST(Swift, DefaultTargetFollowsThePath) {
  const OneFlow f(Swift::Config{});
  const double cwnd = 150000.0 / 4064;  // the bytes that the path holds, in packets
  EXPECT_NEAR(f.swift.cwnd(), cwnd, 1e-9);
  const double small = 60e6 * (1 / std::sqrt(cwnd) - 0.1) / (1 / std::sqrt(0.1) - 0.1);
  EXPECT_NEAR(f.swift.Target(), 12e6 + 4 * 12e6 / 6.55 + small, 1);
  EXPECT_NEAR(f.control.window, cwnd * 4000, 1e-6);
  EXPECT_EQ(f.control.pace, Control::kNone);
}

TEST(Swift, BelowTargetAddsOnePacketPerRoundTrip) {
  OneFlow f(Round(10));
  f.Ack(100, 30);
  EXPECT_NEAR(f.swift.cwnd(), 10.1, 1e-12);
  f.Ack(101, 30, 8000);
  EXPECT_NEAR(f.swift.cwnd(), 10.1 + 2 / 10.1, 1e-12);
  EXPECT_NEAR(f.control.window, f.swift.cwnd() * 4000, 1e-9);
}

TEST(Swift, AboveTargetCutsOncePerRoundTrip) {
  OneFlow f(Round(10));
  f.Ack(100, 50);
  const double once = 10 * (1 - 0.8 * (50 - 39.0610112) / 50);
  EXPECT_NEAR(f.swift.cwnd(), once, 1e-6);
  f.Ack(149, 50);
  EXPECT_NEAR(f.swift.cwnd(), once, 1e-6);
  f.Ack(150, 50);
  EXPECT_LT(f.swift.cwnd(), once - 1);
}

TEST(Swift, CutsAtMostByHalf) {
  OneFlow f(Round(10));
  f.Ack(10000, 1000);
  EXPECT_NEAR(f.swift.cwnd(), 5, 1e-12);
}

TEST(Swift, PacesWindowsBelowOnePacket) {
  OneFlow f(Round(0.5));
  EXPECT_EQ(f.control.window, 4000);
  EXPECT_NEAR(f.control.pace, 0.5 * 4064 / 12e6, 1e-12);  // a packet in two base round trips
  f.Ack(1000, 200);                                       // above the target of 32 + 42.9 us
  EXPECT_NEAR(f.swift.cwnd(), 0.25, 1e-2);
  EXPECT_NEAR(f.control.pace, f.swift.cwnd() * 4064 / 200e6, 1e-12);
  EXPECT_EQ(f.control.window, 4000);
  f.Ack(1200, 20);  // increase without a share of the window
  EXPECT_NEAR(f.swift.cwnd(), 1.25, 1e-2);
  EXPECT_EQ(f.control.pace, Control::kNone);
}

TEST(Swift, LossesHalveOncePerRoundTrip) {
  OneFlow f(Round(16));
  f.Lose(100, Loss::kOutOfOrder);
  EXPECT_EQ(f.swift.cwnd(), 8);
  f.Lose(105, Loss::kTrimmed);
  EXPECT_EQ(f.swift.cwnd(), 8);
  f.Lose(112, Loss::kTimeout);
  EXPECT_EQ(f.swift.cwnd(), 4);
}

TEST(Swift, FiveTimeoutsInARowResetTheWindow) {
  OneFlow f(Round(64));
  for (int i = 0; i < 4; ++i) f.Lose(100 * i, Loss::kTimeout);
  EXPECT_EQ(f.swift.cwnd(), 4);
  f.Lose(400, Loss::kTimeout);
  EXPECT_EQ(f.swift.cwnd(), 0.001);

  OneFlow g(Round(64));
  for (int i = 0; i < 4; ++i) g.Lose(100 * i, Loss::kTimeout);
  g.Ack(400, 12);  // not in a row
  g.Lose(500, Loss::kTimeout);
  EXPECT_GT(g.swift.cwnd(), 2);
}

TEST(Swift, WindowIsLimitedByTheNicRate) {
  OneFlow f(Round(400));
  const double most = 0.0125 * 132e6 / 4064;
  for (int i = 0; i < 100; ++i) f.Ack(100 + i, 12, 4000000);
  EXPECT_NEAR(f.swift.cwnd(), most, 1e-9);
}

TEST(Swift, ParameterFallbacksMatchDefaults) {
  std::string text = "swift:";
  for (const Parameter& p : Swift::Kind().parameters) {
    if (!p.fallback.empty()) text += (text.back() == ':' ? "" : ",") + p.key + "=" + p.fallback;
  }
  const auto config = ParseTransport(text);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(std::get<Swift::Config>(*config), Swift::Config());
}

TEST(Swift, RefusesBadParameters) {
  using testing::AllOf;
  using testing::HasSubstr;
  const auto error = [](const char* text) { return std::string(ParseTransport(text).status().message()); };
  EXPECT_TRUE(ParseTransport("swift:base=25us,hop=1us,fs=50us,beta=0.5").ok());
  EXPECT_THAT(error("swift:beta=1.5"),
              AllOf(HasSubstr("swift: beta is \"1.5\""), HasSubstr("the nearest is 1")));
  EXPECT_THAT(error("swift:base=25"), AllOf(HasSubstr("base"), HasSubstr("a unit")));
  EXPECT_THAT(error("swift:base=0us"), AllOf(HasSubstr("base"), HasSubstr("more than 0")));
  EXPECT_THAT(error("swift:fs_min=200"), AllOf(HasSubstr("fs_min"), HasSubstr("less than fs_max")));
  EXPECT_THAT(error("swift:most=0.5"), AllOf(HasSubstr("most"), HasSubstr("the nearest is 1")));
  EXPECT_THAT(error("swift:max_mdf=1"), AllOf(HasSubstr("max_mdf"), HasSubstr("the nearest is 0.99")));
  EXPECT_THAT(error("swift:reset_after=0"), AllOf(HasSubstr("reset_after"), HasSubstr("the nearest is 1")));
  EXPECT_THAT(error("swift:bta=1"), HasSubstr("did you mean 'beta'"));
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
