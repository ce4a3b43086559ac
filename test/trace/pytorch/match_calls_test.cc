#include "trace/import/join/match_calls.h"

#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

// `steps` steps of `calls` calls of one kind, from step `first` on; step N begins at N ms.
std::vector<StreamCall> Steps(int first, int steps, int calls, int64_t clock = 0, bool marks = true) {
  std::vector<StreamCall> all;
  for (int s = first; s < first + steps; ++s) {
    for (int i = 0; i < calls; ++i) {
      const int64_t at = clock + s * 1000000 + i * 100000 + s * s * 40000;
      all.push_back({1, marks ? s : StreamCall::kNoStep, at, at + 50000, true});
    }
  }
  return all;
}

TEST(FindShift, MatchesStepsOfTheSameNumber) {
  CallShift shift;
  // Rank 1 has one more step at the beginning; its clock is a whole step ahead, so that ends alone would
  // match each step with the one before.
  ASSERT_TRUE(FindShift(Steps(4, 3, 4), Steps(3, 4, 4, -1000000), &shift));
  EXPECT_EQ(shift.calls, 4);
  EXPECT_TRUE(shift.sure);
  ASSERT_TRUE(FindShift(Steps(3, 3, 200), Steps(4, 3, 200), &shift));
  EXPECT_EQ(shift.calls, -200) << "further than windows without marks are moved";
}

TEST(FindShift, FindsNoShiftForOtherStepsOrCalls) {
  CallShift shift;
  EXPECT_FALSE(FindShift(Steps(0, 3, 4), Steps(5, 3, 4), &shift)) << "no step in common";
  EXPECT_FALSE(FindShift(Steps(0, 4, 4), Steps(0, 4, 7), &shift)) << "4 calls a step are not 7";
  std::vector<StreamCall> other = Steps(0, 3, 4);
  other[5].key = 2;
  EXPECT_FALSE(FindShift(Steps(0, 3, 4), other, &shift));
}

TEST(FindShift, EndsGiveAnUncertainShiftWithoutMarks) {
  CallShift shift;
  std::vector<StreamCall> late = Steps(0, 6, 1, 0, false);
  late.erase(late.begin());
  ASSERT_TRUE(FindShift(Steps(0, 6, 1, 0, false), late, &shift));
  EXPECT_EQ(shift.calls, -1);
  EXPECT_FALSE(shift.sure) << "another shift agrees in kind and size";
  ASSERT_TRUE(FindShift(Steps(0, 6, 1, 0, false), Steps(0, 6, 1, 300, false), &shift));
  EXPECT_EQ(shift.calls, 0);
  EXPECT_TRUE(shift.sure);
}

TEST(FindShift, IgnoresMarksOfOneSide) {
  CallShift shift;
  ASSERT_TRUE(FindShift(Steps(0, 2, 4), Steps(0, 2, 4, 0, false), &shift));
  EXPECT_EQ(shift.calls, 0) << "the fewest calls in common have the fewest in different steps";
  ASSERT_TRUE(FindShift(Steps(0, 2, 4, 0, false), Steps(0, 2, 4), &shift));
  EXPECT_EQ(shift.calls, 0);
}

TEST(FindShift, OverlappingNeighboursMatchInEitherOrder) {
  CallShift shift;
  std::vector<StreamCall> one = Steps(0, 3, 4);
  one[5].key = 2;
  std::vector<StreamCall> other = Steps(0, 3, 4);
  other[4].key = 2;
  EXPECT_TRUE(FindShift(one, other, &shift));
  EXPECT_NE(shift.calls, 0) << "one after the other: not the same calls";
  other[4].end = other[5].begin + 1;
  ASSERT_TRUE(FindShift(one, other, &shift));
  EXPECT_EQ(shift.calls, 0);
  ASSERT_TRUE(FindShift(other, one, &shift));
}

TEST(SameCalls, ComparesKindsAndSteps) {
  EXPECT_TRUE(SameCalls(Steps(0, 3, 4), Steps(0, 3, 4, 999)));
  EXPECT_FALSE(SameCalls(Steps(0, 3, 4), Steps(1, 3, 4))) << "other steps";
  EXPECT_FALSE(SameCalls(Steps(0, 3, 4), Steps(0, 4, 4)));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
