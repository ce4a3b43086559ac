// Lines that differ from an earlier line only in their numbers.
#include "trace/import/collective_logs/line_template.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "trace/base/splitmix.h"

namespace chakra::collective_logs::CHAKRA_FILE {
namespace {

int RoleOfNumber(absl::string_view path) {
  return path == "a" ? 0 : path == "skip" ? LineTemplate::kIgnored : LineTemplate::kFixed;
}

// The number "a" of the line; nothing if the line does not fit.
std::optional<int64_t> Read(const LineTemplate& like, absl::string_view line) {
  int64_t value = -1;
  size_t length = 0;
  if (!like.Fits(line, &value, &length)) return std::nullopt;
  EXPECT_LE(length, line.size());
  return value;
}

TEST(LineTemplate, ReadsIntegersOfAllLengths) {
  const auto like = LineTemplate::Of(R"({"a":1,"text":"with some length","skip":1.5})", RoleOfNumber);
  ASSERT_TRUE(like.has_value());
  const auto line = [](absl::string_view a, absl::string_view skip) {
    return absl::StrCat("{\"a\":", a, ",\"text\":\"with some length\",\"skip\":", skip, "}");
  };
  for (int digits = 1; digits <= 21; ++digits) {
    for (uint64_t i = 0; i < 50; ++i) {
      std::string a;
      for (int d = 0; d < digits; ++d)
        a += static_cast<char>('0' + SplitMix(1000 * i + static_cast<uint64_t>(d)) % 10);
      const bool good = digits <= 18 && (digits == 1 || a[0] != '0');
      const std::optional<int64_t> value = Read(*like, line(a, "7"));
      ASSERT_EQ(value.has_value(), good) << a;
      if (good) {
        EXPECT_EQ(*value, std::stoll(a));
      }
      EXPECT_EQ(Read(*like, line("3", absl::StrCat(a, ".", a))).has_value(), digits == 1 || a[0] != '0') << a;
    }
  }
  for (const char* bad : {"", "-1", "1.5", "01", "1e5", "x", ":", "/", "12345678:", "1234567/", "12x45678"})
    EXPECT_FALSE(Read(*like, line(bad, "7")).has_value()) << bad;
  for (const char* good : {"0", "-0", "-12.25", "1e5", "1E+05", "123456789.123456789e-12"})
    EXPECT_EQ(Read(*like, line("4", good)), 4) << good;
  for (const char* bad : {"", "-", "01", "1.", ".5", "1e", "1e+", "12345678x"})
    EXPECT_FALSE(Read(*like, line("4", bad)).has_value()) << bad;
}

// Text that ends within a number or within the bytes after it, and any byte that differs.
TEST(LineTemplate, RefusesCutAndDifferentLines) {
  const std::string text = R"({"a":12345678,"some":"text of some length","x":[1,2,3]})";
  const auto like = LineTemplate::Of(text, RoleOfNumber);
  ASSERT_TRUE(like.has_value());
  EXPECT_EQ(Read(*like, text), 12345678);
  EXPECT_EQ(Read(*like, absl::StrCat(text, "\n{")), 12345678);
  for (size_t cut = 0; cut < text.size(); ++cut)
    EXPECT_FALSE(Read(*like, absl::string_view(text).substr(0, cut)).has_value()) << cut;
  for (size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = '~';
    EXPECT_FALSE(Read(*like, other).has_value()) << at;
  }
}

}  // namespace
}  // namespace chakra::collective_logs::CHAKRA_FILE
