// Text that is nearly JSON, and the mended JSON.
#include "trace/io/json_mend.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trace/io/json_value.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// The mended text and, behind " | ", "kind count" of each fault.
std::string Mended(const std::string& text) {
  const auto mended = MendJson(text, "f.json");
  if (!mended.ok()) return std::string(mended.status().message());
  EXPECT_TRUE(ParseJson(mended->text, "mended").ok()) << mended->text;
  return absl::StrCat(mended->text, " | ",
                      absl::StrJoin(mended->faults, ", ", [](std::string* s, const JsonFault& f) {
                        absl::StrAppend(s, f.kind, " ", f.count);
                      }));
}

TEST(MendJson, LeavesValidJson) {
  for (const char* text : {"{}", "[1, -2.5e3, true, null, \"a\\\"b\\u00e9\"]",
                           "{\"a\": [{\"b\": {}}, {\"b\": 1}]}", "[{\"a\": 1}, {\"a\": 2}]\n"}) {
    EXPECT_EQ(Mended(text), absl::StrCat(text, " | "));
  }
}

TEST(MendJson, MendsCommas) {
  EXPECT_EQ(Mended("[1, 2, ]"), "[1, 2  ] | json_superfluous_comma 1");
  EXPECT_EQ(Mended("{\"a\": 1,}"), "{\"a\": 1 } | json_superfluous_comma 1");
  EXPECT_EQ(Mended("[{\"a\": 1,}, {\"a\": 2}]"), "[{\"a\": 1 }, {\"a\": 2}] | json_superfluous_comma 1");
  EXPECT_EQ(Mended("[1,, 2]"), "[1,  2] | json_superfluous_comma 1");
  EXPECT_EQ(Mended("{\"a\": 1\n\"b\": 2}"), "{\"a\": 1\n,\"b\": 2} | json_missing_comma 1");
  EXPECT_EQ(Mended("[{\"a\": 1} {\"a\": 2}]"), "[{\"a\": 1} ,{\"a\": 2}] | json_missing_comma 1");
  EXPECT_EQ(Mended("{\"a\": \"x\"\n \"b\": \"y\"}"), "{\"a\": \"x\"\n ,\"b\": \"y\"} | json_missing_comma 1");
}

TEST(MendJson, QuotesBareWords) {
  EXPECT_EQ(Mended("{\"t\": ncclFloat32, \"s\": 0x12}"),
            "{\"t\": \"ncclFloat32\", \"s\": \"0x12\"} | json_bare_word 2");
  EXPECT_EQ(Mended("{key: 1}"), "{\"key\": 1} | json_bare_word 1");
  EXPECT_EQ(Mended("[nan, 01, +1, .5]"), "[\"nan\", \"01\", \"+1\", \".5\"] | json_bare_word 4");
}

TEST(MendJson, EscapesQuotesInStrings) {
  const auto quotes = [](const std::string& inner, const std::string& mended) {
    // Next to valid elements, whose keys are then known.
    const std::string before = "[{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1}, ",
                      after = ", {\"ph\": \"X\", \"name\": \"z\", \"pid\": 1}]";
    EXPECT_EQ(Mended(absl::StrCat(before, "{\"ph\": \"X\", \"name\": \"", inner, "\", \"pid\": 1}", after)),
              absl::StrCat(before, "{\"ph\": \"X\", \"name\": \"", mended, "\", \"pid\": 1}", after,
                           " | json_unescaped_quote 1"));
    EXPECT_EQ(Mended(absl::StrCat(before, "{\"ph\": \"X\", \"pid\": 1, \"name\": \"", inner, "\"}", after)),
              absl::StrCat(before, "{\"ph\": \"X\", \"pid\": 1, \"name\": \"", mended, "\"}", after,
                           " | json_unescaped_quote 1"))
        << "as the last member";
  };
  quotes("f(\"a\")", "f(\\\"a\\\")");
  quotes("run({\"a\": \"b\"})", "run({\\\"a\\\": \\\"b\\\"})");
  quotes("f({\"a\": \"b\"}, {\"c\": \"d\"})", "f({\\\"a\\\": \\\"b\\\"}, {\\\"c\\\": \\\"d\\\"})");
  quotes("f([\"a\", \"b\"], \"c\")", "f([\\\"a\\\", \\\"b\\\"], \\\"c\\\")");
  quotes("{\"a\": \"b\", \"c\": 1}", "{\\\"a\\\": \\\"b\\\", \\\"c\\\": 1}");
  quotes("5\" disk", "5\\\" disk");
  quotes("\"quoted\" name", "\\\"quoted\\\" name");
  quotes("say \"hi\", \"there\"", "say \\\"hi\\\", \\\"there\\\"");
}

TEST(MendJson, MendsEscapesAndControlCharacters) {
  EXPECT_EQ(Mended("{\"a\": \"C:\\users\\x\"}"), "{\"a\": \"C:\\\\users\\\\x\"} | json_bad_escape 2");
  EXPECT_EQ(Mended("{\"a\": \"x\ty\"}"), "{\"a\": \"x y\"} | json_control_character 1");
}

TEST(MendJson, MendsTruncatedTextUpToItsEnd) {
  const auto mended = MendJson("[{\"a\": x}, {\"a\": \"y", "f.json");
  ASSERT_TRUE(mended.ok()) << mended.status();
  EXPECT_EQ(mended->text, "[{\"a\": \"x\"}, {\"a\": \"y");
}

TEST(MendJson, NamesTheByteThatCannotBeMended) {
  EXPECT_THAT(Mended("{\"a\" 1}"), HasSubstr("f.json:1:6 (byte 5)"));
  EXPECT_THAT(Mended("[{\"ts\" 5, \"dur\": 1}]"), HasSubstr("(byte 7)"));
  EXPECT_THAT(Mended("[1, 2}"), HasSubstr("f.json:1:6 (byte 5)"));
}

TEST(MendJson, MendsManyFaultsInLinearTime) {
  std::string text = "[";
  for (int i = 0; i < 20000; ++i)
    absl::StrAppend(&text, i > 0 ? ",\n" : "", "{\"type\": word, \"name\": \"f(\"x\", \"y\")\"}");
  const auto mended = MendJson(text + "]", "f.json");
  ASSERT_TRUE(mended.ok()) << mended.status();
  EXPECT_EQ(mended->faults.size(), 2u);
  for (const JsonFault& fault : mended->faults) EXPECT_EQ(fault.count, 20000u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
