#include "trace/io/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

using Records = std::vector<std::vector<std::string>>;

absl::StatusOr<Records> ReadAllOf(absl::string_view text, CsvReader::Fields kind) {
  CsvReader csv(text, "f.csv", kind);
  Records out;
  std::vector<std::string> fields;
  for (;;) {
    const absl::StatusOr<bool> more = csv.Next(&fields);
    if (!more.ok()) return more.status();
    if (!*more) return out;
    out.push_back(fields);
  }
}

TEST(Csv, ReadsFieldsUntrimmed) {
  const auto rows = ReadAllOf(
      "\xef\xbb\xbf"
      "a, b ,\"c,\"\"d\"\"\ne\"\r\n\n  \nx,,\r\n",
      CsvReader::Fields::kAsTheyAre);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, ElementsAre(ElementsAre("a", " b ", "c,\"d\"\ne"), ElementsAre("x", "", "")));
}

TEST(Csv, ReadsFieldsTrimmed) {
  const auto rows = ReadAllOf(" a\t, \" b\" ,c d \r\n", CsvReader::Fields::kTrimmed);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, ElementsAre(ElementsAre("a", " b", "c d")));
}

TEST(Csv, ReportsLines) {
  CsvReader csv("a\n\"b\nc\"\nd", "f.csv");
  std::vector<std::string> fields;
  for (const size_t line : {1, 2, 4}) {
    ASSERT_TRUE(*csv.Next(&fields));
    EXPECT_EQ(csv.line(), line);
    EXPECT_EQ(csv.whole(), line != 4);
  }
  EXPECT_EQ(csv.where(), "f.csv:4");
  EXPECT_FALSE(*csv.Next(&fields));
  for (const auto kind : {CsvReader::Fields::kAsTheyAre, CsvReader::Fields::kTrimmed}) {
    EXPECT_EQ(ReadAllOf("a\n\"b\"c\n", kind).status().message(),
              "f.csv:2: text after a closing quote; expected ',' or the end of the line");
  }
  EXPECT_EQ(ReadAllOf("\"a\nb", CsvReader::Fields::kAsTheyAre).status().message(),
            "f.csv:1: a quote that is not closed");
  EXPECT_EQ(ReadAllOf("\"a\nb\"", CsvReader::Fields::kTrimmed).status().message(),
            "f.csv:1: expected the quote to be closed on its line");
}

TEST(Csv, WrittenFieldsReadBack) {
  for (const char* text : {"", "plain", "a,b", "a\"b", "a\nb", "\r", " blanks "}) {
    const auto rows = ReadAllOf(CsvAsItIs(text) + ",x\n", CsvReader::Fields::kAsTheyAre);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_THAT(*rows, ElementsAre(ElementsAre(text, "x")));
  }
}

TEST(Csv, EscapesFormulasAndControlCharacters) {
  EXPECT_EQ(CsvField("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
  EXPECT_EQ(CsvField("@sum"), "'@sum");
  EXPECT_EQ(CsvField("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  for (const char* number : {"-1.5", "+3e-6", "-0", "-inf", "-", "+"}) EXPECT_EQ(CsvField(number), number);
  EXPECT_EQ(CsvField("a\nb\x1b[2J"), "a\\nb\\x1b[2J");
}

TEST(Csv, NamesLikeFormulasReadBack) {
  for (const char* name : {"=a", "-b", "'", "'=a", "''x", "'x", "-5", "", "plain"})
    EXPECT_EQ(CsvNameOf(CsvNamed(name)), name);
  EXPECT_EQ(CsvNamed("-b"), "'-b");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
