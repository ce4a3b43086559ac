#include "replay/run/steps.h"

#include <gtest/gtest.h>

#include "replay/engine/spans.h"
#include "test/replay/trace_builder.h"

namespace chakra {
namespace {

NodeSpan Span(int64_t begin, int64_t end) { return {Time::Micros(begin), Time::Micros(end)}; }

// A host operation and four kernels, recorded at 0, 10, 20, 30 and 40 us.
TraceSet Kernels() {
  TraceBuilder b(1);
  for (int i = 0; i < 5; ++i) b.Comp(0, 5).set_start_time_micros(static_cast<uint64_t>(10 * i));
  TraceBuilder::Int(&b.Nodes(0)[0], "is_cpu_op", 1);
  return *b.Build();
}

CaptureInfo Info(std::vector<CaptureInfo::Step> steps = {}) {
  CaptureInfo info;
  info.rank = 3;
  info.window_end = Time::Micros(50);
  info.steps = std::move(steps);
  return info;
}

// Kernels off by 1, 2 (early), 5 and 8 us; the host operation by 100.
const NodeSpans kSpans = {{Span(100, 101), Span(11, 16), Span(18, 23), Span(35, 40), Span(48, 53)}};

TEST(Steps, TheWindowIsTheWholeRank) {
  const auto steps = MeasureSteps(Kernels(), {Info()}, kSpans);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].name, "window");
  EXPECT_EQ(steps[0].rank, 0);
  EXPECT_EQ(steps[0].recorded_rank, 3);
  EXPECT_EQ(steps[0].measured, Time::Micros(50));
  EXPECT_EQ(steps[0].replayed, Time::Micros(101));
  EXPECT_EQ(steps[0].kernels, 4u);
  EXPECT_EQ(steps[0].kernel_start_error, Time::Nanos(3500));  // of 1, 2, 5, 8
}

TEST(Steps, AStepTakesTheKernelsRecordedToStartInIt) {
  const auto steps = MeasureSteps(Kernels(), {Info({{"a", 1, 3}, {"b", 4, 4}, {"c", 0, 0}})}, kSpans);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[1].name, "a");
  EXPECT_EQ(steps[1].measured, Time::Micros(25));  // 10 to 35
  EXPECT_EQ(steps[1].replayed, Time::Micros(29));  // 11 to 40
  EXPECT_EQ(steps[1].kernels, 3u);
  EXPECT_EQ(steps[1].kernel_start_error, Time::Micros(2));  // of 1, 2, 5
  EXPECT_EQ(steps[2].kernels, 1u);
  EXPECT_EQ(steps[2].kernel_start_error, Time::Micros(8));
  EXPECT_EQ(steps[3].kernels, 0u);  // 0 to 5: the host alone
  EXPECT_EQ(steps[3].kernel_start_error, Time::Zero());
}

TEST(Steps, MetadataNodesAreNoKernels) {
  TraceBuilder b(1);
  b.Add(0, et::METADATA_NODE);
  b.Add(0, et::INVALID_NODE);
  b.Coll(0, CollectiveType::kBarrier, 0);
  const auto steps = MeasureSteps(*b.Build(), {Info()}, {{Span(9, 9), Span(9, 9), Span(7, 8)}});
  EXPECT_EQ(steps[0].kernels, 1u);
  EXPECT_EQ(steps[0].kernel_start_error, Time::Micros(7));
}

TEST(Steps, RanksWithoutACaptureHaveNone) {
  TraceSet traces = Kernels();
  traces.ranks.push_back(traces.ranks[0]);
  const auto steps = MeasureSteps(traces, {std::nullopt, Info()}, {kSpans[0], kSpans[0]});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].rank, 1);
  EXPECT_TRUE(MeasureSteps(traces, {}, {}).empty());
  CaptureInfo timeless = Info();
  timeless.window_end = Time::Zero();
  EXPECT_TRUE(MeasureSteps(traces, {timeless, timeless}, {kSpans[0], kSpans[0]}).empty());
}

}  // namespace
}  // namespace chakra
