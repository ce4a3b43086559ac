#include "trace/import/timeline/build_timeline.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/machine.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

TEST(Timeline, CalleesCutACallIntoParts) {
  const Linked l = Link(
      KinetoBuilder().Op(1, "a", 0, 1000).Op(1, "b", 200, 300).Op(1, "c", 600, 400).Op(1, "d", 1500, 100));
  EXPECT_EQ(l.Show(), R"(
a 0+200: start window+0
b 200+300: call a+0
a.1 500+100: call b+0
c 600+400: call a.1+0
between 1000+500: thread c+0
d 1500+100: thread between+0
)") << "the thread works by itself after c, which ended a; exclusive times add up to the whole";
  ExpectReplaysItself(l);
}

TEST(Timeline, KernelsCutTheirLaunchAtTheirBegin) {
  const Linked l = Link(
      KinetoBuilder().Op(1, "a", 0, 20000).Call(1, "launch", 1000, 10000, 7).Kernel(7, "k", 4000, 3000, 7));
  EXPECT_EQ(l.Show(), R"(
a 0+1000: start window+0
launch 1000+3000: call a+0
launch.1 4000+7000: call launch+0
k 4000+3000: launch launch+0
a.1 11000+9000: call launch.1+0
)");
  ExpectReplaysItself(l);
}

TEST(Timeline, LaunchLatencyCountsFromTheCallsEnd) {
  const Linked l = Link(
      KinetoBuilder().Op(1, "a", 0, 20000).Call(1, "launch", 1000, 2000, 7).Kernel(7, "k", 7000, 3000, 7));
  EXPECT_EQ(l.Edge("launch", "k"), "launch+4000");
  EXPECT_EQ(l.Edge("launch", "a.1"), "call+0") << "the host goes on at once";
  ExpectReplaysItself(l);
}

TEST(Timeline, SimultaneousEventsKeepTheirOrder) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 10000)
                            .Op(1, "b", 0, 10000)
                            .Call(1, "c", 0, 0, 3)
                            .Op(1, "d", 10000, 0)
                            .Op(1, "e", 10000, 5000)
                            .Kernel(7, "k", 10000, 0, 3)
                            .Kernel(7, "k2", 10000, 0, 3));
  EXPECT_EQ(l.Show(), R"(
a 0+0: start window+0
b 0+0: call a+0
c 0+0: call b+0
b.1 0+10000: call c+0
e 10000+0: thread b.1+0
d 10000+0: call e+0
e.1 10000+5000: call d+0
k 10000+0: launch c+10000
k2 10000+0: launch c+6000, stream k+0
)");
  EXPECT_EQ(l.Repairs("contradictory_edges"), 0u);
  ExpectReplaysItself(l);
}

TEST(Timeline, ForwardAndBackwardThreadsHandOver) {
  const KinetoBuilder k = KinetoBuilder()
                              .Op(1, "fwd", 0, 40000)
                              .Annotation(1, "## backward ##", 41000, 80000)
                              .Op(2, "autograd::engine::evaluate_function: Mul", 45000, 30000)
                              .Op(2, "autograd::engine::evaluate_function: Add", 76000, 34000)
                              .Op(1, "optimizer", 125000, 5000);
  const Linked l = Link(k);
  EXPECT_EQ(l.Show(), R"(
fwd 0+40000: start window+0
between 40000+1000: thread fwd+0
between 41000+4000: hand_off between+0
autograd::engine::evaluate_function: Mul 45000+30000: thread between+0
between 75000+1000: thread autograd::engine::evaluate_function: Mul+0
autograd::engine::evaluate_function: Add 76000+34000: thread between+0
## backward ## 110000+11000: thread between+0, wake_up autograd::engine::evaluate_function: Add+0
between 121000+4000: thread ## backward ##+0
optimizer 125000+5000: thread between+0
)") << "the annotation's time is that of the other thread, not work of this one";
  ExpectReplaysItself(l);
  // Without either of these edges the two threads run at once, and the step seems shorter.
  EXPECT_EQ(
      Play(Dropped(l.t, {EdgeKind::kHandOff})).begin[l.Find("autograd::engine::evaluate_function: Mul")],
      4000);
  EXPECT_EQ(Play(Dropped(l.t, {EdgeKind::kWakeUp})).begin[l.Find("optimizer")], 40000 + 1000 + 11000 + 4000);
  // A longer backward operator moves the optimizer; a longer forward moves everything.
  EXPECT_EQ(Play(l.t, l.Find("autograd::engine::evaluate_function: Mul"), 7000).begin[l.Find("optimizer")],
            132000);
  EXPECT_EQ(Play(l.t, l.Find("fwd"), 9000).begin[l.Find("autograd::engine::evaluate_function: Mul")], 54000);
}

