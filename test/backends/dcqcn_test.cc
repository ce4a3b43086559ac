#include "backends/packet/transports/dcqcn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "transport_testing.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr double kLine = 0.0125;  // bytes a picosecond: 100 Gb/s
constexpr double kMb = 1.25e-7;   // a Mb/s

struct Sent {
  explicit Sent(absl::string_view text, const PathFacts& path = RoundPath())
      : dcqcn(*ReadConfig<Dcqcn>(text), path, &control) {}
  void Ack(Time now, bool congested, uint64_t bytes = 1000) {
    packet::Ack ack;
    ack.now = now;
    ack.acked = bytes;
    ack.cnp = ack.marked = congested;
    dcqcn.OnAck(ack, &control);
  }
  // Runs the timer that is due; returns its instant.
  Time Timer() {
    const Time now = control.timer;
    dcqcn.OnTimer(now, &control);
    return now;
  }

  Control control;
  Dcqcn dcqcn;
};

TEST(Dcqcn, StartsAtLineRateWithoutTimer) {
  Sent s("dcqcn");
  EXPECT_EQ(s.control.pace, kLine);
  EXPECT_EQ(s.control.window, Control::kNone);
  s.Ack(Time::Micros(20), false);
  EXPECT_EQ(s.control.timer, Time::Never());
}

// RC = r (1 - 2^-(1+i)) after i steps: half the line rate, and 0.984 of it after 275 us.
TEST(Dcqcn, FastRecoveryHalvesTheGap) {
  Sent s("dcqcn");
  s.Ack(Time::Micros(7), true);
  EXPECT_EQ(s.control.pace, kLine / 2);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(s.Timer(), Time::Micros(7 + 55 * i));
    EXPECT_DOUBLE_EQ(s.control.pace, kLine * (1 - std::pow(2.0, -1 - i)));
  }
  EXPECT_NEAR(s.control.pace / kLine, 0.984, 5e-4);
}

TEST(Dcqcn, StopsItsTimerAtLineRate) {
  Sent s("dcqcn");
  s.Ack(Time::Micros(0), true);
  int steps = 0;
  while (s.control.timer != Time::Never() && steps < 100) {
    s.Timer();
    ++steps;
  }
  EXPECT_EQ(steps, 19);  // 2^-20 is the first below one part in a million
  EXPECT_EQ(s.control.pace, kLine);
}

// Half-life of alpha: ln(1/2) / ln(1 - g) = 177.1 periods of 55 us.
TEST(Dcqcn, AlphaDecaysWithoutNotifications) {
  Sent s("dcqcn");
  s.Ack(Time::Micros(0), true);
  EXPECT_EQ(s.dcqcn.alpha(), 1);
  while (s.control.timer != Time::Never()) s.Timer();
  s.Ack(Time::Micros(55 * 177 + 54), true);
  const double alpha = std::pow(255.0 / 256, 177);
  EXPECT_NEAR(alpha, 0.5, 5e-4);
  EXPECT_NEAR(s.control.pace, kLine * (1 - alpha / 2), 1e-15);
  EXPECT_NEAR(s.dcqcn.alpha(), alpha * 255 / 256 + 1.0 / 256, 1e-12);
  // The paper's K counts from the last notification: 54 us later nothing has decayed.
  const double before = s.dcqcn.alpha(), rate = s.control.pace;
  s.Ack(Time::Micros(55 * 177 + 54 + 54), true);
  EXPECT_NEAR(s.control.pace, rate * (1 - before / 2), 1e-15);
}

TEST(Dcqcn, EachNotificationCutsTheCurrentRate) {
  Sent s("dcqcn:ai=40Mb/s");
  s.Ack(Time::Micros(0), true);
  s.Ack(Time::Micros(50), true);
  EXPECT_EQ(s.dcqcn.target(), kLine / 2);
  EXPECT_EQ(s.dcqcn.rate(), kLine / 4);
  EXPECT_EQ(s.control.timer, Time::Micros(105));  // the timer starts again
}

