#include "trace/import/timeline/threads.h"

#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

struct Nested {
  explicit Nested(const KinetoBuilder& k, const TimelineOptions& options = {})
      : device(k.Trace()), host(NestHostEvents(device, options)) {}
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
  DeviceTrace device;
  HostThreads host;
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

// A watchdog on thread 2 asks while the device works, and once more `late` ns after the last kernel has
// ended.
KinetoBuilder WithWatchdog(int64_t late) {
  return KinetoBuilder()
      .Op(1, "a", 0, 10000)
      .Launch(1, 2000, 1000, 7, "k", 5000, 20000)
      .Call(2, "cudaEventQuery", 8000, 500, 90)
      .Call(2, "cudaEventQuery", 25000 + late, 500, 91);
}

TEST(NestHostEvents, LeavesOutRoundsAfterAllOtherEvents) {
  const Nested late(WithWatchdog(17000000));
  EXPECT_EQ(late.host.window_end, 25000) << "the kernel's end";
  EXPECT_EQ(late.host.late_rounds, 1u);
  EXPECT_EQ(late.host.threads[1].events.size(), 1u) << "the round while the kernel ran stays";
  const Nested early(WithWatchdog(-1000));
  EXPECT_EQ(early.host.late_rounds, 0u);
  EXPECT_EQ(early.host.threads[1].events.size(), 2u);
  EXPECT_EQ(early.host.window_end, 25000);
}

TEST(NestHostEvents, WorkingThreadKeepsItsLateCalls) {
  const Nested n(WithWatchdog(17000000).Op(2, "work", 100, 50));
  EXPECT_EQ(n.host.late_rounds, 0u);
  EXPECT_EQ(n.host.window_end, 17025500);
  const Nested alone(
      KinetoBuilder().Call(1, "cudaEventQuery", 0, 500, 1).Call(1, "cudaEventQuery", 9000, 500, 2));
  EXPECT_EQ(alone.host.late_rounds, 0u) << "nothing else is there";
}

TEST(NestHostEvents, CutsAndCountsRounding) {
  const Nested n(KinetoBuilder().Op(1, "a", 0, 10000).Op(1, "b", 5000, 6000).Op(1, "c", 13000, 1000));
  EXPECT_EQ(n.ParentOf("b"), "a");
  EXPECT_EQ(n.host.End(n.Row("b")), 10000);
  EXPECT_EQ(n.host.clipped, 1u);
  EXPECT_TRUE(n.host.threads[0].async.empty());
}

TEST(NestHostEvents, OverlappingEventsAreAsynchronous) {
  const Nested n(KinetoBuilder().Op(1, "a", 0, 10000).Op(1, "b", 5000, 60000).Op(1, "c", 13000, 1000));
  ASSERT_EQ(n.host.threads[0].async.size(), 1u);
  EXPECT_EQ(n.host.threads[0].async[0], n.Row("b"));
  EXPECT_EQ(n.host.End(n.Row("b")), 65000) << "its time is kept";
  EXPECT_EQ(n.ParentOf("c"), "none");
}

TEST(NestHostEvents, HostCollectiveIsAsynchronousAmongOtherWork) {
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

TEST(NestHostEvents, WindowClipsCrossingEvents) {
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
  EXPECT_EQ(n.host.Begin(n.Row("a")), 1000);
  EXPECT_EQ(n.host.End(n.Row("a")), 6000);
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
