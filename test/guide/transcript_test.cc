#include "test/guide/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chakra::guide::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using Lines = std::vector<std::string>;

TEST(Transcript, FindsCommandsOfFencedBlocks) {
  const Lines page = SplitLines(
      "$ not in a block\n```console\n$ one \\\n    two\nout\n\nmore\n$ silent\n```\ntext\n```\nno "
      "command\n```\n");
  const std::vector<Step> steps = FindSteps(page);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].line, 3u);
  EXPECT_EQ(steps[0].command, "one \\\n    two");
  EXPECT_THAT(Lines(page.begin() + 4, page.begin() + 7), ElementsAre("out", "", "more"));
  EXPECT_EQ(steps[0].begin, 4u);
  EXPECT_EQ(steps[0].end, 7u);
  EXPECT_EQ(steps[1].command, "silent");
  EXPECT_EQ(steps[1].begin, steps[1].end);
}

TEST(Transcript, OutputIsComparedExactly) {
  EXPECT_TRUE(Shows({"a", "b"}, {"a", "b"}));
  EXPECT_TRUE(Shows({"a", ""}, {"a"}));
  EXPECT_TRUE(Shows({}, {}));
  EXPECT_FALSE(Shows({"a", "b"}, {"a", "c"}));
  EXPECT_FALSE(Shows({"a"}, {"a", "b"}));
  EXPECT_FALSE(Shows({"a "}, {"a"}));
  EXPECT_FALSE(Shows({}, {"a"}));
}

TEST(Transcript, DotsStandForAnyNumberOfLines) {
  EXPECT_TRUE(Shows({"a", "...", "d"}, {"a", "b", "c", "d"}));
  EXPECT_TRUE(Shows({"a", "...", "d"}, {"a", "d"}));
  EXPECT_TRUE(Shows({"..."}, {}));
  EXPECT_TRUE(Shows({"..."}, {"a", "b"}));
  EXPECT_TRUE(Shows({"...", "b", "c", "..."}, {"a", "b", "b", "c", "d"}));
  EXPECT_TRUE(Shows({"...", "b", "...", "b"}, {"b", "b"}));
  EXPECT_FALSE(Shows({"...", "b", "...", "b"}, {"b"}));
  EXPECT_FALSE(Shows({"a", "...", "d"}, {"a", "b", "c"}));
  EXPECT_FALSE(Shows({"a", "...", "d"}, {"b", "a", "d"}));
  EXPECT_FALSE(Shows({"...", "x", "..."}, {"a", "b"}));
  EXPECT_FALSE(Shows({"a", "...", "a"}, {"a"}));
}

TEST(Transcript, RenewedKeepsOmittedLines) {
  EXPECT_THAT(Renewed({"a 1"}, {"a 2", "b", ""}), ElementsAre("a 2", "b"));
  EXPECT_THAT(Renewed({"a 1", "...", "d 4"}, {"a 2", "b", "c", "d 5"}), ElementsAre("a 2", "...", "d 5"));
  EXPECT_THAT(Renewed({"...", "c 4", "..."}, {"a 2", "b", "c 5", "d"}), ElementsAre("...", "c 5", "..."));
  const Lines shown = {"a", "...", "c", "d", "..."}, printed = {"a", "b", "c", "d", "e"};
  EXPECT_TRUE(Shows(shown, printed));
  EXPECT_EQ(Renewed(shown, printed), shown);
}

}  // namespace
}  // namespace chakra::guide::CHAKRA_FILE
