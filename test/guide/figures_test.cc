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
    "```console\n$ not prose, 7 ms\n```\n<!-- given: a.md; b.csv: c -->\n- 9 %\n- 1 s\n\n"
    "<!-- stated: 2 s,\n7 x; a limit -->\n<!-- given: linked pages -->\n2 s\n";

TEST(Figures, BelongToTheParagraphAfterThem) {
  const std::vector<std::string> page = SplitLines(kPage);
  const std::vector<Paragraph> paragraphs = FindParagraphs(page);
  ASSERT_EQ(paragraphs.size(), 5u);
  EXPECT_THAT(paragraphs[1].commands, IsEmpty());
  EXPECT_THAT(paragraphs[2].commands, ElementsAre("one", "two \\\n    more"));
  EXPECT_EQ(TextOf(page, paragraphs[2]), "It takes 3 ms, or 4.5 % more.");
  EXPECT_THAT(paragraphs[2].given, IsEmpty());
  EXPECT_THAT(paragraphs[3].given, ElementsAre("a.md", "b.csv: c"));
  EXPECT_EQ(TextOf(page, paragraphs[3]), "- 9 % - 1 s");
  EXPECT_FALSE(paragraphs[3].linked);
  EXPECT_TRUE(paragraphs[4].linked);
  EXPECT_TRUE(Has(paragraphs[4].stated, "7 x"));
  EXPECT_FALSE(Has(paragraphs[4].stated, "8 x"));
}

TEST(Figures, RenewReplacesNumbersInPlace) {
  std::vector<std::string> page = SplitLines(kPage);
  const Paragraph paragraph = FindParagraphs(page)[2];
  EXPECT_TRUE(Renew("3.25 ms, or 12,000 % more", paragraph, &page));
  EXPECT_EQ(page[paragraph.begin], "It takes 3.25 ms,");
  EXPECT_EQ(page[paragraph.begin + 1], "or 12,000 % more.");
  EXPECT_FALSE(Renew("5 s", paragraph, &page));  // no such place
  EXPECT_FALSE(Renew("no number", paragraph, &page));
}

TEST(Figures, FindsQuantitiesOutsideOfCode) {
  EXPECT_THAT(
      QuantitiesOf(
          "From 1.5 ms to 2,048 us (4.5 %, 1.8 times), `3 ms`, H100 80 GB, 3.5, v2 ms5 s, 2 to 3 kg."),
      ElementsAre("1.5 ms", "2,048 us", "4.5 %", "1.8 times", "80 GB", "2 kg", "3 kg"));
  EXPECT_THAT(NumbersOf("| [a 7](b9.md) | H100, `5` | 1,848 | 4.5 % | 3 to 4 % |"),
              ElementsAre("1,848", "4.5 %", "3", "4 %"));
}

TEST(Figures, MatchesNumbersAndUnits) {
  EXPECT_TRUE(Has("a 32MiB b", "32 MiB"));
  EXPECT_FALSE(Has("a 132MiB b", "32 MiB"));
  EXPECT_FALSE(Has("3 msec", "3 ms"));
  EXPECT_TRUE(GivenBy("off by 4.46 %.", "4.5 %"));
  EXPECT_FALSE(GivenBy("off by 4.44 %.", "4.5 %"));
  EXPECT_TRUE(GivenBy("| 1848 | 35 |", "1,848"));
  EXPECT_TRUE(GivenBy("| 1848 | 35 |", "35 %"));
  EXPECT_FALSE(GivenBy("| 1848 | 5 |", "5 %"));
  EXPECT_FALSE(GivenBy("H100", "100"));
}

}  // namespace
}  // namespace chakra::guide::CHAKRA_FILE
