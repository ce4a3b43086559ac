// Times by name of operator and by lane, against the spans of the nodes.
#include "replay/engine/measure/name_times.h"

#include <gtest/gtest.h>

#include <map>

#include "replay/cluster/variation.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "test/replay/engine_testing.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

TraceBuilder Mixed() {
  TraceBuilder t(4);
  for (int r = 0; r < 4; ++r) {
    TraceBuilder::Int(&t.Comp(r, 10 + static_cast<uint64_t>(r)), "stream", 7);
    t.Coll(r, CollectiveType::kAllReduce, 100000, {0}).set_name("reduce");
    et::Node& host = t.Comp(r, 3);
    host.set_name("n0");
    TraceBuilder::Int(&host, "is_cpu_op", 1);
    if (r % 2 == 0) {
      t.Send(r, r + 1, 5000, 0, {1}).set_name("p2p");
    } else {
      t.Recv(r, r - 1, 5000, 0, {2}).set_name("p2p");
    }
    t.Add(r, et::METADATA_NODE).set_name("meta");
  }
  return t;
}

std::map<std::string, NameMetrics> ByName(const std::vector<NameMetrics>& rows) {
  std::map<std::string, NameMetrics> out;
  for (const NameMetrics& m : rows) EXPECT_TRUE(out.emplace(m.name, m).second) << m.name;
  return out;
}

TEST(NameTimes, SumTheSpansOfNodes) {
  for (const LanePolicy policy : {LanePolicy::kRecorded, LanePolicy::kSingle, LanePolicy::kUnlimited}) {
    NodeSpans spans;
    EngineOptions options = Lanes(policy);
    options.spans = &spans;
    const auto traces = Mixed().Build();
    const auto metrics = Replayed(Mixed(), options);
    ASSERT_TRUE(metrics.ok()) << metrics.status();
    std::map<std::string, NameMetrics> names, lanes;
    for (size_t r = 0; r < 4; ++r) {
      const Graph& graph = *traces->ranks[r].graph;
      for (uint32_t row = 0; row < graph.size(); ++row) {
        const Time span = spans[r][row].end - spans[r][row].begin;
        for (NameMetrics* m :
             {&names[std::string(graph.name_of(row))], &lanes[LaneName(graph, row, policy)]}) {
          m->time += span;
          ++m->count;
        }
      }
    }
    lanes.erase("");  // the metadata nodes
    const auto found = ByName(metrics->operators), found_lanes = ByName(metrics->lanes);
    ASSERT_EQ(found.size(), names.size());
    ASSERT_EQ(found_lanes.size(), lanes.size());
    for (const auto& [expected, all] : {std::pair(names, found), std::pair(lanes, found_lanes)}) {
      for (const auto& [name, m] : expected) {
        ASSERT_TRUE(all.count(name)) << name;
        EXPECT_EQ(all.at(name).time, m.time) << name;
        EXPECT_EQ(all.at(name).count, m.count) << name;
      }
    }
  }
}

// Ranks that differ in speed: computation counts with its actual time, not with its price.
TEST(NameTimes, VariedComputationCountsActualTime) {
  proto::Variation proto;
  ASSERT_TRUE(ParseTextMessage("speed { ranks: '1' factor: 0.5 }", "v", &proto).ok());
  const auto variation = Variation::Make(proto, 2);
  ASSERT_TRUE(variation.ok()) << variation.status();
  TraceBuilder t(2);
  for (int r = 0; r < 2; ++r) t.Comp(r, 10).set_name("mm");
  EngineOptions options;
  options.variation = &*variation;
  const auto metrics = Replayed(t, options);
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_EQ(metrics->operators.size(), 1u);
  EXPECT_EQ(metrics->operators[0].time, metrics->ranks[0].end + metrics->ranks[1].end);
  EXPECT_EQ(metrics->operators[0].time, Time::Micros(15));
  EXPECT_EQ(metrics->lanes[0].time, Time::Micros(15));
}

TEST(NameTimes, SortsByLongestTime) {
  const auto metrics = Replayed(Mixed(), {});
  ASSERT_TRUE(metrics.ok());
  for (size_t i = 1; i < metrics->operators.size(); ++i) {
    EXPECT_GE(metrics->operators[i - 1].time, metrics->operators[i].time);
  }
}

TEST(NameTimes, MergesOrCutsManyNames) {
  const int names = static_cast<int>(kLongestNames) + 10;
  for (const bool numbered : {true, false}) {
    TraceBuilder t(2);
    Time all;
    for (int i = 0; i < names; ++i) {
      std::string name = numbered ? absl::StrCat("layer", i, ".mm") : std::string();
      for (int n = i; !numbered && name.size() < 3; n /= 26) name.push_back(static_cast<char>('a' + n % 26));
      for (int r = 0; r < 2; ++r) t.Comp(r, static_cast<uint64_t>(i)).set_name(name);
      all += Time::Micros(2 * i);
    }
    const auto metrics = Replayed(t, Lanes(LanePolicy::kUnlimited));
    ASSERT_TRUE(metrics.ok()) << metrics.status();
    const std::vector<NameMetrics>& rows = metrics->operators;
    ASSERT_EQ(rows.size(), numbered ? 1u : kLongestNames + 1);
    EXPECT_EQ(rows.back().name, numbered ? "layer#.mm" : "(others)");
    EXPECT_TRUE(rows.back().merged);
    EXPECT_EQ(rows.front().merged, numbered);
    Time sum;
    uint64_t count = 0;
    for (const NameMetrics& m : rows) {
      sum += m.time;
      count += m.count;
    }
    EXPECT_EQ(sum, all);
    EXPECT_EQ(count, static_cast<uint64_t>(2 * names));
  }
}

TEST(NameTimes, MergeNumbersReplacesDigits) {
  EXPECT_EQ(MergeNumbers("mb12.l3.y@0"), "mb#.l#.y@#");
  EXPECT_EQ(MergeNumbers("plain"), "plain");
  EXPECT_EQ(MergeNumbers(""), "");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
