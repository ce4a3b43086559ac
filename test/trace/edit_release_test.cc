// Dependencies that release a node before their end (dep_release), through edits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/trace/edit_testing.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Three kernels of a stream, each released by the one before it.
constexpr char kKernels[] = R"(
  1 comp a us=8 start=0 stream=7
  2 comp b us=8 start=2 stream=1000000001 <- 1@250:release
  3 comp c us=8 start=8 stream=7 <- 1+1000:stream 2@750+500:release
)";

std::string Edit(const std::string& edit) { return EditText(kKernels, "edit { " + edit + " }"); }

TEST(EditRelease, IsKeptWhenDurationsOrDependenciesChange) {
  EXPECT_THAT(Edit("select { name: '^b$' } duration { factor: 0.5 }"),
              HasSubstr("<- 1+1000:stream 2@750+500:release\n"));
  EXPECT_THAT(Edit("select { name: '^c$' } delay { set: 0 }"), HasSubstr("<- 1:stream 2@750:release\n"));
}

TEST(EditRelease, KeepsTheLaterOfTwoDependencies) {
  // Without b, c waits for the dependency of b, which is a: the end of a is later than a quarter of a.
  EXPECT_THAT(Edit("select { name: '^b$' } remove {}"),
              HasSubstr("3 comp c start=8 us=8 stream=7 <- 1+1000:stream\n"));
}

TEST(EditRelease, IsCopiedWithDependencies) {
  EXPECT_THAT(Edit("select { name: '^b$' } duplicate { times: 2 }"), HasSubstr("@750+500:release"));
}

TEST(EditRelease, CannotBeEditedAsAttribute) {
  EXPECT_THAT(Edit("attribute { name: 'dep_release' int_value: 1 }"), HasSubstr("expected another name"));
}

// A second kernel that begins when half of the first is done, and a third that begins with the first.
constexpr char kOverlap[] = R"(
  1 comp a us=1000 stream=7
  2 comp b us=100 stream=8 <- 1@500:release
  3 comp c us=100 stream=9 <- 1@0:release
  4 comp d us=100 stream=10 <- 1:launch
)";

std::string Overlap(const std::string& edit) { return EditText(kOverlap, "edit { " + edit + " }"); }

TEST(EditRelease, KeepsItsPlaceInASplitNode) {
  const std::string two = Overlap("select { name: '^a$' } split { parts: 2 }");
  EXPECT_THAT(two, HasSubstr("2 comp b us=100 stream=8 <- 5:release\n"));    // the end of the first half
  EXPECT_THAT(two, HasSubstr("3 comp c us=100 stream=9 <- 5@0:release\n"));  // its begin
  EXPECT_THAT(two, HasSubstr("4 comp d us=100 stream=10 <- 1:launch\n"));    // the node is the last part
  EXPECT_THAT(Overlap("select { name: '^a$' } split { parts: 4 }"), HasSubstr("stream=8 <- 6:release\n"));
  // 500 us are 49.9998 % into the second of three parts of 333.334, 333.333 and 333.333 us.
  EXPECT_THAT(Overlap("select { name: '^a$' } split { parts: 3 }"), HasSubstr("stream=8 <- 6@499:release\n"));
}

TEST(EditRelease, AppliesToEachParallelPart) {
  const std::string out = Overlap("select { name: '^a$' } split { parts: 2 parallel: true }");
  EXPECT_THAT(out, HasSubstr("stream=8 <- 1@500:release 5@500:edit\n"));
  EXPECT_THAT(out, HasSubstr("stream=9 <- 1@0:release 5@0:edit\n"));
}

TEST(EditRelease, KeepsItsPlaceInFusedNodes) {
  constexpr char kRun[] = R"(
    1 comp a us=300 stream=7
    2 comp b us=100 stream=7 <- 1:stream
    3 comp c us=10 stream=8 <- 1@500:release
    4 comp d us=10 stream=9 <- 2@500:release
    5 comp e us=10 stream=10 <- 2@0:release
  )";
  const std::string out =
      EditText(kRun, "edit { select { name: '^(a|b)$' } fuse { name: 'ab' time_factor: 0.5 } }");
  EXPECT_THAT(out, HasSubstr("1 comp ab us=200 stream=7\n"));
  EXPECT_THAT(out, HasSubstr("3 comp c us=10 stream=8 <- 1@375:release\n"));
  EXPECT_THAT(out, HasSubstr("4 comp d us=10 stream=9 <- 1@875:release\n"));
  EXPECT_THAT(out, HasSubstr("5 comp e us=10 stream=10 <- 1@750:release\n"));
}

