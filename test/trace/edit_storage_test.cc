// Storage nodes that edits put into traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/trace/edit_testing.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr char kSteps[] = R"(
  1 comp step us=10 stream=7
  2 comp next us=2 stream=7
  3 comp log us=1 <- 1+5
  4 comp step us=10 stream=7 <- 2
  5 comp tail us=1 stream=7)";

std::string Storage(const std::string& spec, const std::string& name = "^step$") {
  return absl::StrCat("edit { select { name: \"", name, "\" } storage { ", spec, " } }");
}

TEST(Storage, AddsStoresThatNothingWaitsFor) {
  const auto out = EditTexts({kSteps}, Storage("bytes: 4096 duration_us: 3.5"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(),
            Lines(kSteps) +
                "6 store checkpoint us=3.5 bytes=4096 <- 1\n7 store checkpoint us=3.5 bytes=4096 <- 4\n");
  EXPECT_EQ(out->report.outcome(0).matched(), 2u);
  EXPECT_EQ(out->report.outcome(0).added(), 2u);
  EXPECT_EQ(out->report.outcome(0).changed(), 2u);
}

// Nodes that depend on the match wait, and so does the next node on its lane.
TEST(Storage, NextNodesWaitForBlockingStores) {
  EXPECT_EQ(EditText(kSteps, Storage("bytes: 8 blocking: true name: \"save\" every: 1")), Lines(R"(
    1 comp step us=10 stream=7
    2 comp next us=2 stream=7 <- 6
    3 comp log us=1 <- 1+5 6
    4 comp step us=10 stream=7 <- 2
    5 comp tail us=1 stream=7 <- 7
    6 store save bytes=8 <- 1
    7 store save bytes=8 <- 4)"));
}

// The match waits for its load; the next load runs while the match computes.
TEST(Storage, LoadsRunAhead) {
  EXPECT_EQ(EditText(kSteps, Storage("kind: LOAD bytes: 8")), Lines(R"(
    1 comp step us=10 stream=7 <- 6
    2 comp next us=2 stream=7 <- c1
    3 comp log us=1 <- 1+5
    4 comp step us=10 stream=7 <- 2 7
    5 comp tail us=1 stream=7 <- c4
    6 load data_load bytes=8
    7 load data_load bytes=8 <- 1)"));
}

TEST(Storage, BlockingLoadsBeginWhenTheMatchCould) {
  EXPECT_EQ(
      EditText("1 comp a us=1\n2 comp b us=1 <- 1+50", Storage("kind: LOAD bytes: 8 blocking: true", "^b$")),
      Lines("1 comp a us=1\n2 comp b us=1 <- 1+50 3\n3 load data_load bytes=8 <- 1+50"));
  EXPECT_EQ(EditText("1 comp a us=1 stream=7\n2 comp b us=1 stream=7",
                     Storage("kind: LOAD bytes: 8 blocking: true", "^b$")),
            Lines("1 comp a us=1 stream=7\n2 comp b us=1 stream=7 <- 3\n3 load data_load bytes=8 <- 1"));
}

TEST(Storage, StoresAtEveryNthMatch) {
  const std::string steps = "1 comp step\n2 comp step\n3 comp step\n4 comp step\n5 comp step";
  EXPECT_EQ(EditText(steps, Storage("bytes: 1 every: 2")),
            Lines(steps) + "6 store checkpoint bytes=1 <- 2\n7 store checkpoint bytes=1 <- 4\n");
  const auto none = EditTexts({steps}, Storage("bytes: 1 every: 6"));
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->list(), Lines(steps));
  EXPECT_THAT(none->notes(), HasSubstr("fewer matches than `every`"));
}

TEST(Storage, StartsWhereTheMatchEnds) {
  EXPECT_EQ(
      EditText("1 comp a start=5 us=2\n2 comp b start=9 us=1 <- 1", Storage("bytes: 1", "^a$")),
      Lines("1 comp a start=5 us=2\n2 comp b start=9 us=1 <- 1\n3 store checkpoint start=7 bytes=1 <- 1"));
}

TEST(Storage, RefusesBadFields) {
  const auto refusal = [](const char* spec) { return std::string(PlanOf(Storage(spec)).status().message()); };
  EXPECT_THAT(refusal(""), HasSubstr("edit 1 (storage), bytes: 0, expected 1 to"));
  EXPECT_THAT(refusal("bytes: 18446744073709551615"), HasSubstr("bytes: 18446744073709551615"));
  EXPECT_THAT(refusal("bytes: 1 every: -2"), HasSubstr("every: -2, expected 0 (each match) or more"));
  EXPECT_THAT(refusal("bytes: 1 duration_us: -1"), HasSubstr("duration_us: -1, expected 0 to"));
  EXPECT_THAT(refusal("bytes: 1 duration_us: nan"), HasSubstr("duration_us: nan"));
  proto::EditScript script;
  script.add_edit()->mutable_storage()->set_bytes(1);
  script.mutable_edit(0)->mutable_storage()->set_kind(static_cast<proto::Storage::Kind>(7));
  EXPECT_THAT(EditPlan::Make({{"s", script, ""}}).status().message(),
              HasSubstr("kind: 7, expected STORE or LOAD"));
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
