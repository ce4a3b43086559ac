// Edits of the graph: nodes that are removed, inserted, replaced, fused and split; dependencies; lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/trace/edit_testing.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// Two kernels on a stream, launched by a thread.
constexpr char kLaunches[] = R"(
  1 comp launch_a us=2 start=0 tid=1 host
  2 comp launch_b us=2 start=3 tid=1 host <- 1+1000:thread
  3 comp launch_c us=2 start=6 tid=1 host <- 2+1000:thread
  4 comp a us=5 start=2 stream=7 <- 1:launch
  5 comp b us=6 start=7 stream=7 <- 2:launch 4:stream
  6 comp c us=7 start=13 stream=7 <- 3:launch 5:stream
  7 comp sync us=1 start=20 tid=1 host <- 3+2000:thread 6:sync
)";

std::string Edit(const std::string& edit) { return EditText(kLaunches, "edit { " + edit + " }"); }

TEST(EditRemove, RewiresDependenciesAndAddsDelays) {
  EXPECT_EQ(Edit("select { name: '^(b|launch_b)$' } remove {}"), Lines(R"(
    1 comp launch_a us=2 tid=1 host
    3 comp launch_c start=6 us=2 tid=1 host <- 1+2000:thread
    4 comp a start=2 us=5 stream=7 <- 1:launch
    6 comp c start=13 us=7 stream=7 <- 3:launch 4:stream 1+1000:stream
    7 comp sync start=20 us=1 tid=1 host <- 3+2000:thread 6:sync
  )"));
  EXPECT_THAT(Edit("select { name: '^b$' } remove { keep_time: true }"),
              HasSubstr("6 comp c start=13 us=7 stream=7 <- 3:launch 2+6000:stream 4+6000:stream"));
}

// The delays of handing over to a thread and of waking up disappear with the node between; the thread's own
// time stays.
TEST(EditRemove, DetourOverAnotherLaneTakesNoTime) {
  const std::string text =
      "1 comp call us=1 start=0 tid=1 host\n2 comp reduce us=50 start=11 tid=2 host <- 1+10000:hand_off\n"
      "3 comp next us=1 start=91 tid=1 host <- 1+5000:thread 2+30000:wake_up\n"
      "4 comp other us=1 start=91 tid=3 host <- 2+30000:wake_up\n";
  EXPECT_EQ(EditText(text, "edit { select { name: '^reduce$' } remove {} }"), Lines(R"(
    1 comp call us=1 tid=1 host
    3 comp next start=91 us=1 tid=1 host <- 1+5000:thread
    4 comp other start=91 us=1 tid=3 host <- 1+40000:wake_up
  )"));
}

TEST(EditRemove, RemovedChainLeavesOnlyTheLastLaunch) {
  EXPECT_EQ(Edit("select { name: '^[ab]$' } remove {}"), Lines(R"(
    1 comp launch_a us=2 tid=1 host
    2 comp launch_b start=3 us=2 tid=1 host <- 1+1000:thread
    3 comp launch_c start=6 us=2 tid=1 host <- 2+1000:thread
    6 comp c start=13 us=7 stream=7 <- 3:launch
    7 comp sync start=20 us=1 tid=1 host <- 3+2000:thread 6:sync
  )"));
}

TEST(EditInsert, InsertsAfterBeforeAndBeside) {
  const std::string chain =
      "1 comp a us=1 start=0 stream=7\n2 comp b us=1 start=1 stream=7 <- 1\n3 comp c us=1 start=1 stream=8 "
      "<- 1\n";
  const auto insert = [&](const std::string& where) {
    return EditText(chain, "edit { select { name: '^a$' } insert { " + where +
                               " node { name: 'new {name}' duration_us: 4 } } }");
  };
  EXPECT_EQ(insert(""), Lines(R"(
    1 comp a us=1 stream=7
    2 comp b start=1 us=1 stream=7 <- 4
    3 comp c start=1 us=1 stream=8 <- 4
    4 comp new a start=1 us=4 stream=7 <- 1
  )"));
  EXPECT_EQ(insert("aside: true"), Lines(R"(
    1 comp a us=1 stream=7
    2 comp b start=1 us=1 stream=7 <- 1 c4
    3 comp c start=1 us=1 stream=8 <- 1
    4 comp new a start=1 us=4 stream=7 <- 1
  )"));
  EXPECT_EQ(EditText(chain,
                     "edit { select { name: '^b$' } insert { where: BEFORE node { name: 'x' lane: 'stream:9' "
                     "} node { name: 'y' } } }"),
            Lines(R"(
    1 comp a us=1 stream=7
    2 comp b start=1 us=1 stream=7 <- 1 5
    3 comp c start=1 us=1 stream=8 <- 1
    4 comp x start=1 stream=9 <- 1
    5 comp y start=1 stream=7 <- 4
  )"));
  EXPECT_EQ(
      EditText(
          chain,
          "edit { select { name: '^a$' } insert { where: BESIDE node { name: 'x' lane: 'stream:9' } } }"),
      Lines(R"(
    1 comp a us=1 stream=7
    2 comp b start=1 us=1 stream=7 <- 1 4
    3 comp c start=1 us=1 stream=8 <- 1 4
    4 comp x stream=9
  )"));
}

TEST(EditReplace, ReplacesASubgraphByAChain) {
  EXPECT_EQ(Edit("select { lane: 'stream:7' } replace { node { name: 'fused' duration_us: 9 } }"), Lines(R"(
    1 comp launch_a us=2 tid=1 host
    2 comp launch_b start=3 us=2 tid=1 host <- 1+1000:thread
    3 comp launch_c start=6 us=2 tid=1 host <- 2+1000:thread
    7 comp sync start=20 us=1 tid=1 host <- 3+2000:thread 8:sync
    8 comp fused start=2 us=9 stream=7 <- 1:launch 2:launch 3:launch
  )"));
}

TEST(EditReplace, RefusesACycleThroughOtherNodes) {
  EXPECT_THAT(EditText("1 comp a\n2 comp x <- 1\n3 comp b <- 2\n",
                       "edit { select { name: '^[ab]$' } replace { node { name: 'ab' } } }"),
              HasSubstr("after the edit"));
}

TEST(EditFuse, FusesNeighboursOnALane) {
  EXPECT_EQ(Edit("select { lane: 'stream:7' } fuse { name: 'abc' time_factor: 0.5 add_us: 1 }"), Lines(R"(
    1 comp launch_a us=2 tid=1 host
    2 comp launch_b start=3 us=2 tid=1 host <- 1+1000:thread
    3 comp launch_c start=6 us=2 tid=1 host <- 2+1000:thread
    4 comp abc start=2 us=10 stream=7 <- 1:launch 2:launch 3:launch
    7 comp sync start=20 us=1 tid=1 host <- 3+2000:thread 4:sync
  )"));
  EXPECT_EQ(Edit("select { lane: 'stream:7' } fuse { drop_launches: true }"), Lines(R"(
    1 comp launch_a us=2 tid=1 host
    4 comp a start=2 us=18 stream=7 <- 1:launch
    7 comp sync start=20 us=1 tid=1 host <- 4:sync 1+4000:thread
  )"));
  EXPECT_EQ(Edit("select { lane: 'stream:7' } fuse { most: 2 }"), Lines(R"(
    1 comp launch_a us=2 tid=1 host
    2 comp launch_b start=3 us=2 tid=1 host <- 1+1000:thread
    3 comp launch_c start=6 us=2 tid=1 host <- 2+1000:thread
    4 comp a start=2 us=11 stream=7 <- 1:launch 2:launch
    6 comp c start=13 us=7 stream=7 <- 3:launch 4:stream
    7 comp sync start=20 us=1 tid=1 host <- 3+2000:thread 6:sync
  )"));
}

TEST(EditFuse, DoesNotFuseAcrossOtherNodes) {
  const auto out = EditTexts({"1 comp a us=1 start=0 stream=7\n2 comp x us=1 start=1 tid=1 host <- 1:sync\n"
                              "3 comp b us=1 start=2 stream=7 <- 2:launch 1:stream\n"},
                             "edit { select { lane: 'stream:7' } fuse {} }");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->report.outcome(0).removed(), 0u);
  EXPECT_THAT(out->notes(), HasSubstr("runs were closed"));
}

TEST(EditFuse, DoesNotFuseAcrossEarlierFusions) {
  const std::string out = EditText(
      "1 comp a1 us=1 start=0 stream=1\n2 comp b1 us=1 start=1 stream=2\n3 comp b2 us=1 start=2 stream=2 <- "
      "1\n"
      "4 comp a2 us=1 start=3 stream=1 <- 2\n",
      "edit { fuse {} }");
  EXPECT_THAT(out, HasSubstr("1 comp a1 us=2 stream=1 <- 2\n"));
  EXPECT_THAT(out, HasSubstr("3 comp b2"));
}

TEST(EditSplit, PartsAddUpAndEndInTheNode) {
  EXPECT_EQ(EditText("1 comp a us=10 ops=11 bytes=7 stream=7\n2 comp b us=1 stream=7 start=10 <- 1\n",
                     "edit { select { name: 'a' } split { parts: 3 } }"),
            Lines(R"(
    1 comp a us=3.333 bytes=2 ops=3 stream=7 <- 4
    2 comp b start=10 us=1 stream=7 <- 1
    3 comp a us=3.334 bytes=3 ops=4 stream=7
    4 comp a us=3.333 bytes=2 ops=4 stream=7 <- 3
  )"));
  EXPECT_EQ(EditText("1 comp a us=10 stream=7\n2 comp b us=1 stream=7 start=10 <- 1\n",
                     "edit { select { name: 'a' } split { parts: 2 parallel: true } }"),
            Lines(R"(
    1 comp a us=5 stream=7
    2 comp b start=10 us=1 stream=7 <- 1 3
    3 comp a us=5 stream=8
  )"));
}

TEST(EditAlgebra, FuseUndoesSplit) {
  const std::string trace = "1 comp a us=10 ops=11 bytes=7 stream=7\n2 comp b us=1 stream=7 start=10 <- 1\n";
  const std::string whole = EditText(
      trace, "edit { select { name: 'a' } split { parts: 3 } } edit { select { name: 'a' } fuse {} }");
  EXPECT_THAT(whole, HasSubstr("comp a us=10 bytes=7 ops=11 stream=7\n"));
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 2);
}

TEST(EditDependency, AddsAndDropsDependencies) {
  EXPECT_THAT(
      Edit("select { name: '^c$' } add_dependency { on { name: 'launch' } which: PREVIOUS kind: CONTROL }"),
      HasSubstr("6 comp c start=13 us=7 stream=7 <- 3:launch 5:stream\n"));  // the dependency exists already
  EXPECT_THAT(
      Edit("select { name: '^b$' } add_dependency { on { name: 'launch_c' } which: ALL delay_us: 1.5 }"),
      HasSubstr("5 comp b start=7 us=6 stream=7 <- 2:launch 4:stream 3+1500:edit\n"));
  EXPECT_THAT(Edit("select { name: '^c$' } drop_dependency { kind: 'stream' }"),
              HasSubstr("6 comp c start=13 us=7 stream=7 <- 3:launch\n"));
  EXPECT_THAT(Edit("select { name: 'sync' } drop_dependency { on { lane: 'stream:7' } }"),
              HasSubstr("7 comp sync start=20 us=1 tid=1 host <- 3+2000:thread\n"));
  EXPECT_THAT(Edit("select { name: 'launch_a' } add_dependency { on { name: 'sync' } which: NEXT }"),
              HasSubstr("cycle"));
  EXPECT_THAT(Edit("select { name: 'c' } drop_dependency { kind: 'steam' }"),
              HasSubstr("did you mean 'stream'?"));
}

TEST(EditMove, MovesToAnotherStreamWithoutTheOldOrder) {
  EXPECT_EQ(Edit("select { name: '^b$' } move { lane: 'stream:20' }"), Lines(R"(
    1 comp launch_a us=2 tid=1 host
    2 comp launch_b start=3 us=2 tid=1 host <- 1+1000:thread
    3 comp launch_c start=6 us=2 tid=1 host <- 2+1000:thread
    4 comp a start=2 us=5 stream=7 <- 1:launch
    5 comp b start=7 us=6 stream=20 <- 2:launch
    6 comp c start=13 us=7 stream=7 <- 3:launch 4:stream
    7 comp sync start=20 us=1 tid=1 host <- 3+2000:thread 6:sync
  )"));
}

TEST(EditReorder, MovesBeforeAnAnchorAndReverses) {
  const std::string trace =
      "1 comp a us=1 start=0 stream=7\n2 comp b us=1 start=1 stream=7\n3 comp c us=1 start=2 stream=7\n";
  EXPECT_EQ(EditText(trace, "edit { select { name: 'c' } reorder { anchor { name: 'a' } } }"), Lines(R"(
    1 comp a us=1 stream=7 <- c3
    2 comp b start=1 us=1 stream=7
    3 comp c us=1 stream=7
  )"));
  EXPECT_EQ(EditText(trace, "edit { reorder { reverse: true } }"), Lines(R"(
    1 comp a start=2 us=1 stream=7 <- c2
    2 comp b start=1 us=1 stream=7 <- c3
    3 comp c us=1 stream=7
  )"));
}

TEST(EditRanks, DelayBeginsWithAHostNode) {
  const auto out = EditTexts({"1 comp a us=1\n2 comp b us=1 <- 1\n", "1 comp a us=1\n2 comp b us=1 <- 1\n"},
                             "edit { select { ranks: '1' } delay_rank { us: 10 } }");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(0), "1 comp a us=1\n2 comp b us=1 <- 1\n");
  EXPECT_EQ(out->list(1), "1 comp a us=1 <- 3\n2 comp b us=1 <- 1\n3 comp [delay] us=10 host\n");
}

TEST(EditRanks, RemapsPeersRootsAndGroups) {
  const Groups groups = {{"tp", {0, 1}}};
  const TraceSet set = MakeSet({"1 send s bytes=8 peer=1 tag=0\n2 broadcast b bytes=8 group=tp root=0\n",
                                "1 recv r bytes=8 peer=0 tag=0\n2 broadcast b bytes=8 group=tp root=0\n"},
                               groups);
  const auto out = EditSet(set, "edit { remap_ranks { rank { key: 0 value: 1 } rank { key: 1 value: 0 } } }");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(0), "1 recv r bytes=8 peer=1 tag=0\n2 broadcast b bytes=8 group=tp root=1\n");
  EXPECT_EQ(out->list(1), "1 send s bytes=8 peer=0 tag=0\n2 broadcast b bytes=8 group=tp root=1\n");
  const auto back = EditSet(set,
                            "edit { remap_ranks { rank { key: 0 value: 1 } rank { key: 1 value: 0 } } } "
                            "edit { remap_ranks { rank { key: 0 value: 1 } rank { key: 1 value: 0 } } }");
  ASSERT_TRUE(back.ok());
  for (size_t r : {0, 1})
    EXPECT_EQ(back->list(r),
              List(ParseFrames(Frames(
                  r == 0 ? "1 send s bytes=8 peer=1 tag=0\n2 broadcast b bytes=8 group=tp root=0\n"
                         : "1 recv r bytes=8 peer=0 tag=0\n2 broadcast b bytes=8 group=tp root=0\n"))));
  EXPECT_THAT(EditSet(set, "edit { remap_ranks { rank { key: 0 value: 1 } } }").status().message(),
              HasSubstr("expected a permutation"));
}

TEST(EditRanks, RefusesBadGroupRemaps) {
  const Groups groups = {{"tp", {0, 1}}, {"one", {0}}};
  const TraceSet set =
      MakeSet({"1 all_reduce a bytes=8 group=tp\n", "1 all_reduce a bytes=8 group=tp\n"}, groups);
  const auto message = [&](const std::string& edit) {
    return std::string(EditSet(set, "edit { " + edit + " }").status().message());
  };
  EXPECT_THAT(message("remap_groups { group { key: 'tq' value: 'x' } }"), HasSubstr("did you mean 'tp'?"));
  EXPECT_THAT(message("remap_groups { group { key: 'tp' value: 'one' } }"),
              HasSubstr("of 2 ranks becomes \"one\", which has 1"));
  EXPECT_THAT(message("rescale { to: 1000000 groups: 'tp' }"), HasSubstr("expected at most 65536 ranks"));
  EXPECT_EQ(message("remap_groups { group { key: 'tp' value: 'x' } }"), "");
}

TEST(EditRepeat, CopiesFollowEachOtherOnTheirLanes) {
  EXPECT_EQ(EditText("1 comp a us=2 start=0 tid=1 host\n2 comp k us=5 start=2 stream=7 <- 1:launch\n",
                     "edit { repeat { times: 2 } }"),
            Lines(R"(
    1 comp a us=2 tid=1 host
    2 comp k start=2 us=5 stream=7 <- 1:launch
    3 comp a start=7 us=2 tid=1 host <- 1:thread
    4 comp k start=9 us=5 stream=7 <- 3:launch 2:stream
  )"));
  EXPECT_EQ(EditText("1 comp a ops=2\n2 comp b ops=2 <- 1\n", "edit { repeat { times: 3 } }"), Lines(R"(
    1 comp a ops=2
    2 comp b ops=2 <- 1
    3 comp a ops=2 <- c2
    4 comp b ops=2 <- 3
    5 comp a ops=2 <- c4
    6 comp b ops=2 <- 5
  )"));
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
