#include "backends/packet/transports/nscc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/packet/transports/any_transport.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using namespace packet;

static_assert(sizeof(Nscc) <= 600);

constexpr double kWire = 4150;
constexpr uint64_t kPayload = 4086;

PathFacts Path(double gbps = 100, int64_t rtt_us = 12) {
  PathFacts p;
  p.rate = p.nic_rate = gbps / 8000;
  p.base_rtt = Time::Micros(rtt_us);
  p.mtu = kPayload;
  p.wire = 4150;
  p.hops = 6;
  return p;
}

struct OneFlow {
  explicit OneFlow(const Nscc::Config& config = {}) : nscc(config, Path(), &control) {}
  // `delay_ns` of the round trip was spent in queues.
  void Ack(int64_t now_us, int64_t delay_ns, bool marked = false, uint32_t path = 0, uint64_t packets = 1) {
    packet::Ack ack;
    ack.now = Time::Micros(now_us);
    ack.rtt = Time::Micros(12) + Time::Nanos(delay_ns);
    ack.acked = packets * kPayload;
    ack.marked = marked;
    ack.path = path;
    nscc.OnAck(ack, &control);
  }
  void Lose(int64_t now_us, uint64_t packets, uint64_t in_flight = 0, Loss::Kind kind = Loss::kTrimmed,
            uint32_t path = 0) {
    Loss loss;
    loss.now = Time::Micros(now_us);
    loss.kind = kind;
    loss.bytes = packets * kPayload;
    loss.in_flight = in_flight * kPayload;
    loss.path = path;
    nscc.OnLoss(loss, &control);
  }
  std::vector<uint32_t> Paths(int n, uint32_t paths) {
    std::vector<uint32_t> picked;
    for (int i = 0; i < n; ++i) picked.push_back(nscc.PickPath(Time::Zero(), paths));
    return picked;
  }
  Control control;
  Nscc nscc;
};

Nscc::Config Balanced(Nscc::Balance b) {
  Nscc::Config c;
  c.balance = b;
  return c;
}

TEST(Nscc, DerivedConstantsAt100GAnd12Us) {
  const OneFlow f;
  const Nscc::Derived& d = f.nscc.derived();
  EXPECT_NEAR(d.target, 9e6, 1e-3);
  EXPECT_NEAR(d.alpha * 1e6, 1362, 1e-6);  // bytes a microsecond
  EXPECT_NEAR(d.fi, 20430, 1e-6);
  EXPECT_NEAR(d.eta, 612.9, 1e-6);
  EXPECT_NEAR(d.fast, 0.25, 1e-12);
  EXPECT_NEAR(f.nscc.cwnd(), 225000, 1e-6);
  EXPECT_NEAR(f.control.window, 225000.0 * 4086 / 4150, 1e-6);
  EXPECT_EQ(f.control.pace, Control::kNone);
}

TEST(Nscc, DerivedConstantsAt400GAnd4Us) {
  Control control;
  const Nscc nscc({}, Path(400, 4), &control);
  EXPECT_NEAR(nscc.derived().target, 3e6, 1e-3);
  EXPECT_NEAR(nscc.derived().alpha * 1e6, 1816, 1e-6);
  EXPECT_NEAR(nscc.derived().fi, 27240, 1e-6);
  EXPECT_NEAR(nscc.cwnd(), 300000, 1e-6);
}

TEST(Nscc, TargetWithoutTrimmingIsARoundTrip) {
  Nscc::Config config;
  config.trimming = false;
  EXPECT_NEAR(OneFlow(config).nscc.derived().target, 12e6, 1e-3);
  config.target = Time::Micros(5);
  EXPECT_NEAR(OneFlow(config).nscc.derived().target, 5e6, 1e-3);
}

constexpr double kAfterLoss = 225000 - 20 * kWire;

TEST(Nscc, TrimmedPacketsShrinkTheWindow) {
  OneFlow f;
  f.Lose(0, 20);
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss, 1e-6);
  f.Lose(0, 1000);
  EXPECT_EQ(f.nscc.cwnd(), kWire);
  EXPECT_NEAR(f.control.window, kPayload, 1e-9);
}

