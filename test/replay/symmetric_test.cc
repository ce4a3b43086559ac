#include "replay/run/symmetric.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "replay/engine/match/match.h"
#include "test/replay/trace_builder.h"
#include "test/trace/graph_of.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"

namespace chakra::CHAKRA_FILE {
namespace {

// Rank `rank` sends to `to`.
TraceSet OneSender(int rank, int to) {
  GraphDraft graph;
  graph.id = {7};
  graph.name = {graph.strings.Intern("send")};
  graph.type = {NodeType::kSend};
  graph.flags = {0};
  graph.duration = {Time::Zero()};
  graph.payload = {0};
  graph.comm.resize(1);
  RankTrace trace;
  trace.rank = rank;
  trace.file = "w.et";
  trace.graph = GraphOf(std::move(graph));
  trace.group_names = {""};
  trace.peers = std::vector<Peer>{{.dst = to}};
  trace.repairs.resize(1);
  TraceSet set;
  set.ranks.push_back(trace);
  return set;
}

TEST(Symmetric, PeersShiftWithTheRank) {
  TraceSet set = OneSender(1, 0);  // to the left neighbour
  ASSERT_TRUE(MakeSymmetric(4, &set).ok());
  ASSERT_EQ(set.ranks.size(), 4u);
  EXPECT_EQ(set.distinct_graphs(), 1u);
  const int left[] = {3, 0, 1, 2};
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(set.ranks[r].rank, r);
    EXPECT_EQ(set.ranks[r].peers[0].dst, left[r]) << r;
    EXPECT_EQ(set.ranks[r].peers[0].src, kNoRank) << r;
    EXPECT_EQ(set.ranks[r].repairs.size(), r == 0 ? 1u : 0u);
  }
}

TEST(Symmetric, RefusesOutsidePeersAndSeveralTraces) {
  TraceSet set = OneSender(0, 4);
  const absl::Status outside = MakeSymmetric(4, &set);
  EXPECT_NE(std::string(outside.message()).find("comm_dst is rank 4"), std::string::npos) << outside;
  TraceSet two = OneSender(0, 1);
  two.ranks.push_back(two.ranks[0]);
  EXPECT_FALSE(MakeSymmetric(4, &two).ok());
}

TEST(Symmetric, GroupsTileTheRanks) {
  TraceSet set = OneSender(0, 1);
  set.ranks[0].group_names = {"", "tp", "dp"};
  set.groups = {{"tp", {0, 1}}, {"dp", {0, 2}}};
  ASSERT_TRUE(MakeSymmetric(8, &set).ok());
  EXPECT_EQ(set.groups.at(set.ranks[1].group_names[1]), (std::vector<int>{0, 1}));
  EXPECT_EQ(set.groups.at(set.ranks[5].group_names[1]), (std::vector<int>{4, 5}));
  EXPECT_EQ(set.groups.at(set.ranks[3].group_names[2]), (std::vector<int>{1, 3}));
  EXPECT_EQ(set.groups.at(set.ranks[7].group_names[2]), (std::vector<int>{5, 7}));
  TraceSet odd = OneSender(0, 1);
  odd.ranks[0].group_names = {"", "g"};
  odd.groups = {{"g", {0, 1, 3}}};
  EXPECT_FALSE(MakeSymmetric(6, &odd).ok());
}

TEST(Symmetric, RootsMoveWithTheirGroup) {
  TraceSet set = OneSender(0, 1);
  set.ranks[0].group_names = {"", "tp"};
  set.groups = {{"tp", {0, 2}}};
  Peer peer = set.ranks[0].peers[0];
  peer.group = 1;
  peer.root = 2;
  set.ranks[0].peers = std::vector<Peer>{peer};
  ASSERT_TRUE(MakeSymmetric(8, &set).ok());
  const int root[] = {2, 3, 2, 3, 6, 7, 6, 7};
  for (int r = 0; r < 8; ++r) EXPECT_EQ(set.ranks[r].peers[0].root, root[r]) << r;
}

// A pipeline stage in a ring, traced on rank 3 of 4. It computes, sends 1 MiB to the next stage, then
// receives from the stage before.
class OneTracedRank : public ::testing::Test {
 protected:
  void SetUp() override {
    TraceBuilder t(1);
    const uint64_t work = t.Comp(0, 100).id();
    const uint64_t send = t.Send(0, 0, 1 << 20, 5, {work}).id();
    t.Recv(0, 2, 1 << 20, 5, {send});
    t.Coll(0, CollectiveType::kAllReduce, 1 << 20, {send}, "pair");
    dir_ = ::testing::TempDir() + "/isolated_rank_" + std::to_string(::getpid());
    std::filesystem::create_directories(dir_);
    file_ = dir_ + "/stage.3.et";
    ASSERT_TRUE(t.Write(0, file_).ok());
    std::ofstream(dir_ + "/stage.json") << R"({"pair": [2, 3]})";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string dir_, file_;
};

TEST_F(OneTracedRank, PeersAndGroupsAreRelativeToRecordedRank) {
  absl::StatusOr<TraceSet> set = ReadTraceSet({file_}, ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ranks[0].rank, 0);
  EXPECT_EQ(set->ranks[0].recorded_rank, 3);
  EXPECT_EQ(set->ranks[0].repairs.size(), 1u);
  ASSERT_TRUE(MakeSymmetric(4, &*set).ok());
  EXPECT_TRUE(set->ranks[0].repairs.empty());  // nothing was taken as rank 0
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(set->ranks[r].peers[0].dst, (r + 1) % 4) << r;
    EXPECT_EQ(set->ranks[r].peers[1].src, (r + 3) % 4) << r;
    EXPECT_EQ(set->groups.at(set->ranks[r].group_names[1]), (std::vector<int>{r / 2 * 2, r / 2 * 2 + 1}))
        << r;
  }
  const absl::StatusOr<Matching> matching = MatchCommunication(*set, {});
  ASSERT_TRUE(matching.ok()) << matching.status();
  EXPECT_EQ(matching->messages.size(), 4u);
  EXPECT_EQ(matching->calls.size(), 2u);
}

TEST_F(OneTracedRank, RefusesFewerRanksThanRecordedRank) {
  absl::StatusOr<TraceSet> set = ReadTraceSet({file_}, ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  const absl::Status few = MakeSymmetric(3, &*set);
  EXPECT_NE(std::string(few.message()).find("stage.3.et: the trace is of rank 3"), std::string::npos) << few;
}

// Rank 0 of 8, tensor-parallel by 2, data-parallel by 2, in a pipeline of 2; the whole job also reduces.
TraceSet RankOfEight() {
  TraceBuilder t(1);
  t.Coll(0, CollectiveType::kAllReduce, 4096, {}, "world");
  t.Coll(0, CollectiveType::kAllGather, 4096, {0}, "dp");
  t.Coll(0, CollectiveType::kReduceScatter, 4096, {1}, "dp");
  t.Coll(0, CollectiveType::kAllGather, 4096, {2}, "tp");
  t.Coll(0, CollectiveType::kBroadcast, 64, {3}, "pp");
  t.groups = {{"world", {0, 1, 2, 3, 4, 5, 6, 7}}, {"dp", {0, 2}}, {"tp", {0, 1}}, {"pp", {0, 4}}};
  absl::StatusOr<TraceSet> set = t.Build();
  EXPECT_TRUE(set.ok()) << set.status();
  std::vector<Peer> peers = set->ranks[0].peers;
  peers[4].root = 4;
  set->ranks[0].peers = peers;
  return *std::move(set);
}

std::vector<int> GroupOf(const TraceSet& set, int rank, int call) {
  const RankTrace& trace = set.ranks[static_cast<size_t>(rank)];
  return set.groups.at(trace.group_names[trace.peers[static_cast<size_t>(call)].group]);
}

uint64_t BytesOf(const TraceSet& set, int call) {
  return set.ranks[0].graph->comm[static_cast<size_t>(call)].bytes;
}

Replicas Named(const std::string& group, int to) { return {group, to}; }

TEST(OneRankAsMany, GrowsWorldGroupAndRepeatsOthers) {
  TraceSet set = RankOfEight();
  ASSERT_TRUE(MakeSymmetric(1024, &set).ok());
  EXPECT_TRUE(set.of_one_trace);
  EXPECT_EQ(set.distinct_graphs(), 1u);
  EXPECT_EQ(GroupOf(set, 0, 0).size(), 1024u);
  EXPECT_EQ(GroupOf(set, 1000, 0), GroupOf(set, 0, 0));
  EXPECT_EQ(GroupOf(set, 1001, 1), (std::vector<int>{1001, 1003}));
  EXPECT_EQ(GroupOf(set, 1001, 3), (std::vector<int>{1000, 1001}));
  EXPECT_EQ(GroupOf(set, 1001, 4), (std::vector<int>{1001, 1005}));
  EXPECT_EQ(set.ranks[1001].peers[4].root, 1005);
  for (int call = 0; call < 4; ++call) EXPECT_EQ(BytesOf(set, call), 4096u) << call;
  ASSERT_EQ(set.assumptions.size(), 4u);
  EXPECT_EQ(set.assumptions[0], "group \"dp\" of 2 ranks stays (0, 2) and is repeated, 512 in all");
  EXPECT_EQ(set.assumptions[3].rfind("group \"world\" of 8 ranks grows to 1,024 (0, 1, 2, ", 0), 0u)
      << set.assumptions[3];
  EXPECT_TRUE(MatchCommunication(set, {}).ok());
}

// Fully sharded data: each rank holds a share of the same whole.
TEST(OneRankAsMany, SharesShrinkAsTheGroupGrows) {
  TraceBuilder t(1);
  t.Coll(0, CollectiveType::kAllGather, 4096, {}, "w");
  t.Coll(0, CollectiveType::kReduceScatter, 32768, {0}, "w");
  t.Coll(0, CollectiveType::kGather, 64, {1}, "w");
  t.Coll(0, CollectiveType::kAllToAll, 512, {2}, "w");
  t.groups = {{"w", {1, 2, 3, 0, 4, 5, 6, 7}}};  // members in an order of their own
  absl::StatusOr<TraceSet> set = t.Build();
  ASSERT_TRUE(set.ok());
  ASSERT_TRUE(MakeSymmetric(32, &*set).ok());
  EXPECT_EQ(BytesOf(*set, 0), 1024u);
  EXPECT_EQ(BytesOf(*set, 1), 32768u);
  EXPECT_EQ(BytesOf(*set, 2), 16u);
  EXPECT_EQ(BytesOf(*set, 3), 512u);
  const std::vector<int> group = GroupOf(*set, 9, 0);
  EXPECT_EQ(std::vector<int>(group.begin(), group.begin() + 9),
            (std::vector<int>{1, 2, 3, 0, 4, 5, 6, 7, 8}));
  set = t.Build();
  ASSERT_TRUE(MakeSymmetric(2, &*set).ok()) << "fewer ranks";
  EXPECT_EQ(BytesOf(*set, 0), 16384u);
  set = t.Build();
  ASSERT_TRUE(MakeSymmetric(8, &*set).ok());
  EXPECT_EQ(BytesOf(*set, 0), 4096u);
  EXPECT_EQ(set->assumptions, (std::vector<std::string>{"group \"w\" of 8 ranks stays as it is"}));
}

TEST(OneRankAsMany, GrowsNamedGroupAndItsSupersets) {
  TraceSet set = RankOfEight();
  ASSERT_TRUE(MakeSymmetric(64, &set, {Named("dp", 16)}).ok());
  std::vector<int> dp, world;
  for (int r = 0; r < 32; r += 2) dp.push_back(r);
  for (int r = 0; r < 64; ++r) world.push_back(r);
  EXPECT_EQ(GroupOf(set, 0, 1), dp);
  EXPECT_EQ(GroupOf(set, 0, 3), (std::vector<int>{0, 1}));
  EXPECT_EQ(GroupOf(set, 0, 4), (std::vector<int>{0, 32})) << "the pipeline makes room";
  EXPECT_EQ(GroupOf(set, 63, 4), (std::vector<int>{31, 63}));
  std::vector<int> all = GroupOf(set, 5, 0);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, world);
  EXPECT_EQ(set.ranks[31].peers[4].root, 63);
  EXPECT_EQ(BytesOf(set, 1), 512u);
  EXPECT_EQ(BytesOf(set, 2), 4096u);
  EXPECT_EQ(BytesOf(set, 3), 4096u);
  EXPECT_TRUE(MatchCommunication(set, {}).ok());
  // More ranks than such a job has: several jobs.
  set = RankOfEight();
  ASSERT_TRUE(MakeSymmetric(64, &set, {Named("dp", 4)}).ok());
  EXPECT_EQ(GroupOf(set, 63, 0).size(), 16u);
  EXPECT_EQ(GroupOf(set, 63, 1), (std::vector<int>{57, 59, 61, 63}));
  set = RankOfEight();
  ASSERT_TRUE(MakeSymmetric(64, &set, {Named("", 8)}).ok()) << "the group of all ranks";
  EXPECT_EQ(GroupOf(set, 63, 0).front(), 56);
}

TEST(OneRankAsMany, PeersKeepTheirPlaceInGrownDimension) {
  TraceBuilder t(1);
  t.Send(0, 4, 64, 0);
  t.Recv(0, 4, 64, 0, {0});
  t.Coll(0, CollectiveType::kAllReduce, 64, {1}, "dp");
  t.groups = {{"dp", {0, 2}}};
  absl::StatusOr<TraceSet> set = t.Build();
  ASSERT_TRUE(set.ok());
  ASSERT_TRUE(MakeSymmetric(16, &*set, {Named("dp", 4)}).ok());
  EXPECT_EQ(set->ranks[0].peers[0].dst, 8);
  EXPECT_EQ(set->ranks[3].peers[0].dst, 11);
  EXPECT_TRUE(MatchCommunication(*set, {}).ok());
}

TEST(OneRankAsMany, RefusesImpossibleGrowth) {
  const auto refusal = [](int ranks, const std::vector<Replicas>& replicas) {
    TraceSet set = RankOfEight();
    return std::string(MakeSymmetric(ranks, &set, replicas).message());
  };
  const auto says = [](const std::string& text, const char* what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  says(refusal(64, {Named("xp", 4)}), "--replicas xp=4: no group of that name; the trace has \"dp\" of 2, ");
  says(refusal(6, {}),
       "group \"dp\" of rank 0 has no counterpart for rank 1; expected a multiple of 4 ranks");
  says(refusal(8, {Named("dp", 4)}), "group \"pp\" has the ranks 0, 8; expected --ranks of more than 8");
  says(refusal(64, {Named("dp", 4), Named("tp", 4)}), "--replicas tp=4: given twice");
  TraceSet odd = RankOfEight();
  odd.groups["world"] = {0, 1, 3};
  says(std::string(MakeSymmetric(64, &odd, {Named("", 4)}).message()), "expected GROUP=N");
  odd = RankOfEight();
  odd.groups["world"] = {0, 1, 2};
  says(std::string(MakeSymmetric(64, &odd, {Named("dp", 4)}).message()), "holds some places of the dimension");
  TraceSet few = RankOfEight();
  few.ranks[0].recorded_rank = 6;
  says(std::string(MakeSymmetric(64, &few, {Named("", 4)}).message()), "rank 6 would no longer be a member");
  for (const char* bad : {"", "x", "dp=", "dp=0", "-1", "dp=4x"})
    EXPECT_FALSE(ParseReplicas(bad).ok()) << bad;
  EXPECT_EQ(ParseReplicas("a=b=4")->group, "a=b");
}

// No group is known as data-parallel: none grows, and an assumption states how to name one.
TEST(OneRankAsMany, NoGroupGrowsWithoutWorldGroup) {
  TraceSet set = RankOfEight();
  set.groups.erase("world");
  set.ranks[0].group_names[1] = "";
  ASSERT_TRUE(MakeSymmetric(16, &set).ok());
  EXPECT_EQ(GroupOf(set, 15, 1), (std::vector<int>{13, 15}));
  ASSERT_EQ(set.assumptions.size(), 5u);
  EXPECT_EQ(set.assumptions[3],
            "calls that name no group are of all 16 ranks, with the bytes that were recorded");
  EXPECT_EQ(set.assumptions[4].rfind("no group has all recorded ranks", 0), 0u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
