#include "trace/import/host/align.h"

#include <numeric>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trace/model/trace.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

OpSequence Of(std::vector<uint32_t> names, std::vector<int64_t> seq = {}) {
  OpSequence s;
  s.name = std::move(names);
  s.seq = std::move(seq);
  s.seq.resize(s.name.size(), -1);
  s.row.resize(s.name.size());
  std::iota(s.row.begin(), s.row.end(), 0);
  return s;
}

std::vector<uint32_t> Random(size_t n, uint32_t names, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> out(n);
  for (uint32_t& x : out) x = random() % names;
  return out;
}

// Every match joins equal names, and both sides ascend.
void CheckSound(const OpSequence& a, const OpSequence& b, const Alignment& found) {
  ASSERT_EQ(found.to.size(), a.size());
  uint64_t matched = 0;
  int64_t last = -1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (found.to[i] == kNoRow) continue;
    ++matched;
    ASSERT_LT(found.to[i], b.size());
    ASSERT_EQ(a.name[i], b.name[found.to[i]]);
    ASSERT_GT(static_cast<int64_t>(found.to[i]), last);
    last = found.to[i];
  }
  EXPECT_EQ(found.matched, matched);
}

TEST(Align, AlignsEqualSequences) {
  const OpSequence a = Of({1, 2, 3, 1, 2, 3});
  const Alignment found = Align(a, a);
  EXPECT_THAT(found.to, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(found.matched, 6u);
  EXPECT_EQ(found.span_a, 6u);
  EXPECT_EQ(found.span_b, 6u);
  EXPECT_EQ(found.windows, 1u);
}

TEST(Align, MatchesNothingWithoutCommonNames) {
  EXPECT_EQ(Align(Of({1, 2}), Of({3, 4})).matched, 0u);
  EXPECT_EQ(Align(Of({}), Of({3, 4})).matched, 0u);
  EXPECT_EQ(Align(Of({1}), Of({})).matched, 0u);
}

TEST(Align, SkipsOperatorsThatOneSideLacks) {
  //                  0  1  2  3  4  5  6   7   8   9
  const OpSequence a = Of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_THAT(Align(a, Of({1, 2, 99, 3, 4, 5, 6, 7, 8, 98, 97, 9, 10})).to,
              ElementsAre(0, 1, 3, 4, 5, 6, 7, 8, 11, 12));
  EXPECT_THAT(Align(a, Of({2, 3, 4, 5, 7, 8, 9})).to,
              ElementsAre(kNoRow, 0, 1, 2, 3, kNoRow, 4, 5, 6, kNoRow));
}

TEST(Align, FindsOneIterationOfMany) {
  std::vector<uint32_t> step(50), many = {100, 101};  // a warm-up that `step` lacks
  std::iota(step.begin(), step.end(), 0);
  for (int i = 0; i < 40; ++i) many.insert(many.end(), step.begin(), step.end());
  const Alignment first = Align(Of(step), Of(many));
  EXPECT_EQ(first.matched, 50u);
  EXPECT_EQ(first.to[0], 2u) << "the first of equally good places";
  EXPECT_EQ(first.windows, 40u);
  // Sequence numbers identify the iteration, even if only a few operators have one.
  std::vector<int64_t> seq(step.size(), -1), all(many.size(), -1);
  seq[7] = 17 * 3;
  for (size_t i = 0; i < 40; ++i) all[2 + 50 * i + 7] = static_cast<int64_t>(3 * i);
  const Alignment known = Align(Of(step, seq), Of(many, all));
  EXPECT_EQ(known.matched, 50u);
  EXPECT_EQ(known.to[0], 2u + 17 * 50);
  EXPECT_EQ(known.windows, 1u);
}

TEST(Align, IgnoresSequenceNumbersOfOtherIterations) {
  // The traces are of two iterations, and one number happens to be in both.
  std::vector<uint32_t> step(100);
  std::iota(step.begin(), step.end(), 0);
  step[90] = step[5];
  std::vector<int64_t> seq(100, -1), other(100, -1);
  seq[90] = 40;
  other[5] = 40;
  EXPECT_EQ(Align(Of(step, seq), Of(step, other)).matched, 100u);
}

TEST(Align, AlignsOneRepeatedName) {
  const OpSequence a = Of(std::vector<uint32_t>(5000, 7));
  const Alignment found = Align(a, a);
  EXPECT_EQ(found.matched, 5000u);
  EXPECT_EQ(found.to[0], 0u);
}

TEST(Align, FindsAllUnchangedOperators) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const std::vector<uint32_t> a = Random(3000, 30, seed + 100);
    std::vector<uint32_t> b;
    uint64_t kept = 0;
    for (const uint32_t x : a) {
      const uint32_t dice = random() % 100;
      if (dice == 0) continue;
      if (dice == 1) b.push_back(1000);
      b.push_back(x);
      ++kept;
    }
    const OpSequence left = Of(a), right = Of(b);
    const Alignment found = Align(left, right);
    CheckSound(left, right, found);
    EXPECT_GE(found.matched, kept) << seed;  // the longest common subsequence is at least as long
  }
}

TEST(Align, BoundsEffortWhereNothingFits) {
  // As a quadratic table: 4e10 cells. As written here: well under a second.
  const OpSequence a = Of(Random(200000, 20, 1)), b = Of(Random(200000, 20, 2));
  CheckSound(a, b, Align(a, b));
}

TEST(Align, AlignsRandomSmallPairs) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const OpSequence a = Of(Random(seed % 13, 3, seed)), b = Of(Random(seed % 17, 3, seed + 5000));
    CheckSound(a, b, Align(a, b));
  }
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