TEST(Nscc, UnmarkedLowDelayGrowsProportionally) {
  OneFlow f;
  f.Lose(0, 20);
  for (int i = 0; i < 8; ++i) f.Ack(1, 3000);
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss, 1e-6);  // nothing changes before more than 8 packets
  f.Ack(1, 3000);
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss + 9 * kWire * 1362 * 6 / kAfterLoss, 1e-6);
}

TEST(Nscc, UnmarkedHighDelayGrowsSlowly) {
  OneFlow f;
  f.Lose(0, 20);
  for (int i = 0; i < 9; ++i) f.Ack(1, 10000);
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss + 9 * kWire * 20430 / kAfterLoss, 1e-6);
}

TEST(Nscc, EachRoundTripAddsEta) {
  OneFlow f;
  f.Lose(0, 20);
  f.Ack(1, 10000, true);
  f.Ack(13, 5000, true);  // 12 us: no longer than a round trip
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss, 1e-6);
  f.Ack(14, 5000, true);
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss + 612.9, 1e-6);
  f.Ack(15, 5000, true);
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss + 612.9, 1e-6);
}

TEST(Nscc, MarkedHighDelayShrinksOncePerRoundTrip) {
  Nscc::Config config;
  config.smoothing = 1;
  config.eta = 0;
  OneFlow f(config);
  f.Ack(100, 18000, true);
  EXPECT_NEAR(f.nscc.cwnd(), 225000 * 0.6, 1e-6);  // 1 - 0.8 (18 - 9) / 18
  f.Ack(112, 18000, true);
  EXPECT_NEAR(f.nscc.cwnd(), 225000 * 0.6, 1e-6);
  f.Ack(113, 90000, true, 0, 10);                  // 10 packets: too much has arrived for quick adaptation
  EXPECT_NEAR(f.nscc.cwnd(), 225000 * 0.3, 1e-6);  // at most by half
}

TEST(Nscc, ShrinksOnlyAboveTargetMeanDelay) {
  OneFlow f;  // one sample of 18 us moves the mean by 0.225 us
  f.Ack(100, 18000, true);
  EXPECT_NEAR(f.nscc.mean_delay(), 0.0125 * 18e6, 1e-3);
  EXPECT_NEAR(f.nscc.cwnd(), 225000, 1e-6);
}

TEST(Nscc, MarkedLowDelayKeepsTheWindow) {
  Nscc::Config config;
  config.smoothing = 1;
  OneFlow f(config);
  f.Lose(0, 20);
  f.Ack(1, 8999, true);
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss, 1e-6);
}

TEST(Nscc, UnmarkedHighDelayCountsAsQuarterRoundTrip) {
  Nscc::Config config;
  config.smoothing = 1;
  OneFlow f(config);
  f.Ack(1, 10000);
  EXPECT_NEAR(f.nscc.mean_delay(), 3e6, 1e-3);
  f.Ack(2, 10000, true);
  EXPECT_NEAR(f.nscc.mean_delay(), 10e6, 1e-3);
}

TEST(Nscc, FastIncreaseAfterAWindowWithoutDelay) {
  Nscc::Config config;
  config.alpha = 0.01;
  config.eta = 0;
  OneFlow f(config);
  f.Lose(0, 20);
  for (int i = 0; i < 34; ++i) f.Ack(1, 500);  // 141,100 bytes
  EXPECT_NEAR(f.nscc.cwnd(), kAfterLoss, 50);
  const double before = f.nscc.cwnd();
  f.Ack(1, 500);
  EXPECT_NEAR(f.nscc.cwnd(), before + 0.25 * kWire, 10);
  f.Ack(1, 1000);  // a delay of a microsecond ends the increase
  f.Ack(1, 500);
  EXPECT_NEAR(f.nscc.cwnd(), before + 0.25 * kWire, 20);
}

