#include "trace/base/glob.h"

#include <string>

#include "gtest/gtest.h"

namespace chakra::CHAKRA_FILE {
namespace {

TEST(Glob, StarMatchesAnyText) {
  EXPECT_TRUE(MatchesGlob("a*c", "abbc"));
  EXPECT_TRUE(MatchesGlob("a*", "a"));
  EXPECT_TRUE(MatchesGlob("*b*", "abc"));
  EXPECT_TRUE(MatchesGlob("*ab", "aab"));
  EXPECT_FALSE(MatchesGlob("a*c", "abb"));
  EXPECT_FALSE(MatchesGlob("a", "ab"));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_TRUE(MatchesGlob("", ""));
}

TEST(Glob, MatchesSeveralStars) {
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("a*c*e", "abcde"));
  EXPECT_TRUE(MatchesGlob("a*b", "aabab"));
  EXPECT_TRUE(MatchesGlob("**", "x"));
  EXPECT_FALSE(MatchesGlob("a*b", "abc"));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_FALSE(MatchesGlob("a", ""));
  EXPECT_FALSE(MatchesGlob("a?c", "abc"));
  // The time is linear; a naive matcher takes exponential time.
  EXPECT_FALSE(MatchesGlob("a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST(Glob, MatchesOneCharacterOnlyIfEnabled) {
  EXPECT_TRUE(MatchesGlob("a?c*", "abcd", '?'));
  EXPECT_FALSE(MatchesGlob("a?c", "ac", '?'));
  EXPECT_FALSE(MatchesGlob("a?c", "abc"));
  EXPECT_TRUE(MatchesGlob("a?c", "a?c"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
