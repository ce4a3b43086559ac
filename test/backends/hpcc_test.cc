#include "backends/packet/transports/hpcc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "backends/packet/transports/any_transport.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using namespace packet;

constexpr double kRate = 0.0125;  // 100 Gb/s
constexpr int64_t kT = 13000000;  // 13 us
constexpr double kBdp = 162500;

PathFacts Path() {
  PathFacts p;
  p.rate = p.nic_rate = kRate;
  p.base_rtt = Time::Picos(kT);
  p.mtu = 1000;
  p.wire = 1090;
  p.hops = 2;
  return p;
}

// One flow, and the telemetry that its acknowledgements carry from a path of one port at 100 Gb/s.
struct OneFlow {
  explicit OneFlow(const Hpcc::Config& config = {}) : hpcc(config, Path(), &control) {
    t.hops = 1;
    t.hop[0].rate = kRate;
  }
  // An acknowledgement `dt` after the previous one. Since then the port sent at `share` of its rate; `queued`
  // bytes wait there now.
  void Ack(uint64_t packet, uint64_t next, int64_t dt, double share, double queued) {
    t.hop[0].at += dt;
    t.hop[0].sent += static_cast<uint64_t>(share * kRate * static_cast<double>(dt) + 0.5);
    t.hop[0].queued = static_cast<uint64_t>(queued);
    packet::Ack ack;
    ack.packet = packet;
    ack.next = next;
    ack.telemetry = &t;
    hpcc.OnAck(ack, &control);
  }
  Telemetry t;
  Control control;
  Hpcc hpcc;
};

TEST(Hpcc, StartsAtTheNicRate) {
  const OneFlow f;
  EXPECT_DOUBLE_EQ(f.hpcc.window(), kBdp);
  EXPECT_DOUBLE_EQ(f.control.window, kBdp * 1000 / 1090);  // payload
  EXPECT_DOUBLE_EQ(f.control.pace, kRate);
}

TEST(Hpcc, FirstAcknowledgementOnlyRecords) {
  OneFlow f;
  f.Ack(0, 10, kT, 1, 5 * kBdp);
  EXPECT_DOUBLE_EQ(f.hpcc.window(), kBdp);
  EXPECT_EQ(f.hpcc.utilization(), 1);
}

TEST(Hpcc, FullQueueCutsTheWindow) {
  OneFlow f;
  f.Ack(0, 10, kT, 1, kBdp);
  f.Ack(1, 11, kT / 4, 1, kBdp);  // u = 2 for a quarter of a round trip
  EXPECT_NEAR(f.hpcc.utilization(), 0.75 * 1 + 0.25 * 2, 1e-4);
  EXPECT_NEAR(f.hpcc.window(), kBdp * 0.95 / 1.25 + 80, 20);
  EXPECT_NEAR(f.control.pace, f.hpcc.window() / kT, 1e-12);
}

TEST(Hpcc, OldSamplesExpireAfterARoundTrip) {
  OneFlow f;
  f.Ack(0, 10, kT, 1, 0);
  f.Ack(1, 11, 4 * kT, 0.7, 0);
  EXPECT_NEAR(f.hpcc.utilization(), 0.7, 1e-4);
}

TEST(Hpcc, UsesTheSmallerOfTwoQueues) {
  OneFlow f;
  f.Ack(0, 10, kT, 1, 0);
  f.Ack(1, 11, kT, 1, kBdp);
  EXPECT_NEAR(f.hpcc.utilization(), 1, 1e-4);
}

TEST(Hpcc, CutsOncePerRoundTrip) {
  OneFlow f;
  f.Ack(0, 10, kT, 1, 0);
  const double once = kBdp * 0.95 + 80;
  for (uint64_t packet : {5, 6, 10}) {
    f.Ack(packet, 20, kT, 1, 0);
    EXPECT_NEAR(f.hpcc.window(), once, 1) << packet;  // a cut from the same reference window
  }
  f.Ack(11, 30, kT, 1, 0);  // the reference moves, for packets from 31 on
  EXPECT_NEAR(f.hpcc.window(), once, 1);
  for (uint64_t packet : {12, 30}) {
    f.Ack(packet, 40, kT, 1, 0);
    EXPECT_NEAR(f.hpcc.window(), once * 0.95 + 80, 1) << packet;
  }
}

TEST(Hpcc, BusiestPortDecides) {
  Control control;
  Hpcc hpcc({}, Path(), &control);
  Telemetry t;
  t.hops = 3;
  for (int i = 0; i < 3; ++i) t.hop[i].rate = kRate;
  Ack ack;
  ack.telemetry = &t;
  hpcc.OnAck(ack, &control);
  const double share[] = {0.2, 0.7, 0.4};
  for (int i = 0; i < 3; ++i) {
    t.hop[i].at = kT;
    t.hop[i].sent = static_cast<uint64_t>(share[i] * kBdp);
  }
  hpcc.OnAck(ack, &control);
  EXPECT_NEAR(hpcc.utilization(), 0.7, 1e-4);
}

TEST(Hpcc, PathChangeRestartsMeasurement) {
  OneFlow f;
  f.Ack(0, 1, kT, 1, 0);
  f.Ack(2, 3, kT, 1.9, 0);
  const double window = f.hpcc.window();
  EXPECT_NEAR(f.hpcc.utilization(), 1.9, 1e-4);
  f.t.hops = 2;
  f.t.hop[1] = f.t.hop[0];
  f.Ack(4, 5, kT, 1.9, 0);
  EXPECT_EQ(f.hpcc.utilization(), 1);
  EXPECT_EQ(f.hpcc.window(), window);
  f.t.hop[0].sent = 0;  // as many hops, another port
  f.Ack(6, 7, kT, 0.1, 0);
  EXPECT_EQ(f.hpcc.window(), window);
  EXPECT_EQ(f.hpcc.utilization(), 1);
}

