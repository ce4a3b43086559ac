#include "test/guide/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/guide/transcript.h"

namespace chakra::guide::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const char kPage[] =
    "# Title\n\nNo figures.\n\n<!-- figures\n$ one\n$ two \\\n    more\n-->\nIt takes 3 ms,\nor 4.5 % "
    "more.\n\n"
    "```console\n$ not prose, 7 ms\n```\n<!-- given: elsewhere -->\n- 9 %\n- 1 s\n";

TEST(Figures, BelongToTheParagraphAfterThem) {
  const std::vector<std::string> page = SplitLines(kPage);
  const std::vector<Paragraph> paragraphs = FindParagraphs(page);
  ASSERT_EQ(paragraphs.size(), 4u);
  EXPECT_THAT(paragraphs[1].commands, IsEmpty());
  EXPECT_THAT(paragraphs[2].commands, ElementsAre("one", "two \\\n    more"));
  EXPECT_EQ(TextOf(page, paragraphs[2]), "It takes 3 ms, or 4.5 % more.");
  EXPECT_FALSE(paragraphs[2].given);
  EXPECT_TRUE(paragraphs[3].given);
  EXPECT_EQ(TextOf(page, paragraphs[3]), "- 9 % - 1 s");
}

TEST(Figures, NumbersAreRenewedWhereTheyStand) {
  std::vector<std::string> page = SplitLines(kPage);
  const Paragraph paragraph = FindParagraphs(page)[2];
  EXPECT_TRUE(Renew("3.25 ms, or 12,000 % more", paragraph, &page));
  EXPECT_EQ(page[paragraph.begin], "It takes 3.25 ms,");
  EXPECT_EQ(page[paragraph.begin + 1], "or 12,000 % more.");
  EXPECT_FALSE(Renew("5 s", paragraph, &page));  // no such place
  EXPECT_FALSE(Renew("no number", paragraph, &page));
}

TEST(Figures, QuantitiesAreNumbersWithUnitsOutsideOfCode) {
  EXPECT_THAT(QuantitiesOf("From 1.5 ms to 2,048 us (4.5 %, 1.8 times), `3 ms`, H100 80 GB, 3.5, v2 ms5 s."),
              ElementsAre("1.5 ms", "2,048 us", "4.5 %", "1.8 times"));
}

}  // namespace
}  // namespace chakra::guide::CHAKRA_FILE
