#include "backends/packet/transports/dctcp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "transport_testing.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr double kMb = 1.25e-7;  // a Mb/s in bytes a picosecond
constexpr double kBdp = 150000;  // the bandwidth-delay product of RoundPath()

// A sender whose packets all return in order, a full window in flight.
struct Sent {
  explicit Sent(absl::string_view text, const PathFacts& path = RoundPath())
      : dctcp(*ReadConfig<Dctcp>(text), path, &control) {}
  void Fill() { next = std::max(next, acked + static_cast<uint64_t>(dctcp.window() / 1000)); }
  void Ack(bool marked) {
    Fill();
    packet::Ack ack;
    ack.packet = acked++;
    ack.next = next;
    ack.acked = 1000;
    ack.in_flight = (next - acked) * 1000;
    ack.marked = marked;
    dctcp.OnAck(ack, &control);
  }
  // Acknowledges all packets in flight, the first `marks` of them with a mark.
  uint64_t Round(uint64_t marks = 0) {
    Fill();
    const uint64_t packets = next - acked;
    for (uint64_t i = 0; i < packets; ++i) Ack(i < marks);
    return packets;
  }
  packet::Loss Lose(Loss::Kind kind) {
    Fill();
    packet::Loss loss;
    loss.kind = kind;
    loss.packet = acked;
    loss.next = next;
    dctcp.OnLoss(loss, &control);
    return loss;
  }

  Control control;
  Dctcp dctcp;
  uint64_t next = 0, acked = 0;
};

TEST(Dctcp, AddsOnePacketPerRoundTrip) {
  Sent s("dctcp");
  EXPECT_DOUBLE_EQ(s.control.window, kBdp);
  EXPECT_EQ(s.control.pace, Control::kNone);
  s.Round();
  for (int i = 1; i <= 10; ++i) {
    s.Round();
    EXPECT_DOUBLE_EQ(s.control.window, kBdp + 1000 * i);
  }
}

TEST(Dctcp, WindowExcludesHeaders) {
  PathFacts path = RoundPath();
  path.wire = 1250;
  EXPECT_DOUBLE_EQ(Sent("dctcp", path).control.window, kBdp * 0.8);
}

TEST(Dctcp, CutsOncePerWindow) {
  Sent s("dctcp");
  s.Ack(false);
  s.Ack(true);
  EXPECT_DOUBLE_EQ(s.control.window, kBdp / 2);  // alpha is 1
  const uint64_t ends = s.next;
  while (s.acked < ends) s.Ack(true);
  EXPECT_DOUBLE_EQ(s.control.window, kBdp / 2);
  const double alpha = s.dctcp.alpha();
  s.Ack(true);
  EXPECT_DOUBLE_EQ(s.control.window, kBdp / 2 * (1 - alpha / 2));
}

// If a share F of each window is marked, alpha_n = F + (1 - F)(1 - g)^n.
TEST(Dctcp, AlphaConvergesToTheMarkedShare) {
  for (const double share : {0.0, 0.25, 1.0}) {
    Sent s("dctcp:ai=1,initial=100KB");
    uint64_t count = 0;
    int rounds = 0;
    // Acknowledgements come in fixed windows of 40 packets, whatever the transport's window is.
    for (; count < 40 * 60; ++count) {
      Ack ack;
      ack.packet = count;
      ack.next = count / 40 * 40 + 40;
      ack.acked = 1000;
      ack.marked = static_cast<double>(count % 4) < 4 * share;
      const double before = s.dctcp.alpha();
      s.dctcp.OnAck(ack, &s.control);
      if (count % 40 != 0 || count == 0) {
        EXPECT_EQ(s.dctcp.alpha(), before);
        continue;
      }
      ++rounds;
      // The sample of a round ends with the packet that begins the next one.
      if (share == 0 || share == 1) {
        EXPECT_NEAR(s.dctcp.alpha(), share + (1 - share) * std::pow(15.0 / 16, rounds), 1e-12);
      }
    }
    EXPECT_EQ(rounds, 59);
    EXPECT_NEAR(s.dctcp.alpha(), share, (1 - share) * std::pow(15.0 / 16, rounds) + 0.01);
  }
}

TEST(Dctcp, AlphaCountsBytesOfOneWindow) {
  Sent s("dctcp");
  s.Round(30);  // 150 packets, 30 of them marked; the next round's first packet ends the round
  s.Ack(false);
  EXPECT_NEAR(s.dctcp.alpha(), 15.0 / 16 + 30.0 / 151 / 16, 1e-12);
  const double alpha = s.dctcp.alpha();
  for (int i = 0; i < 500 && s.dctcp.alpha() == alpha; ++i) s.Ack(false);
  EXPECT_NEAR(s.dctcp.alpha(), alpha * 15 / 16, 1e-12);  // marks of the previous round do not count
}

