#include "trace/import/timeline/own_work.h"

#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

int Between(const Linked& l) {
  int n = 0;
  for (const TimelineNode& node : l.t.nodes) n += node.IsOwnWork() ? 1 : 0;
  return n;
}

TEST(OwnWork, TimeBetweenTwoCallsIsANode) {
  const Linked l = Link(KinetoBuilder().Op(1, "a", 0, 1000).Op(1, "b", 31000, 1000));
  EXPECT_EQ(l.Show(),
            "\na 0+1000: start window+0\nbetween 1000+30000: thread a+0\nb 31000+1000: thread between+0\n");
  ExpectReplaysItself(l);
}

TEST(OwnWork, LongGapsAreNoOwnWork) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 1000)
                            .Op(1, "b", 1000 + kOwnWorkNs, 1000)
                            .Op(1, "c", 2000 + kOwnWorkNs + kOwnWorkNs + 1, 1000));
  EXPECT_EQ(Between(l), 1);
  EXPECT_EQ(l.Edge("a", "between"), "thread+0");
  EXPECT_EQ(l.Edge("b", "c"), "thread+1000001");
}

// The device's library numbers its calls, including calls that a profile does not show.
TEST(OwnWork, GapWithUnseenCallsIsOwnWork) {
  const auto calls = [](int64_t correlation) {
    return Link(KinetoBuilder()
                    .Call(1, "cudaLaunchKernel", 0, 1000, 10)
                    .Call(1, "cudaMalloc", 1000 + 50 * kUnseenCallNs, 1000, static_cast<int>(correlation)));
  };
  EXPECT_EQ(Between(calls(61)), 1) << "50 calls of which nothing is seen, one in 0.1 ms";
  EXPECT_EQ(calls(60).Edge("cudaLaunchKernel", "cudaMalloc"), "thread+5000000");
  EXPECT_EQ(calls(7).Edge("cudaLaunchKernel", "cudaMalloc"), "thread+5000000") << "no counter";
  const Linked other = Link(KinetoBuilder()
                                .Call(1, "cudaLaunchKernel", 0, 1000, 10)
                                .Call(2, "cudaMalloc", 3000000, 1000, 80)
                                .Call(1, "cudaMemset", 5000000, 1000, 81));
  EXPECT_EQ(other.Edge("cudaLaunchKernel", "cudaMemset"), "thread+4999000")
      << "another thread may have called";
}

TEST(OwnWork, WorkAfterAWaitIsOwnWork) {
  const Linked l = Link(KinetoBuilder().Op(1, "long", 0, 90000).Op(2, "a", 0, 1000).Op(2, "b", 95000, 1000));
  EXPECT_EQ(l.Edge("long", "between"), "wake_up+0");
  EXPECT_EQ(l.Edge("between", "b"), "thread+0");
  EXPECT_EQ(l.t.nodes[l.Find("between")].start, 90000);
}

TEST(OwnWork, WatchdogsHaveNoOwnWork) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "work", 0, 1000)
                            .Call(2, "cudaEventQuery", 2000, 1000, 1)
                            .Call(2, "cudaEventQuery", 9000, 1000, 2));
  EXPECT_EQ(Between(l), 0);
}

// A watchdog's rounds do not add up to a time that faster devices do not shorten.
TEST(TimerWaits, RoundFollowsTheLastDeviceOperation) {
  KinetoBuilder k;
  k.Op(1, "work", 0, 1000).Call(1, "cudaLaunchKernel", 1000, 1000, 1);
  k.Kernel(7, "first", 5000, 400000, 1).Kernel(7, "second", 406000, 4000000, 2);
  k.Call(2, "cudaEventQuery", 3000, 1000, 10).Call(2, "cudaEventQuery", 1000000, 1000, 11);
  k.Call(2, "cudaEventQuery", 5000000, 1000, 12);
  k.Kernel(7, "third", 5002000, 1000, 3);  // rounds after all else would be left out
  const Linked l = Link(k);
  const Played p = Play(l.t);
  EXPECT_EQ(p.last, 5003000);
  // With a device that takes no time, the last round comes 0.6 ms after the last operation, not 5 ms after
  // the first round.
  Timeline faster = l.t;
  for (TimelineNode& n : faster.nodes) n.dur = n.host ? n.dur : 0;
  EXPECT_LT(Play(faster).last, 1000000);
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
