#include "trace/base/json_text.h"

#include <gtest/gtest.h>

#include "trace/io/json_value.h"

namespace chakra::CHAKRA_FILE {
namespace {

TEST(JsonText, EscapesText) {
  EXPECT_EQ(JsonText(""), "\"\"");
  EXPECT_EQ(JsonText("plain \xc3\xa9"), "\"plain \xc3\xa9\"");
  EXPECT_EQ(JsonText("a\"b\\c\nd\x1f\x7f"), "\"a\\\"b\\\\c\\u000ad\\u001f\x7f\"");
}

TEST(JsonText, ReadsBackAsWritten) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all.push_back(static_cast<char>(c));
  const std::string json = JsonText(all);
  const auto back = ParseJson(json, "text");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->text, all);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
