#include "trace/import/kineto/kineto_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace chakra::pytorch::kineto::CHAKRA_FILE {
namespace {

int64_t Nanos(absl::string_view token) {
  int64_t ns = -77;
  return ToNanos(token, &ns) ? ns : std::numeric_limits<int64_t>::min();
}
constexpr int64_t kBad = std::numeric_limits<int64_t>::min();

TEST(ToNanos, IsExact) {
  EXPECT_EQ(Nanos("0"), 0);
  EXPECT_EQ(Nanos("1694128201435418"), 1694128201435418000);  // 16 digits, whole
  EXPECT_EQ(Nanos("4458676522690.655"), 4458676522690655);
  EXPECT_EQ(Nanos("1712195495519689.0"), 1712195495519689000);
  EXPECT_EQ(Nanos("1712195495519695.123"), 1712195495519695123);  // a double has lost the last digit
  EXPECT_EQ(Nanos("9007199254740993.001"), 9007199254740993001);  // 2^53 + 1
  EXPECT_EQ(Nanos("0.5"), 500);
  EXPECT_EQ(Nanos("-1.25"), -1250);
}

TEST(ToNanos, RoundsBeyondTheNanosecond) {
  EXPECT_EQ(Nanos("1.2344"), 1234);
  EXPECT_EQ(Nanos("1.2345"), 1235);
  EXPECT_EQ(Nanos("-1.2345"), -1235);
  EXPECT_EQ(Nanos("0.0004999999999999999999999999999"), 0);
  EXPECT_EQ(Nanos("0.99999"), 1000);
}

TEST(ToNanos, KnowsExponents) {
  EXPECT_EQ(Nanos("1.694128201435418e15"), 1694128201435418000);
  EXPECT_EQ(Nanos("1e-3"), 1);
  EXPECT_EQ(Nanos("12E+2"), 1200000);
  EXPECT_EQ(Nanos("1e-400"), 0);
}

TEST(ToNanos, RefusesTextThatIsNoNumber) {
  for (const char* t :
       {"", "-", ".", "NaN", "Infinity", "-Infinity", "nan", "null", "true", "\"5\"", "1x", "1.2.3", "1e",
        "1e+", "9223372036854775.808", "99999999999999999999", "1e300", "[1]"}) {
    EXPECT_EQ(Nanos(t), kBad) << t;
  }
  EXPECT_EQ(Nanos("9223372036854775.807"), std::numeric_limits<int64_t>::max());
}

TEST(ToInteger, TakesNumbersAndQuotedNumbers) {
  int64_t v = 0;
  EXPECT_TRUE(ToInteger("-12", &v) && v == -12);
  EXPECT_TRUE(ToInteger("\"2560\"", &v) && v == 2560);
  EXPECT_TRUE(ToInteger("\"0x7fDA0e81\"", &v) && v == 0x7fda0e81);
  EXPECT_TRUE(ToInteger("7.0", &v) && v == 7);
  EXPECT_TRUE(ToInteger("18446744073709551615", &v) && v == -1);
  EXPECT_TRUE(ToInteger("-9223372036854775808", &v) && v == std::numeric_limits<int64_t>::min());
  for (const char* t : {"", "\"\"", "7.5", "\"x\"", "true", "18446744073709551616", "-9223372036854775809",
                        "\"0x\"", "[1]"}) {
    EXPECT_FALSE(ToInteger(t, &v)) << t;
  }
}

std::string Text(absl::string_view token, uint64_t* bad) {
  std::string scratch;
  absl::string_view out;
  return ToText(token, &scratch, &out, bad) ? std::string(out) : "(no text)";
}

TEST(ToText, UnescapesText) {
  uint64_t bad = 0;
  EXPECT_EQ(Text("\"aten::mm\"", &bad), "aten::mm");
  EXPECT_EQ(Text(R"("a\"b\\c\/\n\t")", &bad), "a\"b\\c/\n\t");
  EXPECT_EQ(Text(R"("\u00e9\u20ac\ud83d\ude00")", &bad), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(Text(R"("\ud83d!")", &bad), "\xef\xbf\xbd!");  // half of a pair
  EXPECT_EQ(Text(R"("C:\models\u12")", &bad), R"(C:\models\u12)");
  EXPECT_EQ(bad, 2u);
  EXPECT_EQ(Text("7", &bad), "(no text)");
}

TEST(ToIntegers, TakesListsAndQuotedLists) {
  std::vector<int64_t> v;
  bool cut = false;
  EXPECT_TRUE(ToIntegers("\"[0, 1, 7]\"", &v, &cut));
  EXPECT_EQ(v, (std::vector<int64_t>{0, 1, 7}));
  EXPECT_FALSE(cut);
  EXPECT_TRUE(ToIntegers("[ 3 ]", &v, &cut) && v == std::vector<int64_t>{3});
  EXPECT_TRUE(ToIntegers("\"[]\"", &v, &cut) && v.empty() && !cut);
  EXPECT_TRUE(ToIntegers("\"[0, 1, ..., 63]\"", &v, &cut) && cut);
  for (const char* t : {"", "\"\"", "5", "\"0, 1\"", "[1, x]", "[1,,2]", "[1"})
    EXPECT_FALSE(ToIntegers(t, &v, &cut)) << t;
}

TEST(WithoutLayout, DropsLineBreaksAndIndentation) {
  std::string scratch;
  EXPECT_EQ(WithoutLayout("[[8, 4], []]", &scratch), "[[8, 4], []]");
  EXPECT_EQ(WithoutLayout("[\n  [\n    8,\n    4\n  ],\n  \"a \\\" b\"\n]", &scratch),
            "[[8,4],\"a \\\" b\"]");
}

}  // namespace
}  // namespace chakra::pytorch::kineto::CHAKRA_FILE
