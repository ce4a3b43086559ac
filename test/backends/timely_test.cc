#include "backends/packet/transports/timely.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport_testing.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr double kLine = 0.0125;
constexpr double kMb = 1.25e-7;  // a Mb/s in bytes a picosecond

struct Sent {
  explicit Sent(absl::string_view text, const PathFacts& path = RoundPath())
      : timely(*ReadConfig<Timely>(text), path, &control) {}
  // One acknowledgement in a round trip; returns the rate after it.
  double Rtt(double us) {
    Ack ack;
    ack.rtt = Time::FromNanos(us * 1000);
    ack.packet = packet++;
    ack.next = packet;
    timely.OnAck(ack, &control);
    return control.pace;
  }

  Control control;
  Timely timely;
  uint64_t packet = 0;
};

TEST(Timely, StartsAtLineRateAndMeasuresFirstRound) {
  Sent s("timely");
  EXPECT_EQ(s.control.pace, kLine);
  EXPECT_EQ(s.control.window, Control::kNone);
  EXPECT_EQ(s.Rtt(700), kLine);
}

TEST(Timely, FollowsFourRegimes) {
  Sent s("timely");
  s.Rtt(100);
  // The gradient: 0.875 x 20 us / 20 us; within the thresholds.
  double rate = kLine * (1 - 0.8 * 0.875);
  EXPECT_NEAR(s.Rtt(120), rate, 1e-15);
  EXPECT_DOUBLE_EQ(s.timely.gradient(), 0.875);
  // d = 0.125 x 17.5 - 0.875 x 10 us.
  rate += 10 * kMb;
  EXPECT_NEAR(s.Rtt(110), rate, 1e-15);
  EXPECT_NEAR(s.timely.gradient(), -0.328125, 1e-12);
  // Above Thigh, whatever the gradient.
  rate *= 1 - 0.8 * (1 - 500.0 / 625);
  EXPECT_NEAR(s.Rtt(625), rate, 1e-15);
  // Below Tlow too.
  rate += 10 * kMb;
  EXPECT_NEAR(s.Rtt(30), rate, 1e-15);
  rate += 10 * kMb;
  EXPECT_NEAR(s.Rtt(49), rate, 1e-15);
}

TEST(Timely, SteepGradientStopsAtMinRate) {
  Sent s("timely:min_rate=3Gb/s");
  s.Rtt(60);
  EXPECT_DOUBLE_EQ(s.Rtt(160), 3000 * kMb);
  PathFacts slow = RoundPath();
  slow.rate = slow.nic_rate = 1000 * kMb;
  Sent t("timely:min_rate=3Gb/s", slow);
  t.Rtt(60);
  EXPECT_DOUBLE_EQ(t.Rtt(160), 1000 * kMb);
}

TEST(Timely, RateIsNeverAboveTheNic) {
  Sent s("timely");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(s.Rtt(20), kLine);
}

TEST(Timely, HyperIncreaseAfterFiveGradientSteps) {
  Sent s("timely");
  s.Rtt(100);
  double rate = s.Rtt(120);
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(s.Rtt(100), rate += 10 * kMb, 1e-15);
  EXPECT_NEAR(s.Rtt(100), rate += 50 * kMb, 1e-15);
  EXPECT_NEAR(s.Rtt(100), rate += 50 * kMb, 1e-15);
  EXPECT_NEAR(s.Rtt(40), rate += 10 * kMb, 1e-15);  // below Tlow one step, and the count starts again
  EXPECT_NEAR(s.Rtt(40), rate += 10 * kMb, 1e-15);
}

TEST(Timely, DecreaseRestartsHyperIncreaseCount) {
  Sent s("timely");
  for (const double us : {100, 120, 110, 110, 110, 110, 510, 100}) s.Rtt(us);
  double rate = s.timely.rate();
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(s.Rtt(90), rate += 10 * kMb, 1e-15);
  EXPECT_NEAR(s.Rtt(90), rate += 50 * kMb, 1e-15);
}

TEST(Timely, HpccSetCountsEveryIncreaseAndScalesWithNic) {
  Sent s("timely:set=hpcc");
  s.Rtt(100);
  double rate = s.Rtt(120);
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(s.Rtt(40), rate += 100 * kMb, 1e-15);
  EXPECT_NEAR(s.Rtt(40), rate += 500 * kMb, 1e-15);
}

