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

}  // namespace
}  // namespace chakra