TEST(Nscc, QuickAdaptationFollowsArrivedBytes) {
  OneFlow f;
  f.Lose(1, 1);  // starts a period of 21 us
  for (int i = 0; i < 3; ++i) f.Ack(10, 20000, true);
  f.Lose(22, 1);
  EXPECT_NEAR(f.nscc.cwnd(), 225000 - 2 * kWire, 1e-6);  // the period is not over
  f.Lose(23, 1, 4);
  EXPECT_NEAR(f.nscc.cwnd(), 3 * kWire, 1e-6);
  EXPECT_NEAR(f.control.window, 3.0 * kPayload, 1e-6);
  for (int i = 0; i < 3; ++i) f.Ack(40, 90000, true);  // sent before the cut
  f.Lose(41, 1);                                       // the fourth of 4 in flight
  EXPECT_NEAR(f.nscc.cwnd(), 2 * kWire, 1e-6);         // no longer forgiven
}

TEST(Nscc, QuickAdaptationWithoutALoss) {
  for (const bool late : {false, true}) {
    OneFlow f;
    f.Ack(1, 20000, true);
    f.Ack(10, 20000, true, 0, 2);
    f.Ack(23, late ? 36001 : 36000, true);  // 4 targets
    EXPECT_EQ(f.nscc.cwnd() < 20000, late);
  }
}

TEST(Nscc, QuickAdaptationNeedsFewArrivals) {
  OneFlow f;
  f.Lose(1, 1);
  f.Ack(10, 20000, true, 0, 7);  // 29,050 bytes; the gate is 28,125
  f.Lose(23, 1);
  EXPECT_GT(f.nscc.cwnd(), 200000);
}

TEST(Nscc, LossArmsQuickAdaptation) {
  OneFlow f;
  f.Lose(1, 1);
  f.Ack(23, 1000, true);
  EXPECT_NEAR(f.nscc.cwnd(), kWire, 1e-6);
}

TEST(Nscc, EachPeriodRestartsTheCount) {
  OneFlow f;
  f.Lose(1, 1);
  f.Ack(10, 20000, true, 0, 7);
  f.Lose(23, 1);
  f.Ack(30, 20000, true);
  f.Lose(45, 1);
  EXPECT_NEAR(f.nscc.cwnd(), kWire, 1e-6);
}

TEST(Nscc, TrimmedPacketCountsAsRoundTripDelay) {
  Nscc::Config config;
  config.smoothing = 1;
  OneFlow f(config);
  f.Lose(1, 1, 0, Loss::kTimeout);
  EXPECT_EQ(f.nscc.mean_delay(), 0);
  f.Lose(2, 1);
  EXPECT_NEAR(f.nscc.mean_delay(), 12e6, 1e-3);
}

TEST(Nscc, RepsReusesOnlyUnmarkedPaths) {
  OneFlow f(Balanced(Nscc::Balance::kReps));
  f.Ack(1, 0, false, 5);
  f.Ack(1, 0, true, 7);
  f.Ack(1, 0, false, 9);
  EXPECT_THAT(f.Paths(2, 256), testing::ElementsAre(5, 9));
  f.Ack(1, 0, true, 7);
  f.Ack(1, 0, false, 200);  // from before the number of paths fell
  f.Ack(1, 0, false, 3);
  EXPECT_THAT(f.Paths(1, 16), testing::ElementsAre(3));
  for (const uint32_t path : f.Paths(200, 16)) EXPECT_LT(path, 16u);
}

TEST(Nscc, RepsDropsTheOldestPath) {
  OneFlow f(Balanced(Nscc::Balance::kReps));
  for (uint32_t path = 0; path < 70; ++path) f.Ack(1, 0, false, path);
  const auto picked = f.Paths(64, 256);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(picked[i], i + 6);
}

TEST(Nscc, ObliviousUsesEachPathOncePerRound) {
  for (const uint32_t paths : {8u, 6u, 256u}) {
    OneFlow f(Balanced(Nscc::Balance::kOblivious));
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < paths; ++i) all.push_back(i);
    for (int round = 0; round < 3; ++round) {
      f.Ack(1, 0, false, 1);  // neither marks nor their absence count
      EXPECT_THAT(f.Paths(static_cast<int>(paths), paths), testing::UnorderedElementsAreArray(all)) << paths;
    }
  }
  EXPECT_EQ(OneFlow().nscc.PickPath(Time::Zero(), 1), 0u);
}

