#include "replay/run/symmetric.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "replay/engine/match.h"
#include "test/replay/trace_builder.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"

namespace chakra {
namespace {

// Rank `rank` sends to `to`.
TraceSet OneSender(int rank, int to) {
  auto graph = std::make_shared<Graph>();
  graph->id = {7};
  graph->name = {graph->strings.Intern("send")};
  graph->type = {NodeType::kSend};
  graph->flags = {0};
  graph->duration = {Time::Zero()};
  graph->payload = {0};
  graph->comm.resize(1);
  RankTrace trace;
  trace.rank = rank;
  trace.file = "w.et";
  trace.graph = graph;
  trace.group_names = {""};
  trace.peers.resize(1);
  trace.peers[0].dst = to;
  trace.repairs.resize(1);
  TraceSet set;
  set.ranks.push_back(trace);
  return set;
}

TEST(Symmetric, PeersTurnWithTheRank) {
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

TEST(Symmetric, RefusesAPeerOutsideAndMoreThanOneTrace) {
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
  set.ranks[0].peers[0].group = 1;
  set.ranks[0].peers[0].root = 2;
  ASSERT_TRUE(MakeSymmetric(8, &set).ok());
  const int root[] = {2, 3, 2, 3, 6, 7, 6, 7};
  for (int r = 0; r < 8; ++r) EXPECT_EQ(set.ranks[r].peers[0].root, root[r]) << r;
}

// A ring pipeline stage, traced on rank 3 of 4: it works, hands 1 MiB on, and
// then takes what the stage before it has handed on.
class LoneRank : public ::testing::Test {
 protected:
  void SetUp() override {
    TraceBuilder t(1);
    const uint64_t work = t.Comp(0, 100).id();
    const uint64_t send = t.Send(0, 0, 1 << 20, 5, {work}).id();
    t.Recv(0, 2, 1 << 20, 5, {send});
    t.Coll(0, CollectiveType::kAllReduce, 1 << 20, {send}, "pair");
    dir_ = ::testing::TempDir() + "/lone_rank_" + std::to_string(::getpid());
    std::filesystem::create_directories(dir_);
    file_ = dir_ + "/stage.3.et";
    ASSERT_TRUE(t.Write(0, file_).ok());
    std::ofstream(dir_ + "/stage.json") << R"({"pair": [2, 3]})";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string dir_, file_;
};

TEST_F(LoneRank, PeersAndGroupsAreSeenFromTheRecordedRank) {
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

TEST_F(LoneRank, RefusesFewerRanksThanTheRecordedOne) {
  absl::StatusOr<TraceSet> set = ReadTraceSet({file_}, ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  const absl::Status few = MakeSymmetric(3, &*set);
  EXPECT_NE(std::string(few.message()).find("stage.3.et: the trace is of rank 3"), std::string::npos) << few;
}

}  // namespace
}  // namespace chakra
