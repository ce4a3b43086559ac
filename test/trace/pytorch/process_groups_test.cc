#include "trace/import/host/process_groups.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ReadGroupNote, ReadsListedOrAllRanks) {
  const auto note = ReadGroupNote(
      R"([{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "ranks": [], "group_size": 4, "group_count": 2},
          {"pg_name": "7", "pg_desc": "tp", "backend_config": "cuda:nccl", "ranks": [1, 3], "group_size": 2, "group_count": 2}])",
      "node 4");
  ASSERT_TRUE(note.ok()) << note.status();
  EXPECT_THAT(note->groups, ElementsAre(Pair("0", ElementsAre(0, 1, 2, 3)), Pair("7", ElementsAre(1, 3))));
  EXPECT_THAT(note->alias, IsEmpty());
  EXPECT_FALSE(note->cut);
}

TEST(ReadGroupNote, EarlyFormNamesTheBackend) {
  const auto note = ReadGroupNote(
      R"([{"pg_name": "0", "backend_id": 94594108284448, "ranks": [], "group_size": 2}])", "node 4");
  ASSERT_TRUE(note.ok()) << note.status();
  EXPECT_THAT(note->alias, ElementsAre(Pair("94594108284448", "0")));
}

TEST(ReadGroupNote, KeepsWholeGroupsOfATruncatedNote) {
  const std::string text =
      R"([{"pg_name": "0", "ranks": [0, 1]}, {"pg_name": "1", "ranks": [0]}, {"pg_name": "2", "ranks": [1]}])";
  for (size_t n = 1; n < text.size(); ++n) {
    const auto note = ReadGroupNote(text.substr(0, n), "node 4");
    ASSERT_TRUE(note.ok()) << n << ": " << note.status();
    EXPECT_TRUE(note->cut) << n;
    EXPECT_EQ(note->groups.size(), std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(n), '}'))
        << n;
  }
}

TEST(ReadGroupNote, RefusesBadGroups) {
  for (const char* text :
       {"", "{}", "text", "[1]", R"([{"ranks": [0]}])", R"([{"pg_name": "0", "ranks": [-1]}])",
        R"([{"pg_name": "0", "ranks": [0, ...]}])", R"([{"pg_name": "0", "ranks": []}])"}) {
    const auto note = ReadGroupNote(text, "node 4");
    ASSERT_FALSE(note.ok()) << text;
    EXPECT_THAT(std::string(note.status().message()), HasSubstr("node 4")) << text;
  }
}

TEST(StridedGroup, IsEmptyUnlessTheValuesAreAGroup) {
  EXPECT_THAT(StridedGroup(0, 1, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(StridedGroup(1, 8, 3), ElementsAre(1, 9, 17));
  EXPECT_THAT(StridedGroup(5, 0, 1), ElementsAre(5));
  EXPECT_THAT(StridedGroup(-1, -1, 1), IsEmpty());
  EXPECT_THAT(StridedGroup(0, -1, 4), IsEmpty());  // PyTorch: not evenly apart
  EXPECT_THAT(StridedGroup(0, 1, -1), IsEmpty());
  EXPECT_THAT(StridedGroup(0, int64_t{1} << 40, 3), IsEmpty());
  EXPECT_THAT(StridedGroup(0, 1, int64_t{1} << 40), IsEmpty());
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
