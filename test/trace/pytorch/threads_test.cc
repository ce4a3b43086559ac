#include "trace/import/pytorch/threads.h"

#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch {
namespace {

struct Nested {
  explicit Nested(const KinetoBuilder& k, const TimelineOptions& options = {})
      : device(k.Trace()), host(NestHostEvents(device, options)), waits(FindThreadWaits(device, host)) {}
  uint32_t Row(const std::string& name) const {
    for (uint32_t i = 0; i < device.events.size(); ++i) {
      if (device.name_of(device.events[i]) == name) return i;
    }
    ADD_FAILURE() << "no event " << name;
    return 0;
  }
  std::string ParentOf(const std::string& name) const {
    const uint32_t parent = host.parent[Row(name)];
    return parent == kNoRow ? "none" : std::string(device.name_of(device.events[parent]));
  }
  // "thread 2 from 1000 until 5000 because of thread 1 at 5000: wake_up", one line for each.
  std::string Waits() const {
    std::string out;
    for (const ThreadWait& w : waits) {
      absl::StrAppend(&out, "thread ", device.threads[w.thread].tid, " from ", w.from, " until ", w.until,
                      " because of thread ", device.threads[w.source].tid, " at ", w.source_time, ": ",
                      std::string(Name(w.kind)), "\n");
    }
    return out;
  }
  DeviceTrace device;
  HostThreads host;
  std::vector<ThreadWait> waits;
};

TEST(NestHostEvents, CallersEncloseCallees) {
  const Nested n(KinetoBuilder()
                     .Op(1, "a", 0, 10000)
                     .Op(1, "b", 1000, 8000)
                     .Call(1, "c", 2000, 1000, 1)
                     .Op(1, "d", 9500, 500)
                     .Op(1, "e", 10000, 100)
                     .Op(2, "other", 500, 100));
  EXPECT_EQ(n.ParentOf("a"), "none");
  EXPECT_EQ(n.ParentOf("b"), "a");
  EXPECT_EQ(n.ParentOf("c"), "b");
  EXPECT_EQ(n.ParentOf("d"), "a");
  EXPECT_EQ(n.ParentOf("e"), "none") << "it begins when a has ended";
  EXPECT_EQ(n.ParentOf("other"), "none") << "another thread";
}

TEST(NestHostEvents, RoundingIsCutAndCounted) {
  const Nested n(KinetoBuilder().Op(1, "a", 0, 10000).Op(1, "b", 5000, 6000).Op(1, "c", 13000, 1000));
  EXPECT_EQ(n.ParentOf("b"), "a");
  EXPECT_EQ(n.host.end[n.Row("b")], 10000);
  EXPECT_EQ(n.host.clipped, 1u);
  EXPECT_TRUE(n.host.threads[0].async.empty());
}

TEST(NestHostEvents, WhatOverlapsWithoutNestingIsBesideTheThreadsOrder) {
  const Nested n(KinetoBuilder().Op(1, "a", 0, 10000).Op(1, "b", 5000, 60000).Op(1, "c", 13000, 1000));
  ASSERT_EQ(n.host.threads[0].async.size(), 1u);
  EXPECT_EQ(n.host.threads[0].async[0], n.Row("b"));
  EXPECT_EQ(n.host.end[n.Row("b")], 65000) << "its time is kept";
  EXPECT_EQ(n.ParentOf("c"), "none");
}

TEST(NestHostEvents, ACollectiveOfTheHostIsAsynchronousAmongOtherWork) {
  const Nested n(KinetoBuilder()
                     .Op(1, "a", 0, 10000)
                     .Annotation(1, "gloo:all_reduce", 5000, 3000)
                     .Op(1, "b", 6000, 1000));
  ASSERT_EQ(n.host.threads[0].async.size(), 1u);
  EXPECT_EQ(n.ParentOf("gloo:all_reduce"), "a");
  EXPECT_EQ(n.ParentOf("b"), "a");
  const Nested own(KinetoBuilder()
                       .Annotation(5, "gloo:all_reduce", 5000, 3000)
                       .Annotation(5, "gloo:broadcast", 9000, 3000));
  EXPECT_TRUE(own.host.threads[0].async.empty()) << "a worker that does nothing else has an order";
}

TEST(NestHostEvents, AWindowClipsWhatCrossesIt) {
  TimelineOptions window;
  window.begin = 1000;
  window.end = 6000;
  const Nested n(KinetoBuilder()
                     .Op(1, "out", 0, 900)
                     .Op(1, "a", 950, 9000)
                     .Op(1, "b", 3000, 1000)
                     .Op(1, "late", 6000, 500),
                 window);
  EXPECT_EQ(n.host.threads[0].events.size(), 2u);
  EXPECT_EQ(n.host.begin[n.Row("a")], 1000);
  EXPECT_EQ(n.host.end[n.Row("a")], 6000);
}

TEST(FindThreadWaits, AnIdleThreadGoesOnWhenAnotherHasDoneItsWork) {
  const Nested n(KinetoBuilder().Op(1, "a", 0, 10000).Op(2, "work", 9000, 50000).Op(1, "b", 62000, 1000));
  EXPECT_EQ(n.Waits(), "thread 1 from 10000 until 59000 because of thread 2 at 59000: wake_up\n");
}

TEST(FindThreadWaits, AThreadThatGoesOnWorkingHandsOver) {
  const Nested n(
      KinetoBuilder().Op(1, "a", 0, 100000).Op(1, "call", 30000, 10000).Op(2, "worker", 42000, 20000));
  EXPECT_EQ(n.Waits(), "thread 2 from 0 until 40000 because of thread 1 at 40000: hand_off\n");
}

TEST(FindThreadWaits, ABackwardThreadIsHandedItsWorkInsideAnAnnotation) {
  const Nested n(KinetoBuilder()
                     .Op(1, "fwd", 0, 40000)
                     .Annotation(1, "## backward ##", 41000, 80000)
                     .Op(2, "autograd::engine::evaluate_function: Mul", 45000, 65000)
                     .Op(1, "optimizer", 125000, 5000));
  EXPECT_EQ(n.Waits(),
            "thread 1 from 41000 until 110000 because of thread 2 at 110000: wake_up\n"
            "thread 2 from 0 until 41000 because of thread 1 at 41000: hand_off\n");
}

TEST(FindThreadWaits, ShortGapsAndOthersThatWereIdleTooExplainNothing) {
  EXPECT_EQ(
      Nested(KinetoBuilder().Op(1, "a", 0, 10000).Op(2, "work", 9000, 18000).Op(1, "b", 29999, 1000)).Waits(),
      "")
      << "19,999 ns and 9,000 ns are gaps of a thread's own";
  EXPECT_EQ(
      Nested(KinetoBuilder().Op(1, "a", 0, 10000).Op(2, "work", 9000, 20000).Op(1, "b", 60000, 1000)).Waits(),
      "")
      << "the other was busy for less than half of it: host work that no event covers";
}

}  // namespace
}  // namespace chakra::pytorch
