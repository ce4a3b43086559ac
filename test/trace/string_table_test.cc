#include "trace/model/string_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace chakra::CHAKRA_FILE {
namespace {

// Texts of every length, so that each branch of the hash is taken.
std::string Text(int i) { return absl::StrCat(std::string(static_cast<size_t>(i % 70), 'x'), i); }

TEST(StringTable, EmptyStringIsZero) {
  StringTable table;
  EXPECT_EQ(table.Intern(""), 0u);
  EXPECT_EQ(table.Get(0), "");
  EXPECT_EQ(table.size(), 1u);
}

TEST(StringTable, KeepsEachTextOnce) {
  StringTable table;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5000; ++i) {
      const std::string text = Text(i);
      EXPECT_EQ(table.Intern(text, table.Prefetch(text)), static_cast<uint32_t>(i) + 1);
    }
    table.Shrink();
  }
  EXPECT_EQ(table.size(), 5001u);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(table.Get(static_cast<uint32_t>(i) + 1), Text(i));
}

TEST(StringTable, CopyIsEqualAndIndependent) {
  StringTable table;
  for (int i = 0; i < 100; ++i) table.Intern(Text(i));
  StringTable copy = table;
  EXPECT_TRUE(copy == table);
  EXPECT_EQ(copy.Intern(Text(7)), 8u);
  EXPECT_EQ(copy.Intern("new"), 101u);
  EXPECT_FALSE(copy == table);
  EXPECT_EQ(table.size(), 101u);
}

TEST(StringTable, ClearRemovesAllTexts) {
  StringTable table;
  table.Intern("a");
  table.Clear();
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.Intern("b"), 1u);
  EXPECT_EQ(table.Get(1), "b");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
