#include "trace/model/groups.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string ErrorOf(const std::string& json) {
  const auto g = ParseGroups(json, "g.json");
  return g.ok() ? "no error" : std::string(g.status().message());
}

TEST(Groups, ReadsAnyKeyAndBothFormsOfRanks) {
  const auto g = ParseGroups(R"({"1": [0, 1], "tensor parallel": ["3", 2]})", "g.json");
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_THAT(*g, ElementsAre(Pair("1", ElementsAre(0, 1)), Pair("tensor parallel", ElementsAre(3, 2))));
}

TEST(Groups, RefusesBadGroups) {
  EXPECT_THAT(ErrorOf(R"({"1": [0, 1, 0]})"),
              HasSubstr("g.json, group \"1\": rank 0 is listed more than once"));
  EXPECT_THAT(ErrorOf(R"({"1": [-1]})"), HasSubstr("entry 0: expected a rank, 0 or more, found -1"));
  EXPECT_THAT(ErrorOf(R"({"1": ["x"]})"), HasSubstr("found \"x\""));
  EXPECT_THAT(ErrorOf(R"({"1": [1.5]})"), HasSubstr("found 1.5"));
  EXPECT_THAT(ErrorOf(R"({"1": 4})"), HasSubstr("expected an array"));
  EXPECT_THAT(ErrorOf(R"({"1": []})"), HasSubstr("at least one rank"));
  EXPECT_THAT(ErrorOf(R"({"1": [0], "1": [1]})"), HasSubstr("each group once"));
  EXPECT_THAT(ErrorOf(R"({"": [0]})"), HasSubstr("all ranks"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(ErrorOf("{\"1\": [0"), HasSubstr("invalid JSON"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("g.json"));
}

TEST(Groups, RecognisesGroupFiles) {
  EXPECT_TRUE(LooksLikeGroups(R"({"1": [0, 1], "a": ["2"]})"));
  EXPECT_FALSE(LooksLikeGroups("{}"));
  EXPECT_FALSE(LooksLikeGroups(R"({"logical-dims": ["4"]})"));  // a topology
  EXPECT_FALSE(LooksLikeGroups(R"({"nodes": [{"id": 1}]})"));
  EXPECT_FALSE(LooksLikeGroups(R"({"1": [0], "x": 2})"));
  EXPECT_FALSE(LooksLikeGroups("text"));
}

TEST(Groups, ReadsPyTorchNodesInEveryForm) {
  const std::string groups =
      R"([{"pg_name": "0", "ranks": [], "group_size": 3}, {"pg_name": 7, "ranks": [2, 0]}])";
  std::string escaped;
  for (const char c : groups) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
  for (const std::string& text : {groups, "['" + groups + "']", "[\"" + escaped + "\"]"}) {
    const auto g = ParseGroupNode(text, "f.et: rank 0, node 2");
    ASSERT_TRUE(g.ok()) << g.status();
    EXPECT_THAT(*g, ElementsAre(Pair("0", ElementsAre(0, 1, 2)), Pair("7", ElementsAre(2, 0)))) << text;
  }
}

TEST(Groups, RefusesBadPyTorchNodes) {
  const auto error = [](const std::string& text) {
    return std::string(ParseGroupNode(text, "f.et: rank 0, node 2").status().message());
  };
  EXPECT_THAT(error("['[{\"pg_name\": \"0\", \"ra"), HasSubstr("f.et: rank 0, node 2, field inputs.values"));
  EXPECT_THAT(error("[{\"ranks\": [1]}]"), HasSubstr("without pg_name"));
  EXPECT_THAT(error("[{\"pg_name\": \"3\", \"ranks\": []}]"), HasSubstr("group_size"));
  EXPECT_THAT(error("[{\"pg_name\": \"3\", \"ranks\": [1, 1]}]"), HasSubstr("more than once"));
}

TEST(Groups, MergeRefusesDifferentRanks) {
  Groups all = {{"1", {0, 1}}};
  uint64_t members = 2;
  EXPECT_TRUE(MergeGroups({{"1", {0, 1}}, {"2", {1}}}, "s", &all, &members).ok());
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(members, 3u);
  EXPECT_FALSE(MergeGroups({{"1", {1, 0}}}, "s", &all, &members).ok());
}

TEST(Groups, LimitsMembersOfSmallTexts) {
  const auto groups = [](int n) {
    std::string text = "[";
    for (int i = 0; i < n; ++i) {
      absl::StrAppend(&text, i > 0 ? "," : "", "{\"pg_name\": ", i, ", \"group_size\": 4194304}");
    }
    return ParseGroupNode(text + "]", "s");
  };
  EXPECT_TRUE(groups(1).ok());
  EXPECT_THAT(std::string(groups(17).status().message()),
              HasSubstr("group \"16\": expected groups of at most 67108864"));
}

TEST(Groups, ZeroMeansAllRanksUnlessDefined) {
  const auto ranks = [] {
    RankTrace r;
    r.group_names = {"", "0", "1"};
    std::vector<Peer> peers(2);
    peers[0].group = 1;
    peers[1].group = 2;
    r.peers = peers;
    return std::vector<RankTrace>{r};
  };
  std::vector<RankTrace> plain = ranks(), defined = ranks();
  ResolveGroupZero({{"1", {0}}}, &plain);
  EXPECT_EQ(plain[0].peers[0].group, 0u);
  EXPECT_EQ(plain[0].peers[1].group, 2u);
  ResolveGroupZero({{"0", {0}}}, &defined);
  EXPECT_EQ(defined[0].peers[0].group, 1u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
