#include "trace/import/host/json_scan.h"

#include <simdjson.h>

#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

constexpr size_t kEnd = absl::string_view::npos;

TEST(SkipValue, FindsTheEndOfEachKind) {
  const struct {
    const char* text;
    size_t end;
  } kCases[] = {
      {"12,", 2},
      {"true]", 4},
      {R"("a\"b\\" ,)", 8},
      {R"("\\\\",)", 6},
      {R"({"a": [1, "]}"], "b": {}}, 2)", 25},
      {"[[], [[1]]]]", 11},
      {"", kEnd},
      {"12", kEnd},
      {R"("abc)", kEnd},
      {R"("abc\")", kEnd},
      {R"({"a": "})", kEnd},
      {"[[1]", kEnd},
  };
  for (const auto& c : kCases) EXPECT_EQ(SkipValue(c.text, 0), c.end) << c.text;
}

TEST(FieldScan, GivesTheTextOfEachField) {
  FieldScan scan(R"( {"a" : [1, 2] ,"b":"x,}", "c":{"d": 1}, "e": -1.5e3 } )");
  EXPECT_EQ(scan.Next(), "[1, 2]");
  EXPECT_EQ(scan.Next(), R"("x,}")");
  EXPECT_EQ(scan.Next(), R"({"d": 1})");
  EXPECT_EQ(scan.Next(), "-1.5e3");
}

TEST(CutValue, StaysValidAtEveryLength) {
  const std::string value = R"([[1, 22, 333], {"k": ["a]\"", {"z": []}]}, "text, [", 5, [[], [6]]])";
  EXPECT_EQ(CutValue(value, value.size()), value);
  simdjson::dom::parser parser;
  size_t longest = 0;
  for (size_t limit = 8; limit < value.size(); ++limit) {
    const std::string cut = CutValue(value, limit);
    EXPECT_LE(cut.size(), limit) << cut;
    simdjson::dom::element e;
    EXPECT_EQ(parser.parse(cut).get(e), simdjson::SUCCESS) << cut;
    longest = std::max(longest, cut.size());
  }
  EXPECT_GT(longest, value.size() / 2);
  EXPECT_EQ(CutValue("[11, 22, 33, 44]", 10), "[11, 22]");
}

TEST(QuoteNonNumbers, QuotesOnlyNonNumbersOutsideStrings) {
  EXPECT_EQ(QuoteNonNumbers(R"([nan, -inf, Infinity, 1e5, "nan", true, null])"),
            R"(["nan", "-inf", "Infinity", 1e5, "nan", true, null])");
  EXPECT_EQ(QuoteNonNumbers(R"({"inf": [1, -2]})"), "");
  EXPECT_EQ(QuoteNonNumbers("[info]"), "");
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
