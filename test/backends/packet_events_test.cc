// The two queues of events give the same events in the same order.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

#include "backends/packet/events/events.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using packet::BucketEvents;
using packet::HeapEvents;
using packet::PacketEvent;

// When new events are due, counted from now, in patterns that simulations have.
enum class Times { kAnywhere, kOneInstant, kFewInstants, kBursts, kFar };

struct Case {
  const char* name;
  Times times;
  size_t at_once;  // events at the beginning
};

class PacketEvents : public testing::TestWithParam<Case> {
 protected:
  int64_t After() {
    switch (GetParam().times) {
      case Times::kAnywhere:
        return Below(2'000'000);
      case Times::kOneInstant:
        return 500'000;
      case Times::kFewInstants:
        return Below(4) * 80'000;
      case Times::kBursts:
        return Below(20) == 0 ? Below(300'000'000) : 600'000 + Below(1'000);
      default:
        return Below(2) == 0 ? Below(1'000) : Below(int64_t{1} << 45);
    }
  }
  int64_t Below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  PacketEvent New(int64_t now) {
    const auto kind = static_cast<PacketEvent::Kind>(Below(8));
    return {now + After(), PacketEvent::Id(kind, static_cast<uint32_t>(Below(1 << 20))),
            static_cast<uint32_t>(Below(1 << 30))};
  }

  std::mt19937_64 random_{7};
};

TEST_P(PacketEvents, QueuesGiveTheSameOrder) {
  BucketEvents buckets;
  HeapEvents heap;
  const auto push = [&](const PacketEvent& e) {
    buckets.Push(e);
    heap.Push(e);
  };
  for (size_t i = 0; i < GetParam().at_once; ++i) push(New(0));
  int64_t now = 0;
  size_t popped = 0;
  // Runs windows, as the parts of a network do, with messages at the beginning of each.
  for (int64_t begin = 0; !heap.empty(); begin = heap.at()) {
    const int64_t last = begin + 400'000;
    heap.Begin(begin);
    buckets.Begin(begin);
    for (int64_t i = Below(3); i > 0 && popped < 50'000; --i) push(New(begin));
    ASSERT_EQ(buckets.at(), heap.at());
    while (heap.HasUpTo(last)) {
      ASSERT_TRUE(buckets.HasUpTo(last));
      const auto coming = buckets.Coming(5);
      ASSERT_FALSE(coming.empty());
      const PacketEvent e = heap.Pop(), first = coming.front(), other = buckets.Pop();
      ASSERT_EQ(std::tie(e.at, e.id, e.argument), std::tie(other.at, other.id, other.argument));
      ASSERT_EQ(std::tie(e.at, e.id, e.argument), std::tie(first.at, first.id, first.argument));
      ASSERT_GE(e.at, now);
      now = e.at;
      ++popped;
      // For a while, a new event replaces each that ran.
      if (popped < 50'000) push(New(now));
      buckets.ForEachBeyond([&](const PacketEvent& b) { EXPECT_GE(b.at, now); });
    }
    ASSERT_FALSE(buckets.HasUpTo(last));
  }
  EXPECT_TRUE(buckets.empty());
  EXPECT_GE(popped, size_t{50'000});
}

INSTANTIATE_TEST_SUITE_P(All, PacketEvents,
                         testing::Values(Case{"Anywhere", Times::kAnywhere, 3000},
                                         Case{"Few", Times::kAnywhere, 3},
                                         Case{"OneInstant", Times::kOneInstant, 2000},
                                         Case{"OneInstantOf200", Times::kOneInstant, 200},
                                         Case{"FewInstants", Times::kFewInstants, 1000},
                                         Case{"Bursts", Times::kBursts, 5000},
                                         Case{"Far", Times::kFar, 1000}),
                         [](const auto& info) { return info.param.name; });

// ForEachBeyond() shows every event of a bucket while the previous bucket runs.
TEST(PacketEventsBeyond, ShowsTheNextBucket) {
  BucketEvents events(14);
  std::set<uint32_t> known;
  for (uint32_t bucket = 0; bucket < 10; ++bucket) {
    for (uint32_t i = 0; i < 30; ++i) events.Push({(int64_t{bucket} << 14) + 7 * i, 0, 100 * bucket + i});
  }
  size_t popped = 0;
  for (; events.HasUpTo(int64_t{1} << 40); ++popped) {
    const PacketEvent e = events.Pop();
    if (e.argument >= 100) {
      EXPECT_TRUE(known.contains(e.argument)) << e.argument;
    }
    events.ForEachBeyond([&](const PacketEvent& b) { EXPECT_TRUE(known.insert(b.argument).second); });
  }
  EXPECT_EQ(popped, size_t{300});
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
