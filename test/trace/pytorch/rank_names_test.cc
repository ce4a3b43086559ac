// Ranks in names of files and labels of processes.
#include "trace/import/capture/rank_names.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trace/et/rank_of.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "rank", "rank?" where it is only a number at the end, and the places: "1 tp1 dp0".
std::string Named(absl::string_view name) {
  const NamedRank named = RankFromName(name);
  std::string text = absl::StrCat(named.rank, named.sure || named.rank < 0 ? "" : "?");
  for (const auto& [dimension, k] : named.places) absl::StrAppend(&text, " ", dimension, k);
  return text;
}

TEST(RankFromName, ReadsWordsPlacesAndNumbers) {
  EXPECT_EQ(Named("trace_rank-3_of_8.json"), "3");
  EXPECT_EQ(Named("host42_worker5.1694128201_7.pt.trace.json.gz"), "5");
  EXPECT_EQ(Named("kineto.4.json"), "4?");
  EXPECT_EQ(Named("host_12345.1694128201000.pt.trace.json"), "-1");
  EXPECT_EQ(Named("plain.json"), "-1");
  EXPECT_EQ(Named("1761000000.5-TP-1-DECODE.trace.json.gz"), "-1 tp1");
  EXPECT_EQ(Named("p-TP-1-DP-0-PP-2-EP-3.trace.json.gz"), "-1 tp1 dp0 pp2 ep3");
  EXPECT_EQ(Named("dp0_pp0_tp1_dcp0_ep1_rank9.176.pt.trace.json.gz"), "9 dp0 pp0 tp1 dcp0 ep1");
  EXPECT_EQ(Named("step5_tp_rank_1_pp_rank_0.json"), "-1 tp1 pp0");
  EXPECT_EQ(Named("http2_ftp3.json"), "3?") << "words that end in tp";
}

TEST(SplitProcess, SplitsLabelsOfRanks) {
  const auto split = [](absl::string_view process) {
    std::string label, number;
    return SplitProcess(process, &label, &number) ? absl::StrCat(label, "/", number) : std::string("none");
  };
  EXPECT_EQ(split("[TP00] 10"), "[TP00]/10");
  EXPECT_EQ(split("[TP01-DP00] 0"), "[TP01-DP00]/0");
  EXPECT_EQ(split("rank 3: 4711"), "rank 3/4711");
  EXPECT_EQ(split("[2] 17"), "rank2/17");
  for (const char* other : {"10", "python 10", "Spans", "CUDA functions", "[TP00]", "node1", "GPU 0"})
    EXPECT_EQ(split(other), "none") << other;
}

TEST(LabelOfName, WritesLabelsInOneForm) {
  for (const char* name : {"[Rank 1] 1001", "rank1 python", "rank 1: python", "[rank1] GPU 0", "[1] 4711"})
    EXPECT_EQ(LabelOfName(name), "rank1") << name;
  EXPECT_EQ(LabelOfName("[TP00] 1001"), "TP0");
  EXPECT_EQ(LabelOfName("VLLM::Worker_DP1_TP0"), "DP1-TP0");
  for (const char* name : {"python", "python 3", "GPU 0", "CPU", "Spans", "[1] x"})
    EXPECT_EQ(LabelOfName(name), "") << name;
}

std::vector<int> Ranks(const std::vector<std::pair<std::string, std::vector<int>>>& files, std::string* why) {
  std::vector<PlacedFile> placed;
  for (const auto& [name, members] : files) placed.push_back({RankFromName(name).places, members});
  std::string order;
  return RanksFromPlaces(placed, &order, why);
}

TEST(RanksFromPlaces, TensorRankIsTheFastest) {
  std::string why;
  EXPECT_THAT(Ranks({{"tp0-dp0", {}}, {"tp0-dp1", {}}, {"tp1-dp0", {}}, {"tp1-dp1", {}}}, &why),
              ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(Ranks({{"tp0-dp0", {0, 1}}, {"tp0-dp1", {2, 3}}}, &why), IsEmpty())
      << "of four ranks two are there";
  EXPECT_THAT(Ranks({{"tp0-pp0", {}}, {"tp0-pp1", {}}, {"tp1-pp0", {}}, {"tp1-pp1", {}}}, &why),
              ElementsAre(0, 2, 1, 3));
}

TEST(RanksFromPlaces, IgnoresDimensionsGivenByTheTensorRank) {
  std::string why;
  EXPECT_THAT(
      Ranks({{"tp0-dp0-ep0", {}}, {"tp1-dp0-ep1", {}}, {"tp2-dp1-ep2", {}}, {"tp3-dp1-ep3", {}}}, &why),
      ElementsAre(0, 1, 2, 3));
}

TEST(RanksFromPlaces, GroupsGiveTheOrderOfPipelineAndData) {
  std::string why;
  const auto of = [&](std::vector<int> a, std::vector<int> b, std::vector<int> c, std::vector<int> d) {
    return Ranks({{"pp0-dp0", a}, {"pp0-dp1", b}, {"pp1-dp0", c}, {"pp1-dp1", d}}, &why);
  };
  EXPECT_THAT(of({0, 1}, {0, 1}, {2, 3}, {2, 3}), ElementsAre(0, 1, 2, 3))
      << "data-parallel groups of neighbours";
  EXPECT_THAT(of({0, 2}, {1, 3}, {0, 2}, {1, 3}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(of({0, 1}, {2, 3}, {0, 1}, {2, 3}), ElementsAre(0, 2, 1, 3)) << "pipelines of neighbours";
  EXPECT_THAT(of({}, {}, {}, {}), IsEmpty());
  EXPECT_THAT(why, HasSubstr("two orders"));
}

TEST(RankByHand, ReadsAGroupOrANumber) {
  EXPECT_EQ(*RankByHand({"TP-(\\d+)"}, "a/p-TP-12-DP-0.json"), 12);
  EXPECT_EQ(*RankByHand({"TP-1-DP-1.*=3", "TP-(\\d+)"}, "p-TP-1-DP-1.json"), 3);
  EXPECT_EQ(*RankByHand({"TP-1-DP-1.*=3", "TP-(\\d+)"}, "p-TP-1-DP-0.json"), 1);
  EXPECT_EQ(*RankByHand({"tp=(\\d+)"}, "tp=4.json"), 4);
  EXPECT_EQ(*RankByHand({"TP-(\\d+)"}, "other.json"), -1);
  EXPECT_FALSE(RankByHand({"TP-\\d+"}, "TP-1").ok());
  EXPECT_FALSE(RankByHand({"("}, "TP-1").ok());
  EXPECT_FALSE(RankByHand({"(\\w+)"}, "name").ok());
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
