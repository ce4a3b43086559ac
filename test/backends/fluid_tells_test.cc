// The queue of arrivals to report, and the picosecond in which a flow ends.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "backends/fluid/rounding.h"
#include "backends/fluid/tell_queue.h"

namespace chakra::CHAKRA_FILE {
namespace {

TEST(TellQueue, MatchesSortedList) {
  std::mt19937_64 random(5);
  for (const uint64_t latencies : {1u, 3u, 16u, 40u}) {
    TellQueue queue;
    std::multimap<Time, std::pair<uint64_t, uint64_t>> slow;
    Time now;
    for (uint64_t order = 0; order < 5000; ++order) {
      const Time delay = Time::Picos(static_cast<int64_t>(100 * (random() % latencies)));
      queue.Add(now, delay, order, order * 7);
      slow.insert({now + delay, {order, order * 7}});
      while (!queue.empty() && random() % 2 == 0) {
        ASSERT_EQ(queue.at(), slow.begin()->first);
        now = queue.at();
        std::set<std::pair<uint64_t, uint64_t>> told, expected;
        queue.Take([&](uint64_t o, uint64_t tag) { told.insert({o, tag}); });
        while (!slow.empty() && slow.begin()->first == now) {
          expected.insert(slow.begin()->second);
          slow.erase(slow.begin());
        }
        ASSERT_EQ(told, expected);
      }
      ASSERT_EQ(queue.empty(), slow.empty());
      if (random() % 4 == 0 && slow.empty()) now += Time::Picos(static_cast<int64_t>(random() % 300));
    }
  }
}

TEST(TellQueue, DropsEntriesThatNeverArrive) {
  TellQueue queue;
  queue.Add(Time::Nanos(1), Time::Never(), 0, 0);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.at(), Time::Never());
}

TEST(FirstPico, RoundsUpExceptForNoise) {
  EXPECT_EQ(FirstPico(0), Time::Zero());
  EXPECT_EQ(FirstPico(1e-9), Time::Zero());
  EXPECT_EQ(FirstPico(0.5), Time::Picos(1));
  EXPECT_EQ(FirstPico(41), Time::Picos(41));
  EXPECT_EQ(FirstPico(41 - 1e-9), Time::Picos(41));
  EXPECT_EQ(FirstPico(41 + 1e-9), Time::Picos(41));
  EXPECT_EQ(FirstPico(41 + 1e-3), Time::Picos(42));
  EXPECT_EQ(FirstPico(1e30), Time::Never());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