// One step: the host launches ahead, and waits at its end.
KinetoBuilder Step() {
  return KinetoBuilder()
      .Annotation(1, "ProfilerStep#3", 0, 80000)
      .Op(1, "a", 1000, 20000)
      .Launch(1, 2000, 2000, 7, "k1", 7000, 30000)
      .Launch(1, 5000, 2000, 7, "k2", 38000, 20000)
      .Launch(1, 8000, 2000, 9, "other", 13000, 4000)
      .Call(1, "cudaStreamSynchronize", 25000, 34000, 90)
      .Op(1, "b", 60000, 15000);
}

TEST(Timeline, StepRunsFromMarkToLastPart) {
  const Linked l = Link(Step());
  ASSERT_EQ(l.t.steps.size(), 1u);
  EXPECT_EQ(l.t.steps[0].name, "ProfilerStep#3");
  EXPECT_EQ(l.NameOf(l.t.steps[0].first), "ProfilerStep#3");
  const TimelineNode& last = l.t.nodes[l.t.steps[0].last];
  EXPECT_EQ(last.start + last.dur, 80000);
  ExpectReplaysItself(l);
}

TEST(Timeline, EachKindOfEdgeIsNeeded) {
  const Linked l = Link(Step());
  EXPECT_EQ(Play(l.t).last, 80000);
  // k2 no longer waits for k1: it runs as soon as it was launched, and is done at
  // 30,000 while the host still waits for it alone.
  const Played no_stream = Play(Dropped(l.t, {EdgeKind::kStream}));
  EXPECT_EQ(no_stream.begin[l.Find("k2")], 7000 + 3000);
  EXPECT_EQ(no_stream.last, 80000 - 28000);
  // The host does not wait for k2, which ended at 58,000: it goes on at 25,000.
  EXPECT_EQ(Play(Dropped(l.t, {EdgeKind::kSync})).begin[l.Find("b")], 60000 - 33000);
  // The device is not fed: k1 and all after it begin at once.
  EXPECT_EQ(Play(Dropped(l.t, {EdgeKind::kLaunch})).begin[l.Find("k1")], 0);
  // Host work left out: launch latencies and kernels are left.
  EXPECT_EQ(Play(WithoutHostTime(l.t)).last, 3000 + 30000 + 1000 + 20000);
}

TEST(Timeline, LongerKernelMovesOnlyDependentNodes) {
  const Linked l = Link(Step());
  for (const char* name : {"k1", "k2", "other"}) {
    const uint32_t node = l.Find(name);
    const int64_t more = l.t.nodes[node].dur;
    const std::set<uint32_t> reach = Descendants(l.t, node);
    const Played before = Play(l.t), after = Play(l.t, node, more);
    for (uint32_t i = 0; i < l.t.nodes.size(); ++i) {
      if (!reach.contains(i)) {
        EXPECT_EQ(after.begin[i], before.begin[i]) << name << " moved " << l.NameOf(i);
      } else if (i != node) {
        EXPECT_EQ(after.begin[i] - before.begin[i], more) << name << " did not move " << l.NameOf(i);
      }
    }
    EXPECT_EQ(reach.size() > 1, std::string(name) != "other") << name;
  }
}

