// Compares the fair rates with a slow solver that follows the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "backends/fluid/network.h"
#include "slow_rates.h"

namespace chakra::CHAKRA_FILE {
namespace {

TEST(FluidNetwork, SolvesTextbookExamples) {
  FluidNetwork n;
  const uint32_t a = n.AddLink(1), b = n.AddLink(2);
  const uint32_t both = n.AddFlow({{a}, {b}}, 1, 0), first = n.AddFlow({{a}}, 1, 0),
                 second = n.AddFlow({{b}}, 1, 0);
  std::vector<uint32_t> changed;
  n.Solve(&changed);
  EXPECT_EQ(changed.size(), 3u);
  EXPECT_DOUBLE_EQ(n.rate(both), 0.5);
  EXPECT_DOUBLE_EQ(n.rate(first), 0.5);
  EXPECT_DOUBLE_EQ(n.rate(second), 1.5);
  n.RemoveFlow(first);
  n.Solve(&changed);
  EXPECT_DOUBLE_EQ(n.rate(both), 1);
  EXPECT_DOUBLE_EQ(n.rate(second), 1);
  // With weights, three to one. With a priority, the other flows get the rest.
  const uint32_t heavy = n.AddFlow({{b}}, 3, 0);
  n.RemoveFlow(both);
  n.Solve(&changed);
  EXPECT_DOUBLE_EQ(n.rate(second), 0.5);
  EXPECT_DOUBLE_EQ(n.rate(heavy), 1.5);
  const uint32_t urgent = n.AddFlow({{a}, {b}}, 1, 1);
  n.Solve(&changed);
  EXPECT_DOUBLE_EQ(n.rate(urgent), 1);
  EXPECT_DOUBLE_EQ(n.rate(second), 0.25);
  EXPECT_DOUBLE_EQ(n.rate(heavy), 0.75);
  EXPECT_TRUE(n.IsMaxMin(1e-12));
}

TEST(FluidNetwork, SolvesOnlyConnectedFlowsAgain) {
  FluidNetwork n;
  std::vector<uint32_t> flows, changed;
  for (int i = 0; i < 100; ++i) flows.push_back(n.AddFlow({{n.AddLink(1)}}, 1, 0));
  n.Solve(&changed);
  EXPECT_EQ(n.work(), 100u);
  n.AddFlow({{7}}, 1, 0);
  n.Solve(&changed);
  EXPECT_EQ(n.work(), 102u);
  EXPECT_EQ(changed.size(), 2u);
  EXPECT_DOUBLE_EQ(n.rate(flows[7]), 0.5);
  EXPECT_FALSE(n.dirty());
}

TEST(FluidNetwork, SolvesWeightsFarApart) {
  FluidNetwork n;
  const uint32_t l0 = n.AddLink(1), l1 = n.AddLink(100), l2 = n.AddLink(0.25);
  const uint32_t a = n.AddFlow({{l0}, {l2}}, 9e11, 0), b = n.AddFlow({{l0}}, 1e-6, 0),
                 c = n.AddFlow({{l0}, {l1}}, 1.1e-6, 0);
  std::vector<uint32_t> changed;
  n.Solve(&changed);
  EXPECT_NEAR(n.rate(a), 0.25, 1e-12);
  EXPECT_NEAR(n.rate(b), 0.75 / 2.1, 1e-9);
  EXPECT_NEAR(n.rate(c), 0.75 * 1.1 / 2.1, 1e-9);
}

TEST(FluidNetwork, MatchesSlowSolverAsFlowsComeAndGo) {
  std::mt19937_64 random(17);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    FluidNetwork n;
    std::vector<double> capacity;
    const bool large = round % 10 == 9;
    const size_t links = 1 + random() % (large ? 80 : 20);
    const bool round_numbers = round % 3 == 0;  // ties
    for (size_t l = 0; l < links; ++l) {
      capacity.push_back(round_numbers ? static_cast<double>(1 + random() % 3) : std::exp(uniform(-5, 5)));
      n.AddLink(capacity.back());
    }
    std::map<uint32_t, PlainFlow> flows;
    std::vector<uint32_t> changed;
    for (int step = 0; step < 30; ++step) {
      if (round % 6 == 4 && random() % 4 == 0) {
        const size_t l = random() % links;
        capacity[l] = random() % 4 == 0 ? 0 : capacity[l] * uniform(0.3, 2);
        n.SetCapacity(static_cast<uint32_t>(l), capacity[l]);
      }
      for (uint64_t k = 1 + random() % (large && step == 0 ? 150 : 5); k > 0; --k) {
        if (!flows.empty() && random() % 3 == 0) {
          auto it = flows.begin();
          std::advance(it, static_cast<std::ptrdiff_t>(random() % flows.size()));
          n.RemoveFlow(it->first);
          flows.erase(it);
          continue;
        }
        PlainFlow f;
        std::set<uint32_t> chosen;
        for (uint64_t l = 1 + random() % 4; l > 0; --l)
          chosen.insert(static_cast<uint32_t>(random() % links));
        for (const uint32_t l : chosen) {
          f.links.push_back({l, round % 7 == 3 ? static_cast<double>(1 + random() % 4) / 4 : 1});
        }
        if (round % 4 == 1)
          f.weight = round_numbers ? static_cast<double>(1 + random() % 3) : std::exp(uniform(-2, 2));
        if (round % 5 == 2) f.priority = static_cast<int>(random() % 3);
        const uint32_t id = n.AddFlow(f.links, f.weight, f.priority);
        ASSERT_EQ(flows.count(id), 0u);
        flows[id] = f;
      }
      n.Solve(&changed);
      const std::map<uint32_t, double> expected = SlowRates(capacity, flows);
      for (const auto& [id, rate] : expected) {
        ASSERT_NEAR(n.rate(id), rate, 1e-9 * std::max(rate, 1e-6)) << round << " " << step << " " << id;
      }
      ASSERT_TRUE(n.IsMaxMin(1e-9)) << round << " " << step;
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
