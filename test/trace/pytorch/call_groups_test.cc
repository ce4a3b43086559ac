#include "trace/import/join/call_groups.h"

#include <map>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"
#include "test/trace/pytorch/capture_files.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A rank whose NCCL kernels nothing names: `streams` pairs of (stream, begin of each call).
KinetoBuilder NamelessRank(int rank, int world,
                           const std::vector<std::pair<int, std::vector<int64_t>>>& streams,
                           const std::vector<int64_t>& ends) {
  KinetoBuilder k;
  k.Rank(rank, world).Op(1, "start", 0, 10);
  for (const auto& [stream, begins] : streams) {
    for (size_t i = 0; i < begins.size(); ++i) {
      k.Launch(1, begins[i] - 500, 100, stream, "ncclKernel_AllReduce_RING_LL_Sum_float(x)", begins[i],
               ends[i] - begins[i]);
    }
  }
  return k;
}

const CallGroup& GroupOf(const Capture& c, uint32_t rank) {
  for (const uint32_t row : c.joined.call_groups.of[rank]) {
    if (row != kNoRow) return c.joined.call_groups.groups[row];
  }
  static const CallGroup none;
  ADD_FAILURE() << "no group";
  return none;
}

TEST(CallGroups, NotesGuessesAndStrictRefusesThem) {
  const CaptureFolder folder;
  folder.Rank(0, NamelessRank(0, 8, {{20, {10000, 50000}}}, {20000, 60000}));
  const Capture c = folder.Read();
  EXPECT_EQ(GroupOf(c, 0).origin, GroupOrigin::kGuessed);
  EXPECT_EQ(Notes(c, "group_guessed"), 2u);
  ASSERT_EQ(c.report.groups_size(), 1);
  EXPECT_EQ(c.report.groups(0).origin(), "guessed");
  EXPECT_THAT(c.report.groups(0).evidence(), HasSubstr("all 8 ranks were assumed"));
  ReadOptions strict;
  strict.strict = true;
  EXPECT_THAT(folder.Error(strict), HasSubstr("(an error because strict)"));
}

TEST(CallGroups, FileGivesGroupsThatTheCaptureLacks) {
  const CaptureFolder folder;
  for (int r = 0; r < 2; ++r) folder.Rank(r, NamelessRank(r, 4, {{20, {10000, 50000}}}, {20000, 60000}));
  ReadOptions options;
  options.groups_file = folder.Write("groups/g.txt", R"({"?all_reduce%20@low": [0, 1], "unused": [2, 3]})");
  const Capture c = folder.Read(options);
  EXPECT_EQ(GroupOf(c, 1).origin, GroupOrigin::kAsked);
  EXPECT_EQ(GroupOf(c, 1).name, "all_reduce%20@low");
  EXPECT_THAT(c.joined.groups.at("all_reduce%20@low"), ElementsAre(0, 1));
  EXPECT_EQ(Notes(c, "group_guessed"), 0u);
  bool unused = false;
  for (const std::string& w : c.report.warnings())
    unused = unused || w.find("no call is on group \"unused\"") != w.npos;
  EXPECT_TRUE(unused);
  options.groups_file = folder.At("groups/none.json");
  EXPECT_THAT(folder.Error(options), HasSubstr("groups/none.json"));
  options.groups_file = folder.Write("groups/bad.txt", "[1]");
  EXPECT_THAT(folder.Error(options), HasSubstr("groups/bad.txt: expected an object of groups"));
}

TEST(CallGroups, SeparatesGroupsByTheirStreams) {
  // Tensor groups {0,1}, {2,3} on one stream, data groups {0,2}, {1,3} on another; streams have other numbers
  // on each rank.
  const CaptureFolder folder;
  for (int r = 0; r < 4; ++r) {
    KinetoBuilder k;
    k.Rank(r, 4).Op(1, "start", 0, 10);
    const auto add = [&](int stream, int64_t at, int64_t late, int64_t last, const std::string& name) {
      k.Launch(1, at + late - 500, 100, stream, name, at + late, last - late + 30000);
    };
    for (int i = 0; i < 8; ++i) {
      const auto late = [&](int rank, int what) {
        std::mt19937 random(static_cast<uint32_t>(rank * 1000 + i * 10 + what));
        return static_cast<int64_t>(random() % 40) * 5000;
      };
      const auto last = [&](int a, int b, int what) { return std::max(late(a, what), late(b, what)); };
      add(20 + r, i * 1000000, late(r, 0), last(r / 2 * 2, r / 2 * 2 + 1, 0),
          "ncclKernel_AllReduce_RING_LL_Sum_float(x)");
      add(40 + r, i * 1000000 + 500000, late(r, 1), last(r % 2, r % 2 + 2, 1),
          "ncclKernel_AllReduce_RING_LL_Sum_float(y)");
    }
    folder.Rank(r, k);
  }
  const Capture c = folder.Read();
  std::map<std::string, std::vector<int>> inferred;
  for (const CallGroup& g : c.joined.call_groups.groups) {
    EXPECT_EQ(g.origin, GroupOrigin::kInferred) << g.evidence;
    EXPECT_EQ(g.calls, 16u);
    inferred[g.name] = g.ranks;
  }
  ASSERT_EQ(inferred.size(), 4u);
  EXPECT_THAT(inferred["ranks 0,1"], ElementsAre(0, 1));
  EXPECT_THAT(inferred["ranks 1,3"], ElementsAre(1, 3));
  EXPECT_EQ(Notes(c, "collectives_unshared"), 0u);
}

class GlooJobs : public testing::TestWithParam<const char*> {};

TEST_P(GlooJobs, InfersGroupsAndKeepsClocks) {
  SKIP_WITHOUT_SHARED_DATA();
  auto c = ReadCapture({Shared(absl::StrCat("kineto/jobs/", GetParam()))}, {});
  ASSERT_TRUE(c.ok()) << c.status();
  std::map<std::string, std::vector<int>> groups;
  for (const CallGroup& g : c->joined.call_groups.groups) {
    EXPECT_EQ(g.origin, GroupOrigin::kInferred) << g.name << ": " << g.evidence;
    EXPECT_EQ(g.calls, 24u);
    groups[g.name] = g.ranks;
  }
  ASSERT_EQ(groups.size(), 4u);
  for (const auto& [name, ranks] : std::map<std::string, std::vector<int>>{
           {"ranks 0,1", {0, 1}}, {"ranks 2,3", {2, 3}}, {"ranks 0,2", {0, 2}}, {"ranks 1,3", {1, 3}}}) {
    EXPECT_EQ(groups[name], ranks);
  }
  EXPECT_THAT(c->joined.clock_offset_ns, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(Notes(*c, "comm_peer_unknown"), 0u);
  EXPECT_EQ(Notes(*c, "collectives_unshared"), 0u);
  EXPECT_EQ(c->joined.peers_inferred, std::string(GetParam()) == "gloo_pp4" ? 24u : 0u);
}

INSTANTIATE_TEST_SUITE_P(Shared, GlooJobs, testing::Values("gloo_tp4", "gloo_pp4"),
                         [](const auto& job) { return std::string(job.param); });

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
