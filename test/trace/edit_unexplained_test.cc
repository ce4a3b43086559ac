// The unexplained part of delays (dep_unexplained_ns), through edits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/trace/edit_testing.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two kernels on a stream, launched by a thread.
constexpr char kLaunches[] = R"(
  1 comp launch_a us=2 start=0 tid=1 host
  2 comp launch_b us=2 start=3 tid=1 host <- 1+1000~400:thread
  3 comp launch_c us=2 start=6 tid=1 host <- 2+1000~300:thread
  4 comp a us=5 start=2 stream=7 <- 1+600~500:launch
  5 comp b us=6 start=8 stream=7 <- 2+3000~2000:launch 4:stream
  6 comp c us=7 start=14 stream=7 <- 3:launch 5:stream
)";

std::string Edit(const std::string& edit) { return EditText(kLaunches, "edit { " + edit + " }"); }

TEST(EditUnexplained, IsKeptWhenOtherValuesChange) {
  EXPECT_THAT(Edit("select { name: '^launch_b$' } duration { set: 1 }"),
              HasSubstr("2 comp launch_b start=3 us=1 tid=1 host <- 1+1000~400:thread\n"));
  EXPECT_THAT(Edit("select { name: '^b$' } add_dependency { on { name: 'launch_a' } }"),
              HasSubstr("<- 2+3000~2000:launch 4:stream 1:edit\n"));
}

TEST(EditUnexplained, KeepsItsShareOfAnEditedDelay) {
  const std::string half = Edit("select { name: '^b$' } delay { factor: 0.5 }");
  EXPECT_THAT(half, HasSubstr("<- 2+1500~1000:launch 4:stream\n"));
  const std::string none = Edit("select { name: '^(b|a)$' } delay { set: 0 }");
  EXPECT_THAT(none, HasSubstr("<- 2:launch 4:stream\n"));
  EXPECT_THAT(none, HasSubstr("4 comp a start=2 us=5 stream=7 <- 1:launch\n"));
}

TEST(EditUnexplained, AddsUpAndFollowsTheLongerDelay) {
  EXPECT_THAT(Edit("select { name: '^launch_b$' } remove {}"), HasSubstr("<- 1+2000~700:thread\n"));
  // The launch of b is now launch_a: the longer delay of two dependencies on one node is kept.
  EXPECT_THAT(Edit("select { name: '^(a|b)$' } fuse {}"),
              HasSubstr("<- 1+600~500:launch 2+3000~2000:launch"));
}

TEST(EditUnexplained, IsCopiedWithDependencies) {
  const std::string twice = Edit("select { name: '^(launch_b|b)$' } duplicate { times: 2 }");
  const std::vector<std::string> parts = absl::StrSplit(twice, "+3000~2000:launch");
  EXPECT_EQ(parts.size(), 3u) << twice;
  const std::string moved = Edit("select { name: '^b$' } drop_dependency { kind: 'launch' }");
  EXPECT_THAT(moved, Not(HasSubstr("~2000")));
  EXPECT_THAT(moved, HasSubstr("~500:launch"));
}

TEST(EditUnexplained, CannotBeEditedAsAttribute) {
  EXPECT_THAT(Edit("attribute { name: 'dep_unexplained_ns' int_value: 1 }"),
              HasSubstr("expected another name"));
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
