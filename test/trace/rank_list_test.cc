#include "trace/base/rank_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RankList, ReadsAndWrites) {
  const struct {
    std::vector<int> ranks;
    const char* text;
  } kCases[] = {
      {{0, 1, 2, 3, 4, 5, 6, 7}, "0-7"},
      {{3}, "3"},
      {{0, 1}, "0-1"},
      {{0, 2}, "0,2"},
      {{0, 2, 4}, "0-4:2"},
      {{0, 1, 2, 9, 16, 18, 20}, "0-2,9,16-20:2"},
      {{5, 4, 3}, "5,4,3"},
      {{7, 0, 8, 16}, "7,0-16:8"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(FormatRanks(c.ranks), c.text);
    std::vector<int> read;
    EXPECT_TRUE(ParseRanks(c.text, 100, &read).ok()) << c.text;
    EXPECT_EQ(read, c.ranks) << c.text;
  }
}

TEST(RankList, WrittenListsReadBack) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::vector<int> ranks;
    for (int r = 0; r < 60; ++r) {
      if (random() % 3 != 0) ranks.push_back(r);
    }
    if (i % 3 == 0) std::shuffle(ranks.begin(), ranks.end(), random);
    std::vector<int> read;
    ASSERT_TRUE(ParseRanks(FormatRanks(ranks), 60, &read).ok()) << FormatRanks(ranks);
    EXPECT_EQ(read, ranks);
  }
}

TEST(RankList, RefusesBadLists) {
  const struct {
    const char *text, *error;
  } kCases[] = {
      {"", "\"\": expected ranks as 3, 0-7 or 0-30:2"},
      {"0-", "\"0-\": expected ranks as"},
      {"-1", "\"-1\": expected ranks as"},
      {"1,,2", "\"\": expected ranks as"},
      {" 1", "\" 1\": expected ranks as"},
      {"0x1", "\"0x1\": expected ranks as"},
      {"0-7:0", "\"0-7:0\": expected ranks as"},
      {"3:2", "\"3:2\": expected ranks as"},
      {"0-7:", "\"0-7:\": expected ranks as"},
      {"7-0", "\"7-0\": expected a range whose last rank is not below its first"},
      {"0-8", "\"0-8\": expected ranks from 0 to 7"},
      {"8", "\"8\": expected ranks from 0 to 7"},
      {"99999999999999999999", "expected ranks as"},
      {"0-7,0", "\"0\": expected each rank once; the number of ranks is 8"},
  };
  for (const auto& c : kCases) {
    std::vector<int> read;
    const absl::Status s = ParseRanks(c.text, 8, &read);
    EXPECT_THAT(std::string(s.message()), HasSubstr(c.error)) << c.text;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
