#include "replay/run/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/spans.h"
#include "test/replay/trace_builder.h"

namespace chakra::CHAKRA_FILE {
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

// Kernels start 1, 2 (early), 5 and 8 us off; the host operation starts 100 us off.
const NodeSpans kSpans = {{Span(100, 101), Span(11, 16), Span(18, 23), Span(35, 40), Span(48, 53)}};

TEST(Steps, WindowCoversTheWholeRank) {
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

TEST(Steps, StepHasKernelsRecordedToStartInIt) {
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

// Only the steps with the largest errors stay, in order of ranks, and all windows.
TEST(Steps, KeepsWorstOfManySteps) {
  TraceBuilder b(3);
  for (int r = 0; r < 3; ++r) {
    for (int i = 0; i < 6; ++i) b.Comp(r, 10).set_start_time_micros(static_cast<uint64_t>(10 * i));
  }
  const TraceSet traces = *b.Build();
  NodeSpans spans(3);
  std::vector<std::optional<CaptureInfo>> captures;
  for (int r = 0; r < 3; ++r) {
    std::vector<CaptureInfo::Step> steps;
    for (int i = 0; i < 6; ++i) {
      const int late = (7 * r + 3 * i) % 5;
      spans[static_cast<size_t>(r)].push_back(Span(10 * i, 10 * i + 10 + late));
      steps.push_back(
          {std::string(1, static_cast<char>('a' + i)), static_cast<uint32_t>(i), static_cast<uint32_t>(i)});
    }
    captures.push_back(Info(steps));
  }
  const auto all = MeasureSteps(traces, captures, spans);
  ASSERT_EQ(all.size(), 21u);
  std::vector<StepMetrics> expected;  // 4 us late, or 3 of the lowest ranks
  int left = 5 - static_cast<int>(std::count_if(all.begin(), all.end(), [](const StepMetrics& s) {
               return s.name != "window" && s.replayed == Time::Micros(14);
             }));
  ASSERT_GT(left, 0);
  for (const StepMetrics& s : all) {
    if (s.name == "window" || s.replayed == Time::Micros(14) ||
        (s.replayed == Time::Micros(13) && left-- > 0))
      expected.push_back(s);
  }
  for (const std::vector<uint32_t>& order :
       {std::vector<uint32_t>{0, 1, 2}, std::vector<uint32_t>{2, 0, 1}}) {
    StepMeter meter(traces, captures, nullptr, 5);
    for (const uint32_t r : order) meter.Measure(r, spans[r]);
    uint64_t left_out = 0;
    const auto steps = meter.Steps(&left_out);
    EXPECT_EQ(left_out, 13u);
    ASSERT_EQ(steps.size(), expected.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      EXPECT_EQ(steps[i].rank, expected[i].rank) << i;
      EXPECT_EQ(steps[i].name, expected[i].name) << i;
    }
  }
}

TEST(Steps, MetadataNodesAreNotKernels) {
  TraceBuilder b(1);
  b.Add(0, et::METADATA_NODE);
  b.Add(0, et::INVALID_NODE);
  b.Coll(0, CollectiveType::kBarrier, 0);
  const auto steps = MeasureSteps(*b.Build(), {Info()}, {{Span(9, 9), Span(9, 9), Span(7, 8)}});
  EXPECT_EQ(steps[0].kernels, 1u);
  EXPECT_EQ(steps[0].kernel_start_error, Time::Micros(7));
}

TEST(Steps, RanksWithoutCaptureHaveNoSteps) {
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
}  // namespace chakra::CHAKRA_FILE