TEST(Hpcc, AddsOnlyUntilMaxStage) {
  Hpcc::Config config;
  config.max_stage = 5;
  OneFlow f(config);
  f.Ack(0, 0, kT, 1, 0);
  f.Ack(1, 1, kT, 1.9, 0);
  double w = f.hpcc.window();
  EXPECT_NEAR(w, kBdp / 2 + 80, 20);
  for (uint64_t i = 2; i < 7; ++i) {
    f.Ack(i, i, kT, 0.5, 0);
    EXPECT_NEAR(f.hpcc.window(), w + 80, 1e-6) << i;
    w = f.hpcc.window();
  }
  f.Ack(7, 7, kT, 0.9, 0);
  EXPECT_NEAR(f.hpcc.window(), w * 0.95 / 0.9 + 80, 20);
}

TEST(Hpcc, StaysBetweenLeastAndNicRate) {
  OneFlow f;
  f.Ack(0, 0, kT, 1, 0);
  f.Ack(1, 1, kT, 0.01, 0);
  EXPECT_DOUBLE_EQ(f.hpcc.window(), kBdp);
  Hpcc::Config config;
  config.w_ai = 0;
  OneFlow g(config);
  for (uint64_t i = 0; i < 20; ++i) g.Ack(i, i, kT, 1, 9 * kBdp);
  EXPECT_NEAR(g.control.pace, 1.25e-5, 1e-12);  // 100 Mb/s
}

// The windows of all flows share one port; the bytes above the path's bandwidth-delay product wait there.
void RoundTrips(std::vector<OneFlow*> flows, uint64_t* packet, int n) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (const OneFlow* f : flows) sum += f->hpcc.window();
    ++*packet;
    for (OneFlow* f : flows) f->Ack(*packet, *packet, kT, std::min(1.0, sum / kBdp), std::max(0.0, sum - kBdp));
  }
}

TEST(Hpcc, ReachesTheFixedPoint) {
  for (const int n : {1, 10, 50}) {
    std::vector<OneFlow> flows(static_cast<size_t>(n));
    std::vector<OneFlow*> all;
    for (OneFlow& f : flows) all.push_back(&f);
    uint64_t packet = 0;
    RoundTrips(all, &packet, 20000);
    const double expected = 0.95 + n * 80 / kBdp;
    for (const OneFlow& f : flows) {
      EXPECT_NEAR(f.hpcc.utilization(), expected, 1e-4) << n;
      EXPECT_NEAR(f.hpcc.window(), expected * kBdp / n, 1e-3 * kBdp / n) << n;
    }
  }
}

TEST(Hpcc, LateFlowGetsItsShare) {
  Hpcc::Config config;
  config.w_ai = 800;
  OneFlow first(config), second(config);
  uint64_t packet = 0;
  RoundTrips({&first}, &packet, 100);
  RoundTrips({&first, &second}, &packet, 3);
  EXPECT_GT(std::abs(first.hpcc.window() - second.hpcc.window()), 1000);
  RoundTrips({&first, &second}, &packet, 3000);
  EXPECT_NEAR(first.hpcc.window() / second.hpcc.window(), 1, 1e-3);
}

TEST(Hpcc, FlowsParameterSetsTheIncrease) {
  const auto config = ParseTransport("hpcc:flows=10");
  ASSERT_TRUE(config.ok()) << config.status();
  OneFlow f(std::get<Hpcc::Config>(*config));
  f.Ack(0, 0, kT, 1, 0);
  f.Ack(1, 1, kT, 1, 0);
  EXPECT_NEAR(f.hpcc.window(), kBdp * 0.95 + 0.05 * kBdp / 10, 1e-6);
}

TEST(Hpcc, ParameterFallbacksMatchDefaults) {
  std::string text = "hpcc:";
  for (const Parameter& p : Hpcc::Kind().parameters) {
    if (!p.fallback.empty()) text += (text.back() == ':' ? "" : ",") + p.key + "=" + p.fallback;
  }
  const auto config = ParseTransport(text);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(std::get<Hpcc::Config>(*config), Hpcc::Config());
}

TEST(Hpcc, RefusesBadParameters) {
  using testing::AllOf;
  using testing::HasSubstr;
  const auto error = [](const char* text) { return std::string(ParseTransport(text).status().message()); };
  EXPECT_THAT(error("hpcc:eta=2"), AllOf(HasSubstr("hpcc: eta is \"2\""), HasSubstr("the nearest is 1.5")));
  EXPECT_THAT(error("hpcc:max_stage=-1"), AllOf(HasSubstr("max_stage"), HasSubstr("the nearest is 0")));
  EXPECT_THAT(error("hpcc:w_ai=1.5"), AllOf(HasSubstr("w_ai"), HasSubstr("whole bytes")));
  EXPECT_THAT(error("hpcc:flows=2,w_ai=80"), AllOf(HasSubstr("flows"), HasSubstr("w_ai is given")));
  EXPECT_THAT(error("hpcc:flows=2,eta=1"), AllOf(HasSubstr("flows"), HasSubstr("eta is 1")));
  EXPECT_THAT(error("hpcc:least=100"), AllOf(HasSubstr("least"), HasSubstr("a unit")));
  EXPECT_THAT(error("hpcc:etta=1"), HasSubstr("did you mean 'eta'"));
  EXPECT_TRUE(Hpcc::Kind().telemetry);
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
