#include "trace/import/kineto/kineto_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace chakra::pytorch::kineto::CHAKRA_FILE {
namespace {

// What Scan gives: "key=value" for a member, each event's text, how it ends.
std::vector<std::string> Items(absl::string_view text) {
  MemorySource source(text);
  Scan scan(&source, "t.json", {"a", "b"});
  std::vector<std::string> out;
  for (;;) {
    auto item = scan.Next();
    if (!item.ok()) {
      out.push_back(std::string(item.status().message()));
      return out;
    }
    if (*item == Scan::Item::kMember) {
      out.push_back(absl::StrCat(scan.key(), "=", scan.value(), "@", scan.byte()));
    } else if (*item == Scan::Item::kEvents) {
      const EventBatch& b = scan.batch();
      EXPECT_EQ(b.text[0], '[');
      EXPECT_EQ(b.text[b.size - 1], ']');
      for (size_t i = 0; i < b.starts->size(); ++i) {
        const size_t begin = (*b.starts)[i];
        BracketScan brackets;
        const char* end = brackets.Find(b.text + begin, b.text + b.size);
        out.emplace_back(b.text + begin, static_cast<size_t>(end - (b.text + begin)));
        EXPECT_EQ(text.substr(b.byte + begin, out.back().size()), out.back());
      }
    } else {
      out.push_back(scan.truncated() ? "truncated" : "end");
      return out;
    }
  }
}

using Strings = std::vector<std::string>;

TEST(Scan, FollowsMembersInAnyOrder) {
  EXPECT_EQ(Items(R"({"a": {"x": "}"}, "traceEvents": [{"e":1}, {"e":"]},{"}], "c": [1,2], "b":7 })"),
            (Strings{"a={\"x\": \"}\"}@6", "{\"e\":1}", "{\"e\":\"]},{\"}", "b=7@74", "end"}));
  EXPECT_EQ(Items("\xef\xbb\xbf[{}]\n"), (Strings{"{}", "end"}));
  EXPECT_EQ(Items("{}"), (Strings{"end"}));
  EXPECT_EQ(Items(R"({"traceEvents":[]})"), (Strings{"end"}));
  EXPECT_EQ(Items(R"({"a":"q\"}","b":null})"), (Strings{"a=\"q\\\"}\"@5", "b=null@16", "end"}));
}

TEST(Scan, ReadsStringsWithBackslashes) {
  for (size_t n = 0; n < 140; ++n) {  // across the blocks of 64 bytes
    const std::string event = absl::StrCat("{\"n\":\"", std::string(n, 'x'), R"(\\\"}\\","m":[{}]})");
    EXPECT_EQ(Items(absl::StrCat("[", event, ",", event, "]")), (Strings{event, event, "end"})) << n;
  }
}

TEST(Scan, ReportsTruncation) {
  const std::string whole = R"({"a":[1],"traceEvents":[{"e":"x"},{"e":2}],"b":3})";
  EXPECT_EQ(Items(whole), (Strings{"a=[1]@5", "{\"e\":\"x\"}", "{\"e\":2}", "b=3@47", "end"}));
  for (size_t n = 1; n < whole.size(); ++n) {
    const Strings items = Items(whole.substr(0, n));
    EXPECT_EQ(items.back(), "truncated") << n;
    const size_t events = n >= 41 ? 2 : n >= 33 ? 1 : 0;
    EXPECT_EQ(items.size(), 1 + (n >= 8 ? 1 : 0) + events + (n >= 49 ? 1 : 0)) << n;
  }
}

TEST(Scan, NamesTheByteAtFault) {
  EXPECT_EQ(Items("").back(), "t.json: byte 0: empty; expected a Kineto trace");
  EXPECT_EQ(Items("  x").back(), "t.json: byte 2: not JSON; expected a Kineto trace ('{' or '[')");
  EXPECT_EQ(Items(R"({"traceEvents":7})").back(), "t.json: byte 15: \"traceEvents\" is not an array");
  EXPECT_EQ(Items("[{},5]").back(), "t.json: byte 4: event 1 is not an object; expected '{'");
  EXPECT_EQ(Items("[{} {}]").back(), "t.json: byte 4: expected ',' or ']' after event 0");
  EXPECT_EQ(Items("[{}] ]").back(),
            "t.json: byte 5: bytes after the end of the trace; expected one trace for each file: split the "
            "file here, or give each trace its own file");
  EXPECT_EQ(Items(R"({"a" 1})").back(), "t.json: byte 5: expected ':' after \"a\"");
  EXPECT_EQ(Items(R"({"a":1 "b":2})").back(), "t.json: byte 7: expected ',' or '}' after the value of \"a\"");
  EXPECT_EQ(Items(R"({"a":,})").back(), "t.json: byte 5: expected the value of \"a\"");
  EXPECT_EQ(Items("{5:1}").back(), "t.json: byte 1: expected the name of a top-level member");
}

// An event that lies across the end of a block read, at every offset.
TEST(Scan, ReadsEventsAcrossBlocks) {
  const std::string event = R"({"n":"a\\\"}b","args":{"k":[1,2]}})";
  for (size_t n = 0; n < event.size() + 8; ++n) {
    const std::string text = absl::StrCat("[", event, ",", std::string((4 << 20) - 2 * event.size() - n, ' '),
                                          event, ",", event, ",", event, "]");
    EXPECT_EQ(Items(text), (Strings{event, event, event, event, "end"})) << n;
  }
}

}  // namespace
}  // namespace chakra::pytorch::kineto::CHAKRA_FILE
