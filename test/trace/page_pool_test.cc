// Blocks of a pool keep their content when other blocks are freed, and freed pages are used again.
#include "trace/base/page_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "trace/base/splitmix.h"

namespace chakra::CHAKRA_FILE {
namespace {

constexpr size_t kMiB = 1 << 20;

struct Held {
  uint64_t* words = nullptr;
  size_t count = 0;
  uint64_t mark = 0;
};

// Visits a word of each page, and the last word.
template <typename Visit>
void EachPage(const Held& held, const Visit& visit) {
  for (size_t i = 0; i < held.count; i += 512) visit(&held.words[i]);
  visit(&held.words[held.count - 1]);
}

void Fill(const Held& held) {
  EachPage(held, [&](uint64_t* word) { *word = held.mark; });
}

bool Holds(const Held& held) {
  bool same = true;
  EachPage(held, [&](uint64_t* word) { same = same && *word == held.mark; });
  return same;
}

TEST(PagePool, BlocksKeepTheirContent) {
  PagePool pool;
  std::vector<Held> held;
  size_t bytes = 0, most = 0;
  for (uint64_t step = 0; step < 2000; ++step) {
    const uint64_t random = SplitMix(step);
    if (held.size() > 12 || (!held.empty() && random % 3 == 0)) {
      Held& gone = held[random / 3 % held.size()];
      ASSERT_TRUE(Holds(gone)) << step;
      ASSERT_TRUE(pool.Give(gone.words));
      ASSERT_FALSE(pool.Give(gone.words)) << "it is free already";
      bytes -= gone.count * sizeof(uint64_t);
      gone = held.back();
      held.pop_back();
      continue;
    }
    Held next;
    next.count = (kMiB + random % (7 * kMiB)) / sizeof(uint64_t);
    next.mark = random;
    next.words = static_cast<uint64_t*>(pool.Take(next.count * sizeof(uint64_t)));
    ASSERT_NE(next.words, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(next.words) % 4096, 0u);
    Fill(next);
    bytes += next.count * sizeof(uint64_t);
    most = std::max(most, bytes);
    held.push_back(next);
  }
  for (const Held& all : held) EXPECT_TRUE(Holds(all));
  EXPECT_LE(pool.mapped(), most + 14 * kMiB) << "but for what sizes are rounded to";
}

TEST(PagePool, FreePagesServeAnySize) {
  PagePool pool;
  std::vector<void*> small;
  for (int i = 0; i < 40; ++i) small.push_back(pool.Take(kMiB));
  for (void* block : small) ASSERT_TRUE(pool.Give(block));
  ASSERT_EQ(pool.mapped(), 40 * kMiB);
  void* const large = pool.Take(30 * kMiB);
  EXPECT_EQ(pool.mapped(), 40 * kMiB) << "the pages of the small ones, together";
  void* const other = pool.Take(15 * kMiB);
  EXPECT_EQ(pool.mapped(), 45 * kMiB) << "what is missing is new";
  EXPECT_TRUE(pool.Give(large));
  for (int i = 0; i < 30; ++i) ASSERT_NE(pool.Take(kMiB), nullptr);
  EXPECT_EQ(pool.mapped(), 45 * kMiB) << "the large one's, in parts";
  EXPECT_TRUE(pool.Give(other));
}

TEST(PagePool, RefusesForeignBlocksAndHugeSizes) {
  PagePool pool;
  int foreign = 0;
  EXPECT_FALSE(pool.Give(&foreign));
  EXPECT_EQ(pool.Take(SIZE_MAX), nullptr);
  EXPECT_EQ(pool.Take(SIZE_MAX / 2), nullptr) << "more than an address space";
  EXPECT_EQ(pool.mapped(), 0u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
