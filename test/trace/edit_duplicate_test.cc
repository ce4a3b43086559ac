// The edit `duplicate`: copies of nodes that run after the originals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/trace/edit_testing.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// A thread with two layers, each of which hands a collective to thread 2; the end waits for the last.
constexpr char kLayers[] = R"(
  1 comp begin us=1 start=0 tid=1 host
  2 comp layer us=4 start=2 tid=1 host shapes=a <- 1+1000:thread
  3 comp relu us=2 start=6 tid=1 parent=2 host <- 2:call
  4 comp layer us=4 start=9 tid=1 host shapes=b <- 3+1000:thread
  5 comp relu us=2 start=13 tid=1 parent=4 host <- 4:call
  6 all_reduce sum us=3 start=8 bytes=8 tid=2 host <- 3:hand_off
  7 all_reduce sum us=3 start=15 bytes=8 tid=2 host <- 5:hand_off 6:thread
  8 comp end us=1 start=18 tid=1 host <- 5:call 7:wake_up
)";

std::string Edit(const std::string& edit) { return EditText(kLayers, "edit { " + edit + " }"); }

TEST(EditDuplicate, CopiesAStretchOfAThread) {
  EXPECT_EQ(Edit("select { attribute { name: 'shapes' value: 'a' } } duplicate { times: 2 until { name: "
                 "'^layer$' } }"),
            Lines(R"(
    1 comp begin us=1 tid=1 host
    2 comp layer start=2 us=4 tid=1 shapes=a host <- 1+1000:thread
    3 comp relu start=6 us=2 tid=1 parent=2 host <- 2:call
    4 comp layer start=9 us=4 tid=1 shapes=b host <- 10+1000:thread
    5 comp relu start=13 us=2 tid=1 parent=4 host <- 4:call
    6 all_reduce sum start=8 us=3 bytes=8 tid=2 host <- 3:hand_off
    7 all_reduce sum start=15 us=3 bytes=8 tid=2 host <- 5:hand_off 6:thread
    8 comp end start=18 us=1 tid=1 host <- 5:call 7:wake_up
    9 comp layer start=2 us=4 tid=1 shapes=a host <- 3+1000:thread
    10 comp relu start=6 us=2 tid=1 parent=9 host <- 9:call
  )"));
}

TEST(EditDuplicate, MakesTwoCopiesForThreeTimes) {
  const std::string out = Edit(
      "select { attribute { name: 'shapes' value: 'b' } } duplicate { times: 3 until { name: '^end$' } }");
  EXPECT_THAT(out, HasSubstr("8 comp end start=18 us=1 tid=1 host <- 7:wake_up 12:call\n"));
  EXPECT_THAT(out, HasSubstr("9 comp layer start=9 us=4 tid=1 shapes=b host <- 5+1000:thread\n"));
  EXPECT_THAT(out, HasSubstr("11 comp layer start=9 us=4 tid=1 shapes=b host <- 10+1000:thread\n"));
}

// The end waits for the last copy of each node that it waited for.
TEST(EditDuplicate, CopiesEachMatchSeparately) {
  const std::string out = Edit("select { collective: 'all_reduce' } duplicate { times: 2 each: true }");
  EXPECT_THAT(out, HasSubstr("7 all_reduce sum start=15 us=3 bytes=8 tid=2 host <- 5:hand_off 9:thread\n"));
  EXPECT_THAT(out, HasSubstr("8 comp end start=18 us=1 tid=1 host <- 5:call 10:wake_up\n"));
  EXPECT_THAT(out, HasSubstr("9 all_reduce sum start=8 us=3 bytes=8 tid=2 host <- 6\n"));
  EXPECT_THAT(out, HasSubstr("10 all_reduce sum start=15 us=3 bytes=8 tid=2 host <- 7:thread\n"));
}

// Without `until`: matches that follow or need each other are copied together. This trace has no lanes.
TEST(EditDuplicate, CopiesConnectedMatchesTogether) {
  EXPECT_EQ(EditText(R"(
    1 comp in ops=1
    2 comp mlp1 ops=2 <- 1
    3 all_reduce mlp2 bytes=8 group=0 <- 2
    4 comp mlp3 ops=3 <- 3
    5 comp out ops=4 <- 4
  )",
                     "edit { select { name: 'mlp' } duplicate { times: 2 } }"),
            Lines(R"(
    1 comp in ops=1
    2 comp mlp1 ops=2 <- 1
    3 all_reduce mlp2 bytes=8 group=0 <- 2
    4 comp mlp3 ops=3 <- 3
    5 comp out ops=4 <- 8
    6 comp mlp1 ops=2 <- 4
    7 all_reduce mlp2 bytes=8 group=0 <- 6 3
    8 comp mlp3 ops=3 <- 7
  )"));
}

TEST(EditDuplicate, CopiesLaunchedKernels) {
  EXPECT_EQ(EditText(R"(
    1 comp launch us=2 start=0 tid=1 host
    2 comp kernel us=9 start=3 stream=7 <- 1+1000:launch
    3 comp next us=1 start=2 tid=1 host <- 1:thread
  )",
                     "edit { select { name: '^launch$' } duplicate { times: 2 } }"),
            Lines(R"(
    1 comp launch us=2 tid=1 host
    2 comp kernel start=3 us=9 stream=7 <- 1+1000:launch
    3 comp next start=2 us=1 tid=1 host <- 4:thread
    4 comp launch us=2 tid=1 host <- 1
    5 comp kernel start=3 us=9 stream=7 <- 4+1000:launch 2:edit
  )"));
}

TEST(EditDuplicate, DoesNotCopyNodesBetweenMatches) {
  const auto out = EditTexts({R"(
    1 comp a us=1 start=0 stream=7
    2 comp between us=1 start=1 stream=8 <- 1
    3 comp a us=1 start=2 stream=7 <- 2
    4 comp after us=1 start=3 stream=8 <- 3
  )"},
                             "edit { select { name: '^a$' } duplicate { times: 2 } }");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), Lines(R"(
    1 comp a us=1 stream=7
    2 comp between start=1 us=1 stream=8 <- 1
    3 comp a start=2 us=1 stream=7 <- 2
    4 comp after start=3 us=1 stream=8 <- 6
    5 comp a us=1 stream=7 <- 3
    6 comp a start=2 us=1 stream=7 <- 5
  )"));
  EXPECT_THAT(out->notes(), HasSubstr("are not copied, and stay with the first copy"));
}

TEST(EditDuplicate, RefusesBadFields) {
  EXPECT_THAT(Edit("select { name: 'layer' } duplicate { times: 1 }"), HasSubstr("times: 1, expected 2 to"));
  EXPECT_THAT(Edit("select { name: 'layer' } duplicate { times: 2 each: true until { name: 'end' } }"),
              HasSubstr("each: given with until, expected one of the two"));
  EXPECT_THAT(Edit("select { name: 'layer' } duplicate { times: 2 until { name: '(' } }"),
              HasSubstr("duplicate.until, name: \"(\" is not a regular expression"));
  EXPECT_THAT(
      Edit("select { name: 'layer' } duplicate { times: 2 until { name: '^begin$' } }"),
      HasSubstr(
          "node 2 (\"layer\"): duplicate: `until` matches nothing after this node"));
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
