// Indices of ranks that share files: the groups and peers of each rank, and the errors of bad indices.
#include "trace/et/rank_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two graphs of four ranks each; the ranks of the first are two pairs, and each sends to the rank four
// higher.
constexpr char kGood[] = R"(
  ranks: 8
  graph { file: "w.0.et" rank: 0 ranks: "0-3"
          group { group: "tp0" family: "tp" } peer { rank: 4 own { ranks: "0-3" by: 4 } } }
  graph { file: "w.4.et" rank: 4 ranks: "4-7" peer { rank: 0 own { ranks: "4-7" by: -4 } } }
  family { name: "tp" group { name: "tp0" ranks: "0-1" } group { name: "tp2" ranks: "2-3" } }
)";

absl::StatusOr<RankIndex> IndexOf(const std::string& text) {
  proto::RankIndex message;
  const absl::Status s = ParseTextMessage(text, "x.ranks.json", &message);
  if (!s.ok()) return s;
  return RankIndex::Make(message, "x.ranks.json");
}

TEST(RankIndex, MapsGroupsAndPeersOfEachRank) {
  const auto index = IndexOf(kGood);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->ranks(), 8);
  EXPECT_EQ(index->GraphOf(3), 0u);
  EXPECT_EQ(index->GraphOf(4), 1u);
  EXPECT_EQ(index->GroupFor(1, "tp0"), "tp0");
  EXPECT_EQ(index->GroupFor(3, "tp0"), "tp2");
  EXPECT_EQ(index->RankFor(3, 4), 7);
  EXPECT_EQ(index->RankFor(3, 0), 3);
  EXPECT_EQ(index->RankFor(6, 0), 2);
  EXPECT_EQ(index->SymmetricTo(3), 0);
  EXPECT_EQ(index->SymmetricTo(7), 4);
  EXPECT_THAT(index->groups().at("tp2"), ElementsAre(2, 3));
}

TEST(RankIndex, RanksWithOtherDistancesAreNotSymmetric) {
  const auto index = IndexOf(
      "ranks: 4 graph { file: \"w.0.et\" rank: 0 ranks: \"0-3\" peer { rank: 1 own { ranks: \"0,2\" by: 1 } "
      "own { ranks: \"1,3\" by: -1 } } }");
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->SymmetricTo(2), 0);
  EXPECT_EQ(index->SymmetricTo(1), 1);
  EXPECT_EQ(index->SymmetricTo(3), 1);
}

TEST(RankIndex, CoversNamesOfTheTrace) {
  const auto index = IndexOf(kGood);
  ASSERT_TRUE(index.ok()) << index.status();
  RankTrace trace;
  trace.file = "w.0.et";
  trace.group_names = {"", "tp0"};
  Peer peer;
  peer.dst = 4;
  trace.peers = std::vector<Peer>{peer};
  EXPECT_TRUE(index->Covers(0, trace).ok());
  trace.group_names.push_back("dp0");
  EXPECT_EQ(index->Covers(0, trace).message(),
            "w.0.et: rank 0: the trace names group \"dp0\", but the index gives no replacement for graph 0");
  trace.group_names.pop_back();
  peer.dst = 5;
  trace.peers = std::vector<Peer>{peer};
  EXPECT_THAT(std::string(index->Covers(0, trace).message()), HasSubstr("the trace names rank 5"));
}

// A part of kGood, its replacement, and the error for the replacement.
struct BadIndex {
  const char *from, *to, *error;
};