TEST(Dctcp, LossHalvesOncePerWindow) {
  Sent s("dctcp");
  s.Lose(Loss::kOutOfOrder);
  EXPECT_DOUBLE_EQ(s.control.window, kBdp / 2);
  s.Lose(Loss::kTrimmed);
  EXPECT_DOUBLE_EQ(s.control.window, kBdp / 2);
  s.acked = s.next;
  s.Lose(Loss::kTrimmed);
  EXPECT_DOUBLE_EQ(s.control.window, kBdp / 4);
}

TEST(Dctcp, TimeoutRestartsWithSlowStart) {
  Sent s("dctcp");
  s.Lose(Loss::kTimeout);
  EXPECT_EQ(s.control.window, 1000);
  s.next = s.acked;  // go-back-N
  for (const double window : {2000, 4000, 8000, 16000, 32000, 64000, 75000}) {
    s.Round();
    EXPECT_DOUBLE_EQ(s.control.window, window);
  }
  s.Round();
  s.Round();
  EXPECT_LE(s.control.window, 77000);
  EXPECT_GT(s.control.window, 75000);
}

TEST(Dctcp, SlowStartDoublesUntilTheFirstMark) {
  Sent s("dctcp:slow_start=yes,initial=10KB");
  for (int i = 1; i <= 4; ++i) {
    s.Round();
    EXPECT_DOUBLE_EQ(s.control.window, 10000 << i);
  }
  s.Ack(true);
  const double cut = s.control.window;
  EXPECT_DOUBLE_EQ(cut, 160000 * (1 - s.dctcp.alpha() / 2));
  s.Round();
  s.Round();
  s.Round();
  EXPECT_LE(s.control.window, cut + 3000);
  EXPECT_GE(s.control.window, cut + 1000);
}

TEST(Dctcp, WindowStaysWithinBounds) {
  Sent s("dctcp:most=1.01");
  for (int i = 0; i < 10; ++i) s.Round();
  EXPECT_DOUBLE_EQ(s.control.window, 1.01 * kBdp);
  for (int i = 0; i < 2000; ++i) s.Ack(true);
  EXPECT_EQ(s.control.window, 1000);
}

TEST(Dctcp, UnusedWindowDoesNotGrow) {
  Sent s("dctcp");
  for (uint64_t i = 0; i < 100; ++i) {  // one packet at a time
    Ack ack;
    ack.packet = i;
    ack.next = i + 1;
    ack.acked = 1000;
    s.dctcp.OnAck(ack, &s.control);
  }
  EXPECT_DOUBLE_EQ(s.control.window, kBdp);
}

// 615 Mb/s over 12 us are 922.5 B a round trip; 1 Gb/s are 1,500 B.
TEST(Dctcp, HpccSetPacesAndAddsByRate) {
  Sent s("dctcp:set=hpcc");
  EXPECT_DOUBLE_EQ(s.control.pace, 0.0125);
  s.Ack(false);
  s.Ack(true);
  EXPECT_DOUBLE_EQ(s.control.window, kBdp / 2);
  EXPECT_DOUBLE_EQ(s.control.pace, 0.00625);
  const uint64_t ends = s.next;
  while (s.control.window == kBdp / 2 && s.acked < 1000) s.Ack(false);
  EXPECT_DOUBLE_EQ(s.control.window, kBdp / 2 + 922.5);
  EXPECT_GT(s.acked, ends);  // not in the round trip of the cut
  for (int i = 0; i < 1000; ++i) s.Ack(true);
  EXPECT_DOUBLE_EQ(s.control.window, 1500);
  EXPECT_DOUBLE_EQ(s.control.pace, 1000 * kMb);
}

TEST(Dctcp, RefusesBadValues) {
  EXPECT_THAT(Refusal<Dctcp>("dctcp:g=0"),
              HasSubstr("g is \"0\"; expected a number from 1e-06 to 1; the nearest is 1e-06"));
  EXPECT_THAT(Refusal<Dctcp>("dctcp:initial=64Kb"),
              HasSubstr("initial is \"64Kb\"; expected one of the units"));
  EXPECT_THAT(Refusal<Dctcp>("dctcp:ai=0"), HasSubstr("ai is \"0\"; expected at least 1B, the nearest"));
  EXPECT_THAT(Refusal<Dctcp>("dctcp:ai=1KB,ai_rate=1Gb/s"), HasSubstr("either ai or ai_rate"));
  EXPECT_THAT(Refusal<Dctcp>("dctcp:most=0"), HasSubstr("the nearest is 0.01"));
  EXPECT_THAT(Refusal<Dctcp>("dctcp:pace=maybe"), HasSubstr("expected yes or no"));
  EXPECT_THAT(Refusal<Dctcp>("dctcp:set=hpc"), HasSubstr("did you mean 'hpcc'?"));
  EXPECT_THAT(Refusal<Dctcp>("dctcp:initail=1KB"), HasSubstr("did you mean 'initial'?"));
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
