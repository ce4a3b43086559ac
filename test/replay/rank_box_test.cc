#include "replay/run/rank_box.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

TEST(RankBox, AcceptsRanksInAnyOrder) {
  const auto line = BoxOf({6, 4, 8});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->base, 4);
  ASSERT_EQ(line->sides.size(), 1u);
  EXPECT_EQ(line->sides[0].stride, 2);
  EXPECT_EQ(line->sides[0].count, 3);
  const auto plane = BoxOf({0, 1, 8, 9, 16, 17});
  ASSERT_TRUE(plane);
  ASSERT_EQ(plane->sides.size(), 2u);
  EXPECT_EQ(plane->sides[1].stride, 8);
  EXPECT_EQ(plane->sides[1].count, 3);
  EXPECT_EQ(plane->Block(), 24);
  EXPECT_TRUE(BoxOf({5}));
}

TEST(RankBox, RejectsOtherSets) {
  for (const std::vector<int>& ranks :
       {std::vector<int>{}, {0, 1, 3}, {0, 1, 2, 4, 5}, {3, 3}, {0, 2, 3, 5}, {-1, 0}})
    EXPECT_FALSE(BoxOf(ranks)) << ranks.size();
}

// Adjacent boxes hold each rank once.
TEST(RankBox, TilesAllRanks) {
  for (const std::vector<int>& ranks :
       {std::vector<int>{0, 1, 2, 3}, {0, 4}, {0, 1, 8, 9}, {2, 6, 10}, {7}}) {
    const auto box = BoxOf(ranks);
    ASSERT_TRUE(box);
    for (const int64_t all : {16, 24, 48}) {
      if (!box->Tiles(all)) {
        EXPECT_NE(all % box->Block(), 0);
        continue;
      }
      std::set<int64_t> seen;
      for (int64_t r = 0; r < all; ++r) {
        RankBox other = *box;
        other.base = box->BaseOf(r);
        if (other.base != r) continue;  // count each box by its first rank
        for (const int m : other.Ranks()) EXPECT_TRUE(seen.insert(m).second) << m;
      }
      EXPECT_EQ(static_cast<int64_t>(seen.size()), all);
      EXPECT_EQ(*seen.rbegin(), all - 1);
    }
  }
  EXPECT_FALSE(BoxOf({1, 2})->Tiles(4)) << "would begin in the middle of a block";
  EXPECT_THAT(BoxOf({2, 6, 10})->Ranks(), ElementsAre(2, 6, 10));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
