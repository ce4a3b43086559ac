// Delays of dependencies (dep_delay_ns).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "test/replay/engine_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

NodeSpans SpansOf(const TraceBuilder& b, LanePolicy policy = LanePolicy::kRecorded) {
  NodeSpans spans;
  EngineOptions options = Lanes(policy);
  options.spans = &spans;
  const absl::StatusOr<Metrics> m = Replayed(b, options);
  EXPECT_TRUE(m.ok()) << m.status();
  return spans;
}

TEST(EngineDelay, DelayBeginsWhenItsDependencyEnds) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  b.Comp(0, 1);
  TraceBuilder::Delays(&b.Comp(0, 5, {0, 1}), {500, 4750});
  TraceBuilder::Delays(&b.Comp(0, 1, {2}), {0});
  const NodeSpans spans = SpansOf(b, LanePolicy::kUnlimited);
  EXPECT_EQ(spans[0][2].begin.picos(), 5750000);  // 1 us + 4.75 us, later than 3 us + 0.5 us
  EXPECT_EQ(spans[0][3].begin.picos(), 10750000);
}

TEST(EngineDelay, BusyLanesHideDelays) {
  TraceBuilder b(1);
  TraceBuilder::Int(&b.Comp(0, 1), "stream", 8);
  TraceBuilder::Int(&b.Comp(0, 10), "stream", 7);
  et::Node& late = b.Comp(0, 1, {0});  // may begin at 3 us; its stream is free at 10 us
  TraceBuilder::Int(&late, "stream", 7);
  TraceBuilder::Delays(&late, {2000});
  EXPECT_EQ(SpansOf(b)[0][2].begin.picos(), 10 * kUs);
  EXPECT_EQ(SpansOf(b, LanePolicy::kUnlimited)[0][2].begin.picos(), 3 * kUs);
}

TEST(EngineDelay, DelayedHeadBlocksStreamsButNotQueues) {
  TraceBuilder b(1);
  TraceBuilder::Int(&b.Comp(0, 1), "is_cpu_op", 1);
  TraceBuilder::Delays(&b.Comp(0, 1, {0}), {4000});
  b.Comp(0, 1);
  EXPECT_EQ(SpansOf(b)[0][2].begin.picos(), 0);  // queued: the node that is ready runs
  EXPECT_EQ(SpansOf(b)[0][1].begin.picos(), 5 * kUs);
  for (int i : {1, 2}) {
    TraceBuilder::Int(&b.Nodes(0)[i], "stream", 7);
    b.Nodes(0)[i].set_start_time_micros(7 + i);
  }
  EXPECT_EQ(SpansOf(b)[0][1].begin.picos(), 5 * kUs);
  EXPECT_EQ(SpansOf(b)[0][2].begin.picos(), 6 * kUs);
}

TEST(EngineDelay, DependencyReleasesWithinItsDuration) {
  TraceBuilder b(1);
  b.Comp(0, 8);
  TraceBuilder::Delays(&b.Comp(0, 5, {0}), {kReleaseAtEnd / 4}, "dep_release");
  et::Node& delayed = b.Comp(0, 1, {0, 1});
  TraceBuilder::Delays(&delayed, {0, kReleaseAtEnd / 2}, "dep_release");
  TraceBuilder::Delays(&delayed, {3000, 1000});
  b.Comp(0, 1, {1});
  const NodeSpans spans = SpansOf(b, LanePolicy::kUnlimited);
  EXPECT_EQ(spans[0][1].begin.picos(), 2 * kUs) << "a quarter of 8 us";
  EXPECT_EQ(spans[0][2].begin.picos(), 5500000) << "2 us + half of 5 us + 1 us, later than 0 + 3 us";
  EXPECT_EQ(spans[0][3].begin.picos(), 7 * kUs) << "at the end of its dependency";
  EXPECT_EQ(spans[0][0].end.picos(), 8 * kUs);
}

TEST(EngineDelay, CommunicationReleasesAtItsEnd) {
  TraceBuilder b(1);
  b.Coll(0, CollectiveType::kBarrier, 0);
  const NodeSpans without = SpansOf(b);
  TraceBuilder::Delays(&b.Comp(0, 1, {0}), {0}, "dep_release");
  EXPECT_EQ(SpansOf(b)[0][1].begin, without[0][0].end);
}

TEST(EngineDelay, RefusesDelaysThatOverflow) {
  TraceBuilder b(1);
  b.Comp(0, 9000000000000);
  TraceBuilder::Delays(&b.Comp(0, 1, {0}), {9000000000000000});
  EXPECT_THAT(ErrorOf(b), HasSubstr("106 days"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