TEST(Timeline, WindowHoldsOnlyItsLaunches) {
  TimelineOptions window;
  window.begin = 10000;
  window.end = 30000;
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "before", 0, 8000)
                            .Launch(1, 1000, 1000, 7, "early", 12000, 3000)
                            .Op(1, "inside", 10000, 9000)
                            .Launch(1, 12000, 1000, 7, "late", 40000, 3000)
                            .Op(1, "after", 30000, 5000),
                        window);
  EXPECT_EQ(l.Show(), R"(
inside 10000+2000: start window+0
cudaLaunchKernel 12000+1000: call inside+0
inside.1 13000+6000: call cudaLaunchKernel+0
late 40000+3000: start window+30000, launch cudaLaunchKernel+5000
)");
}

TEST(Timeline, BreaksAndCountsContradictions) {
  // "inner" runs before "queued" on their stream, although the call that waits
  // for "queued" launches it: all at one instant.
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 10000)
                            .Call(1, "first", 1000, 500, 5)
                            .Call(1, "cudaDeviceSynchronize", 3000, 4000, 6)
                            .Call(1, "second", 6000, 500, 7)
                            .Kernel(7, "inner", 6000, 0, 7)
                            .Kernel(7, "queued", 6000, 0, 5));
  EXPECT_EQ(l.Repairs("contradictory_edges"), 1u) << l.Show();
  ExpectReplaysItself(l);
}

TEST(Timeline, CutCallDropsItsEarlierLaunches) {
  TimelineOptions window;
  window.begin = 10000;
  const Linked l = Link(KinetoBuilder()
                            .Call(1, "cudaMemcpyAsync", 2000, 12000, 5)
                            .OnDevice("gpu_memcpy", 7, "Memcpy DtoH (Device -> Pageable)", 4000, 2000, 5)
                            .Op(1, "inside", 20000, 1000),
                        window);
  EXPECT_EQ(l.Show(), R"(
cudaMemcpyAsync 10000+4000: start window+0
between 14000+6000: thread cudaMemcpyAsync+0
inside 20000+1000: thread between+0
)");
}

TEST(Timeline, EdgesAreUniqueAndPointForward) {
  const Linked l = Link(Step());
  for (uint32_t i = 0; i < l.t.nodes.size(); ++i) {
    for (uint64_t e = l.t.edge_begin[i]; e < l.t.edge_begin[i + 1]; ++e) {
      EXPECT_LT(l.t.edges[e].from, i);
      EXPECT_GE(l.t.DelayOf(l.t.edges[e]), 0);
      if (e > l.t.edge_begin[i]) {
        EXPECT_LT(l.t.edges[e - 1].from, l.t.edges[e].from);
      }
      const TimelineNode& from = l.t.nodes[l.t.edges[e].from];
      EXPECT_LE(from.start + from.dur + l.t.DelayOf(l.t.edges[e]), l.t.nodes[i].start);
    }
  }
}

TEST(Timeline, RandomRecordingsReplayThemselves) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    TimelineOptions window;
    const int64_t span = seed % 2 == 0 ? 100000 : 3000000;
    if (seed % 5 == 0) window.begin = span / 5;
    if (seed % 7 == 0) window.end = span * 4 / 5;
    const Linked l = Link(machine::Chaos(seed), window);
    const Played p = Play(l.t);
    for (uint32_t i = 0; i < l.t.nodes.size(); ++i) {
      ASSERT_EQ(p.begin[i], l.t.nodes[i].start) << "seed " << seed << " " << l.NameOf(i) << l.Show();
      ASSERT_GE(l.t.nodes[i].dur, 0);
    }
  }
}

TEST(Timeline, RefusesEmptyTimelines) {
  const DeviceTrace empty = KinetoBuilder().Trace();
  EXPECT_THAT(std::string(BuildTimeline(empty, nullptr, nullptr, {}).status().message()),
              HasSubstr("k.json"));
  TimelineOptions window;
  window.begin = 50000;
  window.end = 60000;
  const DeviceTrace some = KinetoBuilder().Op(1, "a", 0, 1000).Op(1, "b", 100000, 1000).Trace();
  EXPECT_THAT(std::string(BuildTimeline(some, nullptr, nullptr, window).status().message()),
              HasSubstr("window"));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
