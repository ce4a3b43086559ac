// Congestion control over whole networks, against closed forms and against figures of other simulators.
// bench/packet_curves draws the curves.
#include "test/validation/packet_curves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace chakra::CHAKRA_FILE {
namespace {

using validation::CurveFlow;
using validation::PacketCurves;

constexpr uint64_t kEndless = 1000000000000;

PacketCurves Curves(const Topology& topology, const std::string& options, const std::vector<CurveFlow>& flows,
                    int64_t step_us, int64_t end_us) {
  auto curves = validation::RunCurves(topology, options, flows, Time::Micros(step_us), Time::Micros(end_us));
  EXPECT_TRUE(curves.ok()) << curves.status();
  if (curves.ok()) return *std::move(curves);
  PacketCurves none;
  none.rates.resize(flows.size());
  none.received.assign(flows.size(), -1);
  return none;
}

// SIGCOMM 2015: the first notification halves the rate; then each of five timers returns half of the missing
// rate.
TEST(PacketCurves, DcqcnRecoversAsPublished) {
  const PacketCurves c =
      Curves(validation::CurveStar(3, 40, Time::Micros(1)),
             "mtu=1000B,header=48B,ecn_low=5KB,ecn_high=5KB,ecn_probability=1,transport=dcqcn",
             {{1, 0, kEndless, Time::Zero()}, {2, 0, 40000, Time::Micros(200)}}, 5, 600);
  double cut = 0;
  for (size_t i = 0; i < c.us.size() && cut == 0; ++i) {
    if (c.us[i] > 200 && c.rates[0][i] < 0.97) cut = c.us[i] - 5;
  }
  ASSERT_GT(cut, 0);
  EXPECT_LT(cut, 230);
  for (int stage = 0; stage <= 5; ++stage) {
    const double at = cut + 55 * (stage + 0.5);
    EXPECT_NEAR(c.Mean(c.rates[0], at - 20, at + 20), 1 - std::pow(0.5, 1 + stage), 0.01) << stage;
  }
}

// 5 ms after the second flow starts, each flow has half of the link.
TEST(PacketCurves, DcqcnConvergesToEqualShares) {
  const PacketCurves c =
      Curves(validation::CurveStar(3, 100, Time::Micros(1)),
             "mtu=4096B,buffer=12MB,flow_control=pfc,transport=(dcqcn:set=nic)",
             {{1, 0, kEndless, Time::Zero()}, {2, 0, kEndless, Time::Micros(2000)}}, 50, 17000);
  EXPECT_NEAR(c.Mean(c.rates[0], 1000, 2000), 1, 0.01);
  EXPECT_NEAR(c.Mean(c.rates[0], 7000, 17000), 0.5, 0.025);
  EXPECT_NEAR(c.Mean(c.rates[1], 7000, 17000), 0.5, 0.025);
  EXPECT_GT(c.Mean(c.used, 7000, 17000), 0.95);
  EXPECT_EQ(c.counters.drops, 0u);
}

// The fixed point of N flows is eta + N W_AI / BDP.
TEST(PacketCurves, HpccSettlesAtItsFixedPoint) {
  for (const int n : {1, 10, 50}) {
    const PacketCurves c = Curves(validation::HpccStar(n + 1), absl::StrCat(validation::kHpccOptions, "hpcc"),
                                  validation::Incast(n, kEndless), 13, n == 50 ? 5000 : 3000);
    const double end = c.us.back(), form = 0.95 + 80 * n / validation::kHpccBdp;
    EXPECT_NEAR(c.Mean(c.used, end - 1000, end), form, 0.01 * form) << n;
    EXPECT_LT(c.Mean(c.queued, end - 1000, end), 0.02 * validation::kHpccBdp) << n;
    std::vector<double> rates;
    for (const auto& r : c.rates) rates.push_back(c.Mean(r, end - 1000, end));
    EXPECT_GT(validation::JainIndex(rates), 0.99) << n;
  }
}

// The bound: all bytes over the last link, and the time in which the first packet reaches that link.
TEST(PacketCurves, IncastsKeepTheLastLinkBusy) {
  constexpr uint64_t kBytes = 500000;
  const double bound = 16 * (kBytes + 500 * 48) / 12.5e3 + 2 + 1048 / 12.5e3;
  const Topology star = validation::CurveStar(17, 100, Time::Micros(1));
  for (const char* transport :
       {"window", "(dcqcn:set=nic,window=bdp)", "dctcp", "hpcc", "nscc", "swift", "(timely:set=hpcc)"}) {
    const PacketCurves c =
        Curves(star, absl::StrCat("mtu=1000B,header=48B,buffer=16MB,flow_control=pfc,transport=", transport),
               validation::Incast(16, kBytes), 0, 20000);
    EXPECT_GE(c.Last(), bound * (1 - 1e-9)) << transport;
    EXPECT_LT(c.Last(), 1.05 * bound) << transport;
    EXPECT_EQ(c.counters.drops, 0u) << transport;
  }
}

// The regression values of uet-htsim, which takes the end when the last acknowledgement reaches the sender.
TEST(PacketCurves, NsccMatchesUetHtsim) {
  const auto topology = validation::CurveNetwork(validation::kNsccNetwork, 1024);
  ASSERT_TRUE(topology.ok()) << topology.status();
  const std::string options = absl::StrCat(validation::kNsccOptions, "nscc");
  const PacketCurves idle = Curves(*topology, options, {{1023, 0, 2000000, Time::Zero()}}, 0, 100000);
  EXPECT_NEAR(idle.Last() + validation::kNsccAckUs, 176.2, 0.05);
  const PacketCurves incast = Curves(*topology, options, validation::Incast(15, 2000000), 0, 100000);
  EXPECT_NEAR(incast.Last() + validation::kNsccAckUs, 2478.5, 0.05 * 2478.5);
  EXPECT_GT(incast.counters.trims, 0u);
}

// The paths of a pair differ: with 64 paths, a flow reaches all ports of its leaf.
TEST(PacketCurves, PathsOfAPairDiffer) {
  const auto topology = validation::CurveNetwork(validation::kNsccNetwork, 1024);
  ASSERT_TRUE(topology.ok()) << topology.status();
  RoutingOptions routing;
  routing.queue_pairs = 64;
  Router router(*topology, routing);
  std::vector<std::vector<uint32_t>> seen;
  for (uint64_t way = 0; way < 64; ++way) {
    std::vector<uint32_t> links;
    for (const RouteHop& h : router.FindWay(1023, 0, way).hops) links.push_back(h.hop.link);
    if (std::find(seen.begin(), seen.end(), links) == seen.end()) seen.push_back(links);
  }
  // 64 draws of 64 paths give 40.6 different paths on average; with two hashes, 30.
  EXPECT_GT(seen.size(), 35u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
