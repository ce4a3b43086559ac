// Compares the ends with FlowOptions::tolerance with the exact ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/fluid/fluid.h"
#include "fabric_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

// When each flow of an all-to-all of random sizes is received, by tag. One more flow starts at `late`.
std::vector<double> ToleranceEnds(int hosts, double tolerance, Time late, uint64_t seed) {
  const Topology topology = MakeTopology({MakeDim(TopologyDimension::Kind::kSwitch, hosts)});
  FabricOptions options;
  options.Ask<FlowOptions>().tolerance = tolerance;
  FluidFabric fabric(topology, options);
  fabric.ClockFrom(0, 2);
  std::mt19937_64 random(seed);
  std::vector<double> ends;
  const auto start = [&](int src, int dst, uint64_t bytes, Time now) {
    Flow flow = Message(src, dst, bytes);
    flow.tag = ends.size();
    ends.push_back(-1);
    fabric.Start(flow, now);
  };
  for (int src = 0; src < hosts; ++src) {
    for (int dst = 0; dst < hosts; ++dst) {
      if (src != dst) start(src, dst, 1000 + random() % 2000000, Time::Zero());
    }
  }
  std::vector<FlowEnd> ended;
  bool came = false;
  for (Time t = fabric.NextEvent(); t != Time::Never(); t = fabric.NextEvent()) {
    if (!came && t >= late) {
      fabric.AdvanceTo(late, &ended);
      start(0, 1, 500000, late);
      came = true;
      continue;
    }
    fabric.AdvanceTo(t, &ended);
  }
  EXPECT_TRUE(came);
  for (const FlowEnd& end : ended) ends[end.tag] = static_cast<double>(end.at.picos());
  return ends;
}

TEST(FluidTolerance, ErrorsFollowTheTolerance) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Time late = Time::Micros(static_cast<int64_t>(200 * seed));
    const std::vector<double> exact = ToleranceEnds(40, 0, late, seed);
    double mean = 0;
    for (const double tolerance : {1e-4, 1e-3, 1e-2, 1e-1}) {
      const std::vector<double> rough = ToleranceEnds(40, tolerance, late, seed);
      double most = 0, sum = 0;
      for (size_t i = 0; i < exact.size(); ++i) {
        ASSERT_GT(rough[i], 0) << i;  // each flow ends
        const double by = std::abs(rough[i] - exact[i]) / exact[i];
        most = std::max(most, by);
        sum += by;
      }
      EXPECT_LT(most, 3 * tolerance) << seed;
      EXPECT_GT(sum, mean) << seed;  // a larger tolerance gives larger errors
      mean = sum;
    }
  }
}

TEST(FluidTolerance, RefusesToleranceOutOfRange) {
  for (const double tolerance : {-1e-9, 0.11, std::nan("")}) {
    FlowOptions options;
    options.tolerance = tolerance;
    const absl::Status status = CheckFlowOptions("fluid", options);
    EXPECT_FALSE(status.ok()) << tolerance;
    EXPECT_NE(status.message().find("tolerance"), absl::string_view::npos) << status;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
