#include "replay/engine/measure/flow_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace chakra::CHAKRA_FILE {
namespace {

TEST(FlowTimes, GroupsSizesByPowersOfTen) {
  FlowTimes times;
  EXPECT_TRUE(times.Rows().empty());
  times.Add(uint64_t{1} << 60, Time::Micros(9), Time::Micros(3));
  times.Add(1000000000, Time::Micros(3), Time::Micros(3));
  times.Add(1001, Time::Picos(5), Time::Picos(4));
  times.Add(10000, Time::Picos(8), Time::Picos(1));
  times.Add(1000, Time::Micros(1), Time::Micros(1));
  times.Add(0, Time::Micros(4), Time::Micros(2));
  const auto rows = times.Rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].most_bytes, 1000u);
  EXPECT_EQ(rows[0].flows, 2u);
  EXPECT_EQ(rows[0].mean, Time::Picos(2500000));
  EXPECT_EQ(rows[0].max, 2);
  EXPECT_EQ(rows[1].most_bytes, 10000u);
  EXPECT_EQ(rows[1].mean, Time::Picos(6));
  EXPECT_NEAR(rows[1].median, 1.25, 0.01);
  EXPECT_EQ(rows[1].p99, 8);
  EXPECT_EQ(rows[2].most_bytes, 1000000000u);
  EXPECT_EQ(rows[3].most_bytes, ~uint64_t{0});
  EXPECT_EQ(rows[3].max, 3);
}

TEST(FlowTimes, QuantilesDoNotDependOnOrder) {
  std::mt19937_64 random(3);
  std::vector<int64_t> slow;
  for (int i = 0; i < 5000; ++i) slow.push_back(1000 + static_cast<int64_t>(random() % (1u << (10 + i % 8))));
  FlowTimes forward, backward;
  for (size_t i = 0; i < slow.size(); ++i) {
    forward.Add(5000, Time::Picos(slow[i]), Time::Picos(1000));
    backward.Add(5000, Time::Picos(slow[slow.size() - 1 - i]), Time::Picos(1000));
  }
  std::sort(slow.begin(), slow.end());
  const FlowTimesRow row = forward.Rows()[0], same = backward.Rows()[0];
  const auto of = [&](size_t rank) { return static_cast<double>(slow[rank - 1]) / 1000; };
  EXPECT_NEAR(row.median / of(2500), 1, 0.008);
  EXPECT_NEAR(row.p99 / of(4950), 1, 0.008);
  EXPECT_EQ(row.max, of(5000));
  EXPECT_EQ(row.median, same.median);
  EXPECT_EQ(row.p99, same.p99);
  EXPECT_EQ(row.mean, same.mean);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