TEST(Dcqcn, AdditiveThenHyperIncreaseAfterFastRecovery) {
  Sent s("dcqcn:byte_counter=1MB,ai=40Mb/s,hai=200Mb/s");
  s.Ack(Time::Micros(0), true);
  s.Ack(Time::Micros(50), true, 999999);
  double target = kLine / 2, rate = kLine / 4;
  const auto expect = [&](double step, const char* what) {
    target += step;
    rate = (target + rate) / 2;
    EXPECT_NEAR(s.dcqcn.target(), target, 1e-15) << what;
    EXPECT_NEAR(s.dcqcn.rate(), rate, 1e-15) << what;
  };
  for (int i = 1; i <= 5; ++i) {
    s.Timer();
    expect(0, "fast recovery");
  }
  s.Timer();
  expect(40 * kMb, "additive");
  s.Ack(Time::Micros(400), false, 999999);  // the bytes before the cut do not count
  EXPECT_NEAR(s.dcqcn.rate(), rate, 1e-15);
  s.Ack(Time::Micros(400), false, 1);
  expect(40 * kMb, "the byte counter's stage 1 beside the timer's 6");
  for (int i = 2; i <= 5; ++i) {
    s.Ack(Time::Micros(400), false, 1000000);
    expect(40 * kMb, "stages 2 to 5");
  }
  s.Ack(Time::Micros(400), false, 1000000);
  expect(200 * kMb, "hyper: both stages are 6");
  s.Ack(Time::Micros(400), false, 1000000);
  expect(200 * kMb, "the lower stage is still 6");
  s.Timer();
  expect(2 * 200 * kMb, "both are 7");
}

TEST(Dcqcn, PaperIgnoresMarksWithoutNotification) {
  Sent s("dcqcn");
  Ack ack;
  ack.marked = true;
  ack.acked = 1000;
  s.dcqcn.OnAck(ack, &s.control);
  EXPECT_EQ(s.control.pace, kLine);
  s.dcqcn.OnLoss(Loss(), &s.control);
  EXPECT_EQ(s.control.pace, kLine);
}

TEST(Dcqcn, RateIsNeverBelowMinRate) {
  Sent s("dcqcn:min_rate=2Gb/s");
  for (int i = 0; i < 40; ++i) s.Ack(Time::Micros(50 * i), true);
  EXPECT_DOUBLE_EQ(s.control.pace, 2000 * kMb);
  PathFacts slow = RoundPath();
  slow.rate = slow.nic_rate = 1000 * kMb;
  Sent t("dcqcn:min_rate=2Gb/s", slow);
  t.Ack(Time::Micros(1), true);
  EXPECT_DOUBLE_EQ(t.control.pace, 1000 * kMb);  // the NIC's rate is the limit
}

TEST(Dcqcn, WindowFollowsTheRate) {
  Sent s("dcqcn:window=bdp,min_rate=1Mb/s");
  EXPECT_DOUBLE_EQ(s.control.window, 150000);
  s.Ack(Time::Micros(0), true);
  EXPECT_DOUBLE_EQ(s.control.window, 75000);
  for (int i = 1; i < 20; ++i) s.Ack(Time::Micros(50 * i), true);
  EXPECT_EQ(s.control.window, 1000);  // one packet
}

TEST(Dcqcn, EarlyTimerChangesNothing) {
  Sent s("dcqcn");
  s.Ack(Time::Micros(0), true);
  s.dcqcn.OnTimer(Time::Micros(54), &s.control);
  EXPECT_EQ(s.control.pace, kLine / 2);
  EXPECT_EQ(s.control.timer, Time::Micros(55));
}

TEST(DcqcnNic, CutsAtTheCheckWithCurrentAlpha) {
  Sent s("dcqcn:set=nic");
  s.Ack(Time::Micros(10), true);
  EXPECT_EQ(s.control.pace, kLine);
  EXPECT_EQ(s.Timer(), Time::Nanos(14001));
  const double quiet = 255.0 / 256;
  double alpha = std::pow(quiet, 4);
  double rate = kLine * (1 - alpha / 2);
  EXPECT_NEAR(s.control.pace, rate, 1e-15);
  EXPECT_EQ(s.control.timer, Time::Nanos(314001));
  // Two marks in one period of the check cut once. No increase came between, so the target stays.
  s.Ack(Time::Nanos(20100), true);
  s.Ack(Time::Nanos(20200), true);
  EXPECT_EQ(s.Timer(), Time::Nanos(22001));
  alpha = std::pow(quiet, 10);                  // at 20 us
  alpha = (alpha * quiet + 1 - quiet) * quiet;  // at 21 us and 22 us
  rate *= 1 - alpha / 2;
  EXPECT_NEAR(s.control.pace, rate, 1e-15);
  EXPECT_EQ(s.dcqcn.target(), kLine);
  // One increase, then a cut: the rate before the cut is the target.
  EXPECT_EQ(s.Timer(), Time::Nanos(322001));
  rate = (rate + kLine) / 2;
  s.Ack(Time::Nanos(322500), true);
  EXPECT_EQ(s.Timer(), Time::Nanos(326001));
  EXPECT_NEAR(s.dcqcn.target(), rate, 1e-15);
}

