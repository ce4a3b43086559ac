#include "trace/io/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chakra {
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

TEST(Csv, FieldsAsTheyAre) {
  const auto rows = ReadAllOf(
      "\xef\xbb\xbf"
      "a, b ,\"c,\"\"d\"\"\ne\"\r\n\n  \nx,,\r\n",
      CsvReader::Fields::kAsTheyAre);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, ElementsAre(ElementsAre("a", " b ", "c,\"d\"\ne"), ElementsAre("x", "", "")));
}

TEST(Csv, FieldsTrimmed) {
  const auto rows = ReadAllOf(" a\t, \" b\" ,c d \r\n", CsvReader::Fields::kTrimmed);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, ElementsAre(ElementsAre("a", " b", "c d")));
}

TEST(Csv, SaysWhere) {
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

TEST(Csv, WhatIsWrittenIsRead) {
  for (const char* text : {"", "plain", "a,b", "a\"b", "a\nb", "\r", " blanks "}) {
    const auto rows = ReadAllOf(CsvField(text) + ",x\n", CsvReader::Fields::kAsTheyAre);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_THAT(*rows, ElementsAre(ElementsAre(text, "x")));
  }
}

}  // namespace
}  // namespace chakra