constexpr BadIndex kBad[] = {
    {"ranks: 8", "", "field ranks is 0; expected 1 to 4194304"},
    {"ranks: 8", "ranks: -8", "field ranks is -8; expected 1 to 4194304"},
    {"ranks: 8", "ranks: 9", "graphs have 8 ranks; expected 9, as field ranks says"},
    {"ranks: 8", "ranks: 7", "\"4-7\": expected ranks from 0 to 6"},
    {"\"0-3\"\n", "\"0-2\"\n", "graphs have 7 ranks; expected 8"},
    {"\"0-3\"\n", "\"0-4\"\n", "rank 4 is in the ranks of graphs 0 and 1; expected one graph"},
    {"\"4-7\" peer", "\"4-6,0\" peer", "rank 0 is in the ranks of graphs 0 and 1; expected one graph"},
    {"\"4-7\" peer", "\"4-6,6\" peer", "rank 6 is in the ranks of graphs 1 and 1; expected one graph"},
    {"\"0-3\"\n", "\"0-x\"\n", "graph 0 (\"w.0.et\"), field ranks: \"0-x\": expected ranks as"},
    {"rank: 0 ranks", "rank: 5 ranks",
     "graph 0 (\"w.0.et\"), field rank is 5; expected one of its ranks, 0-3"},
    {"rank: 0 ranks", "rank: -1 ranks", "field rank is -1; expected one of its ranks"},
    {"\"w.4.et\"", "\"\"",
     "graph 1 (\"\"), field file is \"\"; expected the name of a file next to the index"},
    {"\"w.4.et\"", "\"../w.4.et\"", "expected the name of a file next to the index"},
    {"\"w.4.et\"", "\"..\"", "expected the name of a file next to the index"},
    {"family: \"tp\" }", "family: \"tq\" }",
     "graph 0 (\"w.0.et\"), field family of group \"tp0\": there is no family \"tq\""},
    {"group { group: \"tp0\"", "group { group: \"tp2\"",
     "rank 0, field group \"tp2\": expected the group of family \"tp\" that has the rank whose trace the "
     "file is, \"tp0\""},
    {"group { group: \"tp0\" family: \"tp\" }",
     "group { group: \"tp0\" family: \"tp\" } group { group: \"tp0\" family: \"tp\" }",
     "field group \"tp0\": expected each group once"},
    {"group { name: \"tp2\" ranks: \"2-3\" }", "",
     "rank 2, field family of group \"tp0\": no group of family \"tp\" has this rank"},
    {"\"2-3\"", "\"1-3\"", "family \"tp\", rank 1 is listed twice; expected each rank in one group at most"},
    {"\"2-3\"", "\"2,2\"", "family \"tp\", rank 2 is listed twice"},
    {"\"2-3\"", "\"2-30\"", "field ranks of group \"tp2\": \"2-30\": expected ranks from 0 to 7"},
    {"name: \"tp2\"", "name: \"tp0\"", "group \"tp0\", field name: expected each group once"},
    {"name: \"tp2\"", "name: \"\"", "field name: this name always means all ranks"},
    {"family { name: \"tp\"", "family { name: \"\"", "field name is empty"},
    {"family { name: \"tp\"", "family { name: \"tp\" } family { name: \"tp\"",
     "family \"tp\", field name: expected each family once"},
    {"peer { rank: 4", "peer { rank: 8", "field rank of peer 8: expected 0 to 7"},
    {"peer { rank: 4", "peer { rank: 0", "field rank of peer 0: this is the rank whose trace the file is"},
    {"peer { rank: 4", "peer { rank: 3",
     "rank 0, field by of peer 3: leads to rank 4; expected 3, as in the file"},
    {"\"0-3\" by: 4", "\"0-2\" by: 4", "rank 3, field peer 4: the rank is in no list; expected one"},
    {"\"0-3\" by: 4", "\"0-3,3\" by: 4", "rank 3, field peer 4: expected each rank in one list"},
    {"\"0-3\" by: 4", "\"0-3\" by: 5", "rank 3, field by of peer 4 is 5; expected another rank, 0 to 7"},
    {"\"4-7\" by: -4", "\"4-7\" by: -5", "rank 4, field by of peer 0 is -5; expected another rank"},
    {"\"4-7\" by: -4", "\"4-7\" by: 0", "is 0; expected another rank"},
    {"own { ranks: \"0-3\" by: 4 } }",
     "own { ranks: \"0-3\" by: 4 } } peer { rank: 4 own { ranks: \"0-3\" by: 4 } }",
     "field peer 4: expected each rank once"},
    {"file: \"w.4.et\"", "fil: \"w.4.et\"", "fil"},
    {"by: -4", "by: \"-4\"", "x.ranks.json"},
};

TEST(RankIndex, RefusesBadIndices) {
  for (const BadIndex& bad : kBad) {
    std::string text = kGood;
    const size_t at = text.find(bad.from);
    ASSERT_NE(at, text.npos) << bad.from;
    text.replace(at, std::string(bad.from).size(), bad.to);
    const auto index = IndexOf(text);
    ASSERT_FALSE(index.ok()) << bad.to;
    EXPECT_THAT(std::string(index.status().message()), HasSubstr(bad.error)) << bad.to;
    EXPECT_THAT(std::string(index.status().message()), HasSubstr("x.ranks.json")) << bad.to;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
