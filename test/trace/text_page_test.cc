#include "trace/base/text_page.h"

#include <gmock/gmock.h>

#include "absl/strings/str_split.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("gemm"), 4u);
  EXPECT_EQ(DisplayWidth("gemü"), 4u);
  EXPECT_EQ(DisplayWidth("\u6f22\u5b57"), 4u);  // two Han characters
  EXPECT_EQ(DisplayWidth("\uff21"), 2u);        // a full-width letter
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);       // an accent of its own
  EXPECT_EQ(DisplayWidth("\U0001f600"), 2u);    // beyond 16 bits
  EXPECT_EQ(DisplayWidth("a\xff\x80z"), 4u);    // not UTF-8
  EXPECT_EQ(DisplayWidth("a\x1b[31m"), 6u);     // no command reaches the terminal
  EXPECT_EQ(DisplayWidth(std::string("\0", 1)), 1u);
}

TEST(TextPage, LeavesTextForFilesWhole) {
  const std::string text = std::string(500, 'x') + "  a\n\n tail without newline";
  TextPage page;
  page.NoteShortened("name");
  EXPECT_FALSE(page.limited());
  EXPECT_EQ(page.Finish(text), text);
  EXPECT_EQ(page.Finish("\x1b[31mred"), "\\x1b[31mred");
}

TEST(TextPage, ShortensInTheMiddle) {
  const TextPage dots(80, false), unicode(80, true);
  EXPECT_EQ(dots.Fit("ncclDevKernel_AllReduce", 23), "ncclDevKernel_AllReduce");
  EXPECT_EQ(dots.Fit("ncclDevKernel_AllReduce", 12), "nccl...educe");
  EXPECT_EQ(unicode.Fit("ncclDevKernel_AllReduce", 12), "ncclD\u2026Reduce");
  EXPECT_EQ(dots.Fit("a\x1b[31mb\xff", 80), "a?[31mb?");
}

TEST(TextPage, NeverExceedsTheWidthNorCutsACharacter) {
  const std::string texts[] = {
      "\u6f22\u5b57\u304b\u306a\u6df7\u3058\u308a\u6587\u306e\u540d\u524d",
      "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301",
      "a\u6f22b\u5b57c\u304bd\u306ae\u6df7f", "plain text of some length"};
  for (const std::string& text : texts) {
    for (size_t width = 4; width <= 30; ++width) {
      for (const bool utf8 : {false, true}) {
        const std::string fit = TextPage(80, utf8).Fit(text, width);
        EXPECT_LE(DisplayWidth(fit), width) << fit;
        EXPECT_EQ(fit == text, DisplayWidth(text) <= width) << fit;
        EXPECT_GE(DisplayWidth(fit) + 2, std::min(width, DisplayWidth(text))) << fit;  // two wide halves
        EXPECT_EQ(fit.find('?'), fit.npos) << fit;
      }
    }
  }
}

TEST(TextPage, BreaksAndIndentsLines) {
  const TextPage page(40, true);
  EXPECT_EQ(page.Finish("  replay   comm simulated, fabric analytical, lanes recorded\n"),
            "  replay   comm simulated, fabric\n           analytical, lanes recorded\n");
  EXPECT_EQ(page.Finish("bound by computation: 61.3 % of rank 0, which ends last at 38.15 ms\n"),
            "bound by computation: 61.3 % of rank 0,\n  which ends last at 38.15 ms\n");
  EXPECT_EQ(page.Finish("# all_reduce on 16 ranks of dgx-h100, fabric analytical\n"),
            "# all_reduce on 16 ranks of dgx-h100,\n# fabric analytical\n");
  EXPECT_EQ(page.Finish("short\n\nlines stay\n"), "short\n\nlines stay\n");
  EXPECT_EQ(page.Finish("no newline"), "no newline");
  const std::string path = "/" + std::string(60, 'p');
  EXPECT_EQ(page.Finish("written: " + path + " and more\n"), "written:\n  " + path + "\n  and more\n");
}

TEST(TextPage, NamesShortenedColumnsOnce) {
  TextPage page(60, false);
  page.NoteShortened("kind");
  page.NoteShortened("group");
  page.NoteShortened("kind");
  const std::string out = page.Finish("text\n");
  EXPECT_THAT(out, StartsWith("text\n\nShortened to fit 60 columns: group, kind"));
  EXPECT_THAT(out, EndsWith("(whole with \"|cat\")\n"));
  for (const absl::string_view line : absl::StrSplit(out, '\n')) EXPECT_LE(line.size(), 60u) << line;
}

TEST(TextPage, WidthIsAtLeastTwenty) {
  EXPECT_EQ(TextPage(1, true).width(), 20u);
  EXPECT_EQ(TextPage(0, true).width(), 20u);
  EXPECT_TRUE(TextPage(0, true).limited());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