TEST(DcqcnNic, IncreasesScaleWithLineRate) {
  Sent s("dcqcn:set=nic,g=0.000001");  // alpha stays near 1
  Time now = Time::Zero();
  for (int i = 0; i < 5; ++i) {
    s.Ack(now, true);
    s.Timer();        // the cut to a half
    now = s.Timer();  // back by half of the gap: three quarters
  }
  s.Ack(now, true);
  s.Timer();
  EXPECT_NEAR(s.dcqcn.target(), kLine * std::pow(0.75, 5), 1e-5);
  const double target = s.dcqcn.target();
  s.Timer();
  EXPECT_EQ(s.dcqcn.target(), target);
  s.Timer();
  EXPECT_NEAR(s.dcqcn.target(), target + 20 * kMb, 1e-15);  // 5 Mb/s for each 25 Gb/s
  s.Timer();
  EXPECT_NEAR(s.dcqcn.target(), target + 220 * kMb, 1e-15);  // 50
  s.Timer();
  EXPECT_NEAR(s.dcqcn.target(), target + 420 * kMb, 1e-15);  // flat
}

// The transport computes alpha for all periods at once; the test updates it period by period.
TEST(DcqcnNic, AlphaMatchesPeriodicUpdates) {
  Sent s("dcqcn:set=nic,increase_timer=1ms,min_rate=1Mb/s");
  double alpha = 1;
  bool noticed = false;
  int cuts = 0;
  for (int64_t ns = 0; ns < 300000; ns += 250) {
    if (ns % 1000 == 0 && ns > 0) {
      alpha = alpha * 255 / 256 + (noticed ? 1.0 / 256 : 0);
      noticed = false;
    }
    const Time now = Time::Nanos(ns);
    if (s.control.timer <= now + Time::Nanos(1)) {
      const double before = s.control.pace;
      s.Timer();
      EXPECT_NEAR(s.control.pace, before * (1 - alpha / 2), 1e-14) << ns;
      ++cuts;
    }
    const bool marked = ns == 0 || (ns % 1000 == 250 && (ns / 1000 * 7919) % 11 == 0);
    s.Ack(now, marked);
    if (marked && ns > 0) noticed = true;
  }
  EXPECT_GT(cuts, 20);
}

TEST(Dcqcn, ReadsParameterSets) {
  const auto paper = ReadConfig<Dcqcn>("dcqcn");
  ASSERT_TRUE(paper.ok());
  EXPECT_EQ(paper->increase_timer, 55000000);
  EXPECT_DOUBLE_EQ(paper->ai, 40 * kMb);
  EXPECT_DOUBLE_EQ(paper->hai, 200 * kMb);
  const auto simai = ReadConfig<Dcqcn>("dcqcn:set=simai,increase_timer=300us");
  ASSERT_TRUE(simai.ok());
  EXPECT_EQ(simai->rules, Dcqcn::Rules::kNic);
  EXPECT_EQ(simai->cut_timer, 4000000);
  EXPECT_EQ(simai->increase_timer, 300000000);
  EXPECT_DOUBLE_EQ(simai->hai, 100 * kMb);
  EXPECT_EQ(simai->hai_share, 0);
  const auto old = ReadConfig<Dcqcn>("dcqcn:set=hpcc_paper,ai=1Gb/s");
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(old->cut_timer, 50000000);
  EXPECT_DOUBLE_EQ(old->ai, 1000 * kMb);
  EXPECT_EQ(old->ai_share, 0);
  EXPECT_DOUBLE_EQ(old->hai_share, 0.002);
}

TEST(Dcqcn, RefusesBadValues) {
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:g=2"),
              HasSubstr("g is \"2\"; expected a number from 1e-06 to 1; the nearest is 1"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:set=papr"), HasSubstr("did you mean 'paper'?"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:alpha_timr=1us"), HasSubstr("unknown parameter \"alpha_timr\""));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:increase_timer=0ns"),
              HasSubstr("increase_timer is \"0ns\"; expected at least 100ns"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:alpha_timer=55"), HasSubstr("alpha_timer is \"55\"; expected a unit"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:byte_counter=999"), HasSubstr("at least 1000B, the nearest"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:set=nic,byte_counter=10MB"), HasSubstr("only set=paper has one"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:cut_timer=4us"), HasSubstr("set=nic has one"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:stages=0"), HasSubstr("the nearest is 1"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:ai=40"), HasSubstr("ai is \"40\"; expected a unit"));
  EXPECT_THAT(Refusal<Dcqcn>("dcqcn:window=yes"), HasSubstr("window is \"yes\"; expected none, bdp"));
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
