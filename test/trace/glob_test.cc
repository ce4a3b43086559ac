#include "trace/base/glob.h"

#include <string>

#include "gtest/gtest.h"

namespace chakra::CHAKRA_FILE {
namespace {

TEST(Glob, AStarStandsForAnyText) {
  EXPECT_TRUE(MatchesGlob("a*c", "abbc"));
  EXPECT_TRUE(MatchesGlob("a*", "a"));
  EXPECT_TRUE(MatchesGlob("*b*", "abc"));
  EXPECT_TRUE(MatchesGlob("*ab", "aab"));
  EXPECT_FALSE(MatchesGlob("a*c", "abb"));
  EXPECT_FALSE(MatchesGlob("a", "ab"));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_TRUE(MatchesGlob("", ""));
}

TEST(Glob, SeveralStars) {
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("a*c*e", "abcde"));
  EXPECT_TRUE(MatchesGlob("a*b", "aabab"));
  EXPECT_TRUE(MatchesGlob("**", "x"));
  EXPECT_FALSE(MatchesGlob("a*b", "abc"));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_FALSE(MatchesGlob("a", ""));
  EXPECT_FALSE(MatchesGlob("a?c", "abc"));
  // Linear in what a naive matcher takes exponential time for.
  EXPECT_FALSE(MatchesGlob("a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST(Glob, OneCharacterStandsForAnyOnlyWhereAsked) {
  EXPECT_TRUE(MatchesGlob("a?c*", "abcd", '?'));
  EXPECT_FALSE(MatchesGlob("a?c", "ac", '?'));
  EXPECT_FALSE(MatchesGlob("a?c", "abc"));
  EXPECT_TRUE(MatchesGlob("a?c", "a?c"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
