// Checks of edits: inputs that are refused, limited, or counted as faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/trace/edit_testing.h"
#include "trace/et/read_options.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Groups kGroups = {{"dp", {0, 1}}};

std::string Message(const std::string& script, const std::vector<std::string>& ranks) {
  const auto out = EditTexts(ranks, script, kGroups);
  return out.ok() ? "done" : std::string(out.status().message());
}

TEST(EditChecks, RefusesUnknownRanksAndGroups) {
  const std::vector<std::string> two = {"1 comp a", "1 comp a"};
  const std::string send = "edit {\n insert { node { name: 's' type: 'COMM_SEND_NODE' peer: 7 } }\n}";
  EXPECT_THAT(Message(send, two),
              HasSubstr("script:2: edit 1 (insert), node.peer: 7, expected a rank of the set, 0 to 1"));
  EXPECT_EQ(Message(send, {two[0]}), "done");  // a single trace may be part of a larger set
  EXPECT_THAT(Message("edit { replace { node { name: 's' type: 'COMM_COLL_NODE' collective: 'all_reduce' "
                      "group: 'pd' } } }",
                      two),
              AllOf(HasSubstr("edit 1 (replace), node.group: \"pd\""), HasSubstr("did you mean 'dp'?")));
  EXPECT_THAT(Message("edit {\n attribute {\n name: 'root' int_value: 2 } }", two),
              HasSubstr("script:3: edit 1 (attribute), int_value: 2, expected a rank"));
  EXPECT_EQ(Message("edit { attribute { name: 'root' int_value: 1 } }", two), "done");
}

TEST(EditChecks, LimitsDependenciesOfAllOnAll) {
  std::string nodes;
  for (int id = 1; id <= 2200; ++id) absl::StrAppend(&nodes, id, id <= 1100 ? " comp a\n" : " comp b\n");
  EXPECT_THAT(EditText(nodes, "edit { select { name: 'b' } add_dependency { on { name: 'a' } which: ALL } }"),
              AllOf(HasSubstr("1100 nodes for 1100 matches are 1210000 dependencies"),
                    HasSubstr("expected at most 1048576: use a narrower select or on")));
  EXPECT_THAT(EditText("1 comp a\n2 comp a\n3 comp b\n",
                       "edit { select { name: 'b' } add_dependency { on { name: 'a' } which: ALL } }"),
              HasSubstr("3 comp b <- 1 2\n"));
}

TEST(EditChecks, CountsFaultsOfTheInput) {
  const TraceSet set = MakeSet({"1 comp a\n2 comp b <- c9 c8\n3 comp c <- c7", "1 comp a <- c5"});
  const auto plan = PlanOf("edit { rename { to: 'x' } }");
  ASSERT_TRUE(plan.ok());
  EditRun run(&*plan);
  for (size_t r : {1, 0}) {
    std::vector<Rewritten> made;
    ASSERT_TRUE(run.Rewrite(set.ranks[r], &made).ok());
  }
  const auto report = run.Finish();
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->fault_size(), 1);
  EXPECT_EQ(report->fault(0).kind(), "dangling_ctrl_dep");
  EXPECT_EQ(report->fault(0).count(), 4u);
  EXPECT_EQ(report->fault(0).first_rank(), 0);
  EXPECT_EQ(report->fault(0).first_node(), 2u);
}

TEST(EditChecks, ClosesRunsBeforeACycle) {
  const auto out = EditTexts({"1 comp a us=1 stream=7\n2 comp x stream=8 <- 1\n3 comp b stream=7 <- 1 2\n"},
                             "edit { select { name: '^[ab]$' } replace { runs: true node { name: 'n' } } }");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), "2 comp x stream=8 <- 4\n4 comp n stream=7\n5 comp n stream=7 <- 4 2\n");
  EXPECT_THAT(out->notes(), HasSubstr("runs were closed"));
  // Neither run is a cycle by itself; together, one waits for a part of the other.
  const auto crossed = EditTexts(
      {"1 comp a stream=7\n2 comp b stream=8\n3 comp a stream=7 <- 2\n4 comp b stream=8 <- 1\n5 comp c <- 3 "
       "4\n"},
      "edit { select { name: '^[ab]$' } replace { runs: true node { name: 'n' } node { name: 'm' } } }");
  ASSERT_TRUE(crossed.ok()) << crossed.status();
  EXPECT_EQ(crossed->report.outcome(0).added(), 6u);
}

TEST(EditChecks, RefusesUnknownTexts) {
  EXPECT_THAT(EditText("1 comp a", "edit { select { iteration: '' } remove {} }"),
              HasSubstr("iteration: \"\", expected first, last"));
  EXPECT_THAT(EditText("1 comp a", "edit { insert { node { name: 'n' type: 'comp' } } }"),
              AllOf(HasSubstr("node.type: unknown type \"comp\""), Not(HasSubstr("'comm'"))));
}

// Ids of more than 31 bits are lanes -1, -2, ...; selectors accept these names, as reports show them.
TEST(EditChecks, SelectsLanesOfLongIdsByName) {
  const std::string text =
      "1 comp a tid=139872964056896 host\n2 comp b tid=139872964056897 host\n3 comp c tid=1 host\n";
  EXPECT_EQ(EditText(text, "edit { select { lane: 'thread:-2' } remove {} }"),
            "1 comp a tid=139872964056896 host\n3 comp c tid=1 host\n");
  EXPECT_THAT(EditText(text, "edit { select { lane: 'stream:-2' } remove {} }"),
              HasSubstr("matches nothing"));
  for (const char* bad : {"thread:-", "thread:-2147483648", "thread:x"}) {
    EXPECT_THAT(EditText(text, absl::StrCat("edit { select { lane: '", bad, "' } remove {} }")),
                HasSubstr("expected stream:N, thread:N"))
        << bad;
  }
  EXPECT_THAT(EditText(text, "edit { select { name: 'c' } move { lane: 'thread:-1' } }"),
              HasSubstr("\"thread:-1\" stands for an id of more than 31 bits"));
}

TEST(EditChecks, RemapWithoutChangeMatchesNothing) {
  const std::vector<std::string> two = {"1 all_reduce a bytes=4 group=dp", "1 all_reduce a bytes=4 group=dp"};
  EXPECT_THAT(Message("edit { remap_groups { group { key: 'dp' value: 'dp' } } }", two),
              HasSubstr("matches nothing in 2 ranks"));
  EXPECT_THAT(Message("edit { remap_ranks { rank { key: 1 value: 1 } } }", two),
              HasSubstr("matches nothing in 2 ranks"));
  EXPECT_EQ(Message("edit { remap_groups { group { key: 'dp' value: 'pp' } } }", two), "done");
}

TEST(EditChecks, SelectsNodesById) {
  EXPECT_EQ(EditText("1 comp a\n2 comp b\n3 comp c\n4 comp d\n",
                     "edit { select { id: '3' id: '1' id: '3' id: '9' } rename { to: 'x' } } "
                     "edit { select { id: '2' none_of { name: 'b' } } allow_no_match: true remove {} }"),
            "1 comp x\n2 comp b\n3 comp x\n4 comp d\n");
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