TEST(Nscc, PenalizedPathsAreSkipped) {
  using testing::Contains;
  using testing::Not;
  OneFlow f(Balanced(Nscc::Balance::kBitmap));
  f.Ack(1, 0, true, 3);
  EXPECT_THAT(f.Paths(7, 8), Not(Contains(3)));
  EXPECT_THAT(f.Paths(16, 8), Contains(3));
  OneFlow g(Balanced(Nscc::Balance::kBitmap));
  g.Lose(1, 1, 0, Loss::kTrimmed, 3);
  EXPECT_THAT(g.Paths(4 * 7, 8), Not(Contains(3)));
  EXPECT_THAT(g.Paths(16, 8), Contains(3));
  OneFlow h(Balanced(Nscc::Balance::kMixed));
  h.Lose(1, 1, 0, Loss::kTimeout, 3);
  h.Lose(1, 1, 0, Loss::kTimeout, 3);  // no more than 15
  EXPECT_THAT(h.Paths(15 * 7, 8), Not(Contains(3)));
  EXPECT_THAT(h.Paths(16, 8), Contains(3));
}

TEST(Nscc, PicksPathsWhenAllArePenalized) {
  OneFlow f(Balanced(Nscc::Balance::kBitmap));
  for (uint32_t path = 0; path < 8; ++path) f.Lose(1, 1, 0, Loss::kTimeout, path);
  for (const uint32_t path : f.Paths(100, 8)) EXPECT_LT(path, 8u);
  f.Lose(1, 1, 0, Loss::kTimeout, 100000);  // not a path of this flow
  EXPECT_LT(f.nscc.PickPath(Time::Zero(), 100000), Nscc::kMostPaths);
}

TEST(Nscc, MixedReusesPathsBeforeSweeping) {
  OneFlow f;
  f.Ack(1, 0, false, 5);
  f.Ack(1, 0, false, 5);
  EXPECT_THAT(f.Paths(2, 8), testing::Each(5));
  EXPECT_THAT(f.Paths(8, 8), testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Nscc, PathsDependOnTheSeedOnly) {
  PathFacts path = Path();
  Control control;
  const auto first = [&](uint64_t seed) {
    path.seed = seed;
    Nscc nscc({}, path, &control);
    std::vector<uint32_t> picked;
    for (int i = 0; i < 20; ++i) picked.push_back(nscc.PickPath(Time::Zero(), 64));
    return picked;
  };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

TEST(Nscc, ParameterFallbacksMatchDefaults) {
  std::string text = "nscc:";
  for (const Parameter& p : Nscc::Kind().parameters) {
    if (!p.fallback.empty()) text += (text.back() == ':' ? "" : ",") + p.key + "=" + p.fallback;
  }
  const auto config = ParseTransport(text);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(std::get<Nscc::Config>(*config), Nscc::Config());
}

TEST(Nscc, RefusesBadParameters) {
  using testing::AllOf;
  using testing::HasSubstr;
  const auto error = [](const char* text) { return std::string(ParseTransport(text).status().message()); };
  const auto good = ParseTransport("nscc:trimming=no,lb=bitmap,target=5us,qa_gate=2");
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_FALSE(std::get<Nscc::Config>(*good).trimming);
  EXPECT_EQ(std::get<Nscc::Config>(*good).balance, Nscc::Balance::kBitmap);
  EXPECT_THAT(error("nscc:lb=rep"),
              AllOf(HasSubstr("nscc: lb is \"rep\""), HasSubstr("did you mean 'reps'")));
  EXPECT_THAT(error("nscc:gamma=3"), AllOf(HasSubstr("gamma"), HasSubstr("the nearest is 1")));
  EXPECT_THAT(error("nscc:trimming=maybe"), AllOf(HasSubstr("trimming"), HasSubstr("yes or no")));
  EXPECT_THAT(error("nscc:target=0ns"), AllOf(HasSubstr("target"), HasSubstr("more than 0")));
  EXPECT_THAT(error("nscc:qa_gate=21"), AllOf(HasSubstr("qa_gate"), HasSubstr("the nearest is 20")));
  EXPECT_THAT(error("nscc:triming=no"), HasSubstr("did you mean 'trimming'"));
  EXPECT_TRUE(Nscc::Kind().sprays && Nscc::Kind().trims && Nscc::Kind().ecn);
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
