#include "test/validation/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chakra::validation::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

MeasuredSplit SplitAt(const char* name, double sequences, double measured, double predicted) {
  MeasuredSplit row;
  row.group = "g";
  row.dataset = "d";
  row.split = name;
  row.sequences = sequences;
  row.measured_s = measured;
  row.predicted_s = predicted;
  return row;
}

TEST(Choices, CountsLossPairsAndTheFirstThree) {
  // By sequence a takes 1, b 1.01, c 1.2, d 2; predicted b, a, d, c.
  const auto choices = ChoicesOf(
      {SplitAt("a", 2, 2, 1.2), SplitAt("b", 1, 1.01, 0.5), SplitAt("c", 1, 1.2, 3), SplitAt("d", 4, 8, 8)});
  ASSERT_EQ(choices.size(), 1u);
  const Choice& c = choices[0];
  EXPECT_EQ(c.splits, 4u);
  EXPECT_EQ(c.measured_best, "a");
  EXPECT_EQ(c.predicted_best, "b");
  EXPECT_NEAR(c.regret, 0.01, 1e-12);
  EXPECT_EQ(c.pairs, 5u);  // a and b are within the noise
  EXPECT_EQ(c.pairs_right, 4u);
  EXPECT_TRUE(c.three);
  const auto summary = SummarizeChoices(choices);
  ASSERT_EQ(summary.size(), 1u);
  EXPECT_EQ(summary[0].best, 1u);
  EXPECT_NEAR(summary[0].pairs_right, 0.8, 1e-12);
  EXPECT_THAT(ChoicesMarkdown(choices), HasSubstr("| d | 1 | 4 | 1 | 1 | 1.0 % | 1.0 % | 80.0 % |"));
  EXPECT_THAT(ChoicesCsv(choices), HasSubstr("\"d\",\"g\",4,\"a\",\"b\",0.010,yes,5,4\n"));
}

TEST(Choices, IgnoresGroupsOfTwo) {
  EXPECT_TRUE(ChoicesOf({SplitAt("a", 1, 1, 1), SplitAt("b", 1, 2, 2)}).empty());
}

}  // namespace
}  // namespace chakra::validation::CHAKRA_FILE