TEST(EditRelease, KeepsItsPlaceInReplacements) {
  const std::string out = Overlap(
      "select { name: '^a$' } replace { node { name: 'x' duration_us: 100 } node { name: 'y' duration_us: "
      "300 } }");
  EXPECT_THAT(out, HasSubstr("6 comp y"));
  EXPECT_THAT(out, HasSubstr("2 comp b us=100 stream=8 <- 6@333:release\n"));
  EXPECT_THAT(out, HasSubstr("3 comp c us=100 stream=9 <- 5@0:release\n"));
  EXPECT_THAT(out, HasSubstr("4 comp d us=100 stream=10 <- 6:launch\n"));
}

TEST(EditRelease, EarlyReleaseDoesNotWaitForInsertedNodes) {
  const std::string out = Overlap("select { name: '^a$' } insert { node { name: 'x' duration_us: 50 } }");
  EXPECT_THAT(out, HasSubstr("2 comp b us=100 stream=8 <- 1@500:release\n"));
  EXPECT_THAT(out, HasSubstr("4 comp d us=100 stream=10 <- 5:launch\n"));
  const std::string beside =
      Overlap("select { name: '^a$' } insert { where: BESIDE node { name: 'x' duration_us: 50 } }");
  EXPECT_THAT(beside, HasSubstr("2 comp b us=100 stream=8 <- 1@500:release\n"));
  EXPECT_THAT(beside, HasSubstr("4 comp d us=100 stream=10 <- 1:launch 5:edit\n"));
}

TEST(EditRelease, StaysAtTheBeginOfASplitCollective) {
  constexpr char kCall[] = R"(
    1 all_reduce g bytes=1000 us=10 stream=7
    2 comp c us=1 stream=8 <- 1@0
    3 comp d us=1 stream=9 <- 1
  )";
  const std::string out =
      EditText(kCall, "edit { select { type: 'collective' } split_collectives { parts: 2 } }");
  EXPECT_THAT(out, HasSubstr("2 comp c us=1 stream=8 <- 4@0\n"));
  EXPECT_THAT(out, HasSubstr("3 comp d us=1 stream=9 <- 1\n"));
}

TEST(EditRelease, GapBeforeACopyCountsFromTheEnd) {
  // The gap before the copy of b counts from the end of a, not from the release at half of a.
  const std::string out =
      EditText("1 comp a us=100 stream=7\n2 comp b us=100 stream=7 <- 1@500+60000:release\n",
               "edit { select { name: '^b$' } duplicate { times: 2 } }");
  EXPECT_THAT(out, HasSubstr("3 comp b us=100 stream=7 <- 2+10000:release\n"));
}

TEST(EditParents, RemovedCallsPassOnTheirParent) {
  constexpr char kCalls[] = R"(
    1 comp outer us=10 tid=1 host
    2 comp inner us=10 tid=1 parent=1 host <- 1:call
    3 comp leaf us=10 tid=1 parent=2 host <- 2:call
  )";
  EXPECT_THAT(EditText(kCalls, "edit { select { name: 'inner' } remove {} }"),
              HasSubstr("3 comp leaf us=10 tid=1 parent=1"));
  EXPECT_THAT(EditText(kCalls, "edit { select { name: 'outer|inner' } remove {} }"),
              Not(HasSubstr("parent")));
  EXPECT_THAT(
      EditText(kCalls, "edit { select { name: 'inner' } replace { node { name: 'x' duration_us: 1 } } }"),
      HasSubstr("3 comp leaf us=10 tid=1 parent=4"));
  const std::string again = EditText(kCalls, "edit { repeat { times: 2 } }");
  EXPECT_THAT(again, HasSubstr("5 comp inner start=10 us=10 tid=1 parent=4"));
  EXPECT_THAT(again, HasSubstr("6 comp leaf start=10 us=10 tid=1 parent=5"));
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
