#include "trace/model/inspect.h"

#include <gtest/gtest.h>

#include "test/folders.h"
#include "test/trace/graph_of.h"
#include "trace/import/reader.h"

namespace chakra::CHAKRA_FILE {
namespace {

// 0 (5) -> 1 (1) -> 3 (2); 0 -> 2 (4) -> 3; 4 (7) alone.
std::shared_ptr<const Graph> Diamond() {
  GraphDraft g;
  g.id = {10, 11, 12, 13, 14};
  for (const char* n : {"a", "b", "c", "d", "e"}) g.name.push_back(g.strings.Intern(n));
  g.type.assign(5, NodeType::kComp);
  g.flags.assign(5, 0);
  g.payload.assign(5, kNoRow);
  for (int us : {5, 1, 4, 2, 7}) g.duration.push_back(Time::Micros(us));
  g.dep_begin = {0, 0, 1, 2, 4, 4};
  g.dep = {0, 0, 1, 2};
  g.order = {0, 1, 2, 3, 4};
  return GraphOf(std::move(g));
}

TEST(LongestChain, TakesTheLongerBranch) {
  const LongestChain chain = FindLongestChain(*Diamond());
  EXPECT_EQ(chain.duration, Time::Micros(11));
  EXPECT_EQ(chain.rows, (std::vector<uint32_t>{0, 2, 3}));
  EXPECT_TRUE(FindLongestChain(Graph()).rows.empty());
}

TEST(Inspect, SumsOverRanks) {
  TraceSet traces;
  const auto graph = Diamond();
  for (int r = 0; r < 2; ++r) {
    RankTrace rank;
    rank.rank = r;
    rank.graph = graph;
    traces.ranks.push_back(rank);
  }
  const proto::Inspection x = Inspect(traces);
  EXPECT_EQ(x.ranks(), 2);
  EXPECT_EQ(x.nodes(), 10u);
  EXPECT_EQ(x.dependencies(), 8u);
  EXPECT_EQ(x.distinct_graphs(), 1u);
  EXPECT_EQ(x.duration_ps(), Time::Micros(38).picos());
  EXPECT_EQ(x.span_ps(), Time::Micros(7).picos());
  EXPECT_EQ(x.critical_path().first_name(), "a");
  EXPECT_EQ(x.critical_path().last_node(), 13u);
  EXPECT_EQ(PrintInspectionText(x).find("Warnings"), std::string::npos);
  traces.warnings = {"calls have no sizes"};
  EXPECT_NE(PrintInspectionText(Inspect(traces)).find("\nWarnings\n  calls have no sizes\n"),
            std::string::npos);
}

TEST(Inspect, BundledStepHasItsGroupsAndBytes) {
  const auto traces = ReadTraceSet({std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step"}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  const proto::Inspection x = Inspect(*traces);
  EXPECT_EQ(x.ranks(), 8);
  EXPECT_EQ(x.distinct_graphs(), 2u);  // one for each pipeline stage
  EXPECT_EQ(x.group_size(), 8);
  EXPECT_EQ(x.problem_size(), 0);
  uint64_t sent = 0, received = 0;
  for (const auto& c : x.communication()) {
    if (c.kind() == "send") sent = c.bytes();
    if (c.kind() == "recv") received = c.bytes();
  }
  EXPECT_EQ(sent, 32u * 2048 * 4096 * 2);
  EXPECT_EQ(received, sent);
  EXPECT_NE(PrintInspectionText(x).find("Problems: none"), std::string::npos);
  EXPECT_EQ(PrintInspectionText(Inspect(*traces, 3)), PrintInspectionText(x)) << "for any number of threads";
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
