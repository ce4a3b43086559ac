// Texts of users, as the program prints them.
#include "trace/base/printable.h"

#include <gtest/gtest.h>

#include "proto/edit.pb.h"
#include "trace/base/text_page.h"
#include "trace/base/text_table.h"
#include "trace/io/printable_message.h"

namespace chakra::CHAKRA_FILE {
namespace {

TEST(Printable, EscapesTerminalCommands) {
  EXPECT_EQ(Printable("\x1b]0;owned\x07\x1b[31m"), "\\x1b]0;owned\\x07\\x1b[31m");
  EXPECT_EQ(Printable("a\r\nchakra-replay: done\t."), "a\\r\\nchakra-replay: done\\t.");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(Printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "txt.exe"),
            "\\u202etxt.exe");
  EXPECT_EQ(Printable("\xe2\x81\xa6\xef\xbb\xbf\x7f"), "\\u2066\\ufeff\\x7f");
  EXPECT_EQ(Printable(absl::string_view("\0", 1)), "\\x00");
}

TEST(Printable, LeavesOtherText) {
  for (const char* text :
       {"", "void at::native<float>(\\n)", "gro\xc3\x9f", "\xe7\x9f\xa9\xe9\x98\xb5", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(Printable(text), text);
    EXPECT_EQ(PrintableLines(text), text);
  }
  EXPECT_EQ(PrintableLines("a\n\tb\r"), "a\n\tb\\r");
}

TEST(Printable, TablesAndPagesEscapeCommands) {
  TextTable table({"name", "n"}, {true, false});
  table.Add({"x\n  y\x1b[2J", "1"});
  EXPECT_EQ(table.Print(), "  name           n\n  x\\n  y\\x1b[2J  1\n");
  EXPECT_EQ(TextPage().Finish("a\x1b"
                              "b\n"),
            "a\\x1bb\n");
  EXPECT_EQ(TextPage(80, true).Finish("a\x1b"
                                      "b\n"),
            "a\\x1bb\n");
}

TEST(Printable, EscapesAllTextsOfAMessage) {
  proto::EditReport report;
  report.set_script("a\n");
  report.add_outcome()->add_note("b\x1b");
  report.add_outcome()->set_edit("c");
  const proto::EditReport copy = PrintableCopy(report);
  EXPECT_EQ(copy.script(), "a\\n");
  EXPECT_EQ(copy.outcome(0).note(0), "b\\x1b");
  EXPECT_EQ(copy.outcome(1).edit(), "c");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
