#include "replay/symmetric.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace chakra