TEST(Timely, UpdatesOncePerRoundTrip) {
  Sent s("timely");
  Ack ack;
  ack.next = 10;
  ack.rtt = Time::Micros(100);
  s.timely.OnAck(ack, &s.control);
  for (uint64_t n = 1; n < 10; ++n) {
    ack.packet = n;
    ack.next = 10 + n;
    ack.rtt = Time::Micros(600);
    s.timely.OnAck(ack, &s.control);
    EXPECT_EQ(s.control.pace, kLine);
  }
  ack.packet = 10;
  ack.next = 20;
  s.timely.OnAck(ack, &s.control);
  EXPECT_NEAR(s.control.pace, kLine * (1 - 0.8 * (1 - 500.0 / 600)), 1e-15);
}

TEST(Timely, PatchedWeightsTheGradient) {
  Sent s("timely:patched=yes");
  s.Rtt(100);
  double rate = kLine * (1 - 0.008 * (200.0 - 50) / 50);  // a steep gradient: the weight is 1
  EXPECT_NEAR(s.Rtt(200), rate, 1e-15);
  rate += 10 * kMb;  // falls steeply: the weight is 0
  EXPECT_NEAR(s.Rtt(100), rate, 1e-15);
  // A constant round trip: the weight is a half.
  Sent t("timely:patched=yes,reference=80us");
  for (int i = 0; i < 2; ++i) t.Rtt(100);
  EXPECT_NEAR(t.control.pace, 10 * kMb / 2 + kLine * (1 - 0.008 * 0.5 * 20 / 80), 1e-15);
}

TEST(Timely, PatchedHasNoHyperIncrease) {
  Sent s("timely:patched=yes,set=hpcc,high=100us");
  for (int i = 0; i < 30; ++i) s.Rtt(10000);
  double rate = s.timely.rate();
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(s.Rtt(40), rate += 100 * kMb, 1e-15);
}

// The fixed point is where the increase, half of delta, equals the decrease, half of beta x rate x the
// excess: at rtt = ref (1 + delta / (beta R)).
TEST(Timely, PatchedReachesItsFixedPoint) {
  Sent s("timely:patched=yes");
  const double rate = 1000 * kMb;
  const double rtt = 50 * (1 + 10.0 / (0.008 * 1000));
  s.Rtt(rtt);
  for (int i = 0; i < 5000; ++i) s.Rtt(rtt);
  EXPECT_NEAR(s.control.pace, rate, 1e-4 * rate);
}

TEST(Timely, WindowFollowsTheRate) {
  Sent s("timely:window=bdp");
  EXPECT_DOUBLE_EQ(s.control.window, 150000);
  s.Rtt(100);
  s.Rtt(120);
  EXPECT_NEAR(s.control.window, 150000 * 0.3, 1e-6);
  for (int i = 0; i < 100; ++i) s.Rtt(5000);
  EXPECT_EQ(s.control.window, 1000);  // one packet
}

TEST(Timely, RefusesBadValues) {
  EXPECT_THAT(Refusal<Timely>("timely:beta=1.5"),
              HasSubstr("beta is \"1.5\"; expected a number from 1e-06 to 1; the nearest is 1"));
  EXPECT_THAT(Refusal<Timely>("timely:low=600us"),
              HasSubstr("low is \"600us\"; expected high at least low: the nearest is 500us"));
  EXPECT_THAT(Refusal<Timely>("timely:high=40us"),
              HasSubstr("high is \"40us\"; expected high at least low: the nearest is 50us"));
  EXPECT_THAT(Refusal<Timely>("timely:min_rtt=0us"), HasSubstr("at least 100ns, the nearest"));
  EXPECT_THAT(Refusal<Timely>("timely:reference=60us"), HasSubstr("none without patched=yes"));
  EXPECT_THAT(Refusal<Timely>("timely:hyper=0"), HasSubstr("the nearest is 1"));
  EXPECT_THAT(Refusal<Timely>("timely:patchd=yes"), HasSubstr("did you mean 'patched'?"));
  EXPECT_THAT(Refusal<Timely>("timely:window=on"), HasSubstr("expected none, bdp"));
  EXPECT_TRUE(ReadConfig<Timely>("timely:set=hpcc,patched=yes,reference=60us,low=1us,high=2us").ok());
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
