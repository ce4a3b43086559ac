#include "trace/io/sniff.h"

#include <gtest/gtest.h>

#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/import/text/text.h"

namespace chakra::CHAKRA_FILE {
namespace {

using absl::string_view;

TEST(Sniff, SeparatesJsonFromFrames) {
  EXPECT_TRUE(LooksLikeJson("{\"nodes\": []}"));
  EXPECT_TRUE(LooksLikeJson("\xef\xbb\xbf \r\n\t[1]"));
  EXPECT_FALSE(LooksLikeJson(""));
  EXPECT_FALSE(LooksLikeJson("nodes"));
  EXPECT_FALSE(LooksLikeJson(string_view("{\x0a\x05\x30\x2e\x30\x2e\x34\x01", 9)));  // a frame of 123 bytes
}

TEST(Sniff, TextFormatBeginsWithABlock) {
  EXPECT_TRUE(LooksLikeTextFormat("node {"));
  EXPECT_TRUE(LooksLikeTextFormat("\n metadata  {}"));
  EXPECT_FALSE(LooksLikeTextFormat("nodes {"));
  EXPECT_FALSE(LooksLikeTextFormat("node: 1"));
}

TEST(Sniff, NamesKnownFormats) {
  EXPECT_EQ(LooksLike("PK\x03\x04zip"), "; it looks like a zip archive");
  EXPECT_EQ(LooksLike("\x7f"
                      "ELF..."),
            "; it looks like a program");
  EXPECT_EQ(LooksLike("hello\n"), "; it looks like text: \"hello\\n\"");
  EXPECT_EQ(LooksLike("\x01\x02"), "");
  EXPECT_EQ(LooksLike(""), "");
}

TEST(Sniff, NamesTextInUtf16) {
  EXPECT_EQ(LooksLike(string_view("\xff\xfe{\0\r\0\n\0", 8)),
            "; it looks like text in UTF-16, as Windows writes it; expected UTF-8");
  EXPECT_EQ(LooksLike(string_view("\xfe\xff\0[\0{", 6)), LooksLike(string_view("\xff\xfe{\0", 4)));
  EXPECT_EQ(LooksLike("\xff\xfe\x01 a frame"), "");
  EXPECT_EQ(LooksLike("\xff\xfe"), "");
}

TEST(Sniff, RefusesAppleDoubleByName) {
  const std::string companion("\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        ", 24);
  EXPECT_TRUE(LooksLikeAppleDouble(companion));
  EXPECT_FALSE(LooksLikeAppleDouble(companion.substr(0, 7)));
  const auto read = DecodeTrace(companion, "._w.0.et", 0, ReadOptions());
  EXPECT_NE(std::string(read.status().message()).find("._w.0.et: rank 0, byte 0: an AppleDouble file"),
            std::string::npos)
      << read.status();
}

TEST(Sniff, ErrorsNameTheRank) {
  for (const char* text : {"{\"a\": 1}", "[1] x", "node { foo: 1 }", "hello, this is text",
                           "\x1f\x8b\x08zzzz", "\x28\xb5\x2f\xfd\xff\xff\xff\xff"}) {
    const auto read = DecodeTrace(text, "w.et", 5, ReadOptions());
    EXPECT_EQ(read.status().message().substr(0, 12), "w.et: rank 5") << read.status();
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
