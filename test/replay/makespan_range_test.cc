#include "replay/run/makespan_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>

#include "test/trace/graph_of.h"

namespace chakra::CHAKRA_FILE {
namespace {

// One rank with a node of 100 ps for each of `spreads`. A node may be 10 ps longer and 5 ps shorter.
struct ModelledRun {
  explicit ModelledRun(const std::vector<TimeSpread>& spreads) {
    GraphDraft graph;
    ComputeTimes t;
    for (TimeSpread s : spreads) {
      graph.id.push_back(graph.id.size());
      graph.type.push_back(NodeType::kComp);
      graph.flags.push_back(0);
      s.low = Time::Picos(95);
      s.high = Time::Picos(110);
      t.spread.push_back(s);
      t.time.push_back(Time::Picos(100));
      t.time_source.push_back(TimeSource::kModel);
    }
    traces.ranks.resize(1);
    traces.ranks[0].graph = GraphOf(std::move(graph));
    metrics.ranks.resize(1);
    metrics.ranks[0].compute_busy = metrics.makespan =
        Time::Picos(100 * static_cast<int64_t>(spreads.size()));
    times = {t};
  }
  double Up(const CriticalPath* path = nullptr) const {
    const auto range = RangeOfMakespan(metrics, traces, times, path);
    EXPECT_TRUE(range.has_value());
    return range.has_value() ? static_cast<double>((range->high - metrics.makespan).picos()) : 0;
  }
  TraceSet traces;
  Metrics metrics;
  std::vector<ComputeTimes> times;
};

TimeSpread Of(uint32_t call, uint8_t family) {
  TimeSpread s;
  s.call = call;
  s.family = family;
  return s;
}

TEST(MakespanRange, RowsOfOneCallVaryTogether) {
  const ModelledRun run({Of(0, 1), Of(0, 1), Of(0, 1), Of(0, 1)});
  EXPECT_EQ(run.Up(), 40);
  EXPECT_EQ(RangeOfMakespan(run.metrics, run.traces, run.times, nullptr)->low, Time::Picos(380));
}

TEST(MakespanRange, CallsOfAFamilyShareHalfOfTheirVariance) {
  // Shared (10 + 10)^2 / 2 and independent (10^2 + 10^2) / 2.
  EXPECT_NEAR(ModelledRun({Of(0, 1), Of(1, 1)}).Up(), std::sqrt(200 + 100), 0.5);
  EXPECT_NEAR(ModelledRun({Of(0, 1), Of(1, 2)}).Up(), std::sqrt(100 + 100), 0.5);  // families are independent
}

TEST(MakespanRange, ConcurrentNodesCountOnce) {
  ModelledRun run({Of(0, 1), Of(0, 1)});
  run.metrics.makespan = run.metrics.ranks[0].compute_busy = Time::Picos(100);
  EXPECT_EQ(run.Up(), 10);
}

TEST(MakespanRange, OnlyThePartOnThePathCounts) {
  const ModelledRun run({Of(0, 1), Of(1, 2)});
  CriticalPath path;
  path.segments.resize(1);
  path.segments[0].row = 1;
  path.segments[0].end = Time::Picos(50);  // half of the node
  EXPECT_EQ(run.Up(&path), 5);
}

TEST(MakespanRange, NoRangeWithoutModelTimes) {
  ModelledRun run({Of(0, 1)});
  run.times[0].spread.clear();
  EXPECT_FALSE(RangeOfMakespan(run.metrics, run.traces, run.times, nullptr).has_value());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
