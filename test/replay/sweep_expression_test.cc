#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/sweep/expression.h"
#include "replay/sweep/words.h"

namespace chakra::sweep::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<Value> Names(const std::string& name) {
  if (name == "a") return Value(3.0);
  if (name == "b") return Value(4.0);
  if (name == "net") return Value(std::string("torus"));
  return std::nullopt;
}

std::string Result(const std::string& text) {
  auto e = Expression::Parse(text);
  if (!e.ok()) return std::string(e.status().message());
  auto v = e->Evaluate(Names);
  return v.ok() ? ToText(*v) : std::string(v.status().message());
}

TEST(SweepExpression, EvaluatesValues) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"10 - 4 - 3", "3"},
      {"2 / 4", "0.5"},
      {"7 % 4", "3"},
      {"-a", "-3"},
      {"--a", "3"},
      {"a * -b", "-12"},
      {"a < b", "1"},
      {"a >= b", "0"},
      {"a == 3 and b == 4", "1"},
      {"a == 4 or b == 3", "0"},
      {"not a == 3", "0"},
      {"!(a == 3) || b > 1", "1"},
      {"not not a", "1"},
      {"net == 'torus'", "1"},
      {"net != \"torus\"", "0"},
      {"net", "torus"},
      {"a > b ? 1 : net", "torus"},
      {"min(a, b, 1)", "1"},
      {"max(a, b)", "4"},
      {"pow(2, 10)", "1024"},
      {"ceil(a / 2)", "2"},
      {"log2(8)", "3"},
      {"1e3", "1000"},
      {"1.5e-3", "0.0015"},
      {".5", "0.5"},
      {"0.1", "0.1"},
      {"1 == 1 or 1 / 0", "1"},
      {"1 == 2 and 1 / 0", "0"},
      {"(1 < 2) == (3 < 4)", "1"},
      {"0 * -1", "0"},
      {"1e300 > 1e299", "1"},
      {"order", "column 1 of \"order\": \"order\" has no value"},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(Result(text), value) << text;
}

TEST(SweepExpression, ErrorsNameTheColumn) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "column 1 of \"\": expected a number, a name or a text, but it ends here"},
      {"1 +", "column 4 of \"1 +\": expected a number"},
      {"a = 3", "column 3 of \"a = 3\": expected == for equality"},
      {"a < b < 3", "a comparison of a comparison"},
      {"(a", "column 3 of \"(a\": expected \")\""},
      {"a b", "column 3 of \"a b\": unexpected \"b\""},
      {"'x", "column 1 of \"'x\": the text is never closed"},
      {"400Gb", "\"400Gb\" is not a number; expected one without a unit"},
      {"mox(1, 2)", "there is no function \"mox\"; did you mean 'max'?"},
      {"pow(1)", "pow takes 2 values, not 1"},
      {"a ? 1", "expected \":\""},
      {"and", "unexpected \"and\""},
      {"a $ b", "column 3"},
      {"c + 1", "column 1 of \"c + 1\": \"c\" has no value"},
      {"1 / 0", "column 3 of \"1 / 0\": a division by 0"},
      {"net + 1", "+ needs numbers, but \"torus\" is a text"},
      {"net == 3", "\"torus\" and \"3\" are a number and a text"},
      {"net and 1", "\"torus\" is neither true nor false"},
      {"log2(0)", "log2 gives no finite number"},
      {"1e308 * 10", "* gives no finite number"},
      {"1e999", "is not a number"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(Result(text), HasSubstr(message)) << text;
}

TEST(SweepExpression, DeepNestingIsAnError) {
  const std::string open(100000, '('), minus(100000, '-');
  EXPECT_THAT(Result(open), HasSubstr("more than 500 operators"));
  EXPECT_THAT(Result(minus + "1"), HasSubstr("more than 500 operators"));
  std::string sum = "1";
  for (int i = 0; i < 400; ++i) sum += "+1";
  EXPECT_EQ(Result(sum), "401");
}

TEST(SweepExpression, ListsEachNameOnce) {
  auto e = Expression::Parse("a + b * a > max(c, b)");
  ASSERT_TRUE(e.ok());
  EXPECT_THAT(e->names(), ElementsAre("a", "b", "c"));
}

TEST(SweepExpression, FormatsNumbers) {
  EXPECT_EQ(ToText(400.0), "400");
  EXPECT_EQ(ToText(-0.0), "0");
  EXPECT_EQ(ToText(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(ToText(1e20), "1e+20");
}

TEST(SweepExpression, FillsInTemplates) {
  EXPECT_EQ(*FillIn("leaf_spine:spines={a},link={a * 100}Gb/s", Names), "leaf_spine:spines=3,link=300Gb/s");
  EXPECT_EQ(*FillIn("{{x}} {net}", Names), "{x} torus");
  EXPECT_THAT(std::string(FillIn("{a", Names).status().message()),
              HasSubstr("\"{\" in column 1 has no \"}\""));
  EXPECT_THAT(std::string(FillIn("a}", Names).status().message()),
              HasSubstr("\"}\" in column 2 has no \"{\""));
  EXPECT_THAT(std::string(FillIn("{}", Names).status().message()), HasSubstr("ends here"));
  EXPECT_EQ(ParseTemplate("{a}{{b}}{b+1}")->size(), 2u);
}

TEST(SweepWords, SplitLikeAShell) {
  EXPECT_THAT(*SplitWords("  --network 'a b' \"c \\\" d\" e\\ f '' "),
              ElementsAre("--network", "a b", "c \" d", "e f", ""));
  EXPECT_THAT(*SplitWords("x={a * 2},y={net == 'x y'} z"), ElementsAre("x={a * 2},y={net == 'x y'}", "z"));
  EXPECT_THAT(*SplitWords("{{x y}}"), ElementsAre("{{x", "y}}"));
  EXPECT_THAT(*SplitWords(""), ElementsAre());
  EXPECT_THAT(std::string(SplitWords("a 'b").status().message()), HasSubstr("column 3: ' is never closed"));
  EXPECT_THAT(std::string(SplitWords("a {b").status().message()), HasSubstr("column 3: { is never closed"));
  EXPECT_FALSE(SplitWords("a \\").ok());
}

TEST(SweepWords, QuotedWordsSplitIntoEqualWords) {
  const std::vector<std::string> words = {"a", "", "b c", "it's", "\"", "$x", "k=v,w", "\\"};
  EXPECT_EQ(*SplitWords(QuoteWords(words)), words);
  EXPECT_EQ(QuoteWord("fat_tree:k=8,link=400Gb/s"), "fat_tree:k=8,link=400Gb/s");
}

}  // namespace
}  // namespace chakra::sweep::CHAKRA_FILE
