#include "replay/engine/simulated/collective_counts.h"

#include <gtest/gtest.h>

namespace chakra::CHAKRA_FILE {
namespace {

Matching TwoGroups() {
  Matching m;
  m.groups.push_back({"", {0, 1, 2}, 3});
  m.groups.push_back({"pair", {2, 1}, 2});
  return m;
}

CollectiveCall Call(uint32_t group, CollectiveType type, uint64_t bytes) {
  CollectiveCall call;
  call.group = group;
  call.type = type;
  call.bytes = bytes;
  return call;
}

Metrics Of(const CollectiveCounts& counts, size_t ranks) {
  Metrics metrics;
  metrics.ranks.resize(ranks);
  counts.AddTo(&metrics);
  return metrics;
}

TEST(CollectiveCounts, AddsCallsOfOneKindAndGroup) {
  const Matching matching = TwoGroups();
  CollectiveCounts counts(matching);
  const Time us = Time::Nanos(1000);
  counts.CountCall(Call(0, CollectiveType::kAllGather, 100), {us * 1, us * 4, us * 2}, us * 4, us * 9);
  counts.CountCall(Call(0, CollectiveType::kAllGather, 10), {us * 10, us * 10, us * 10}, us * 10, us * 11);
  counts.CountCall(Call(1, CollectiveType::kBroadcast, 7), {us * 1, us * 2}, us * 2, us * 2);
  const Metrics m = Of(counts, 3);
  ASSERT_EQ(m.collectives.size(), 2u);
  const CollectiveMetrics& all = m.collectives.at({"all_gather", ""});
  EXPECT_EQ(all.ranks, 3);
  EXPECT_EQ(all.count, 2u);
  EXPECT_EQ(all.bytes, 330u);  // what a rank receives, as nccl-tests counts
  EXPECT_EQ(all.time, us * 6);
  EXPECT_EQ(all.wait, us * 3);
  EXPECT_EQ(m.collectives.at({"broadcast", "pair"}).bytes, 7u);
}

TEST(CollectiveCounts, CountsWaitsAndTheRanksWaitedFor) {
  const Matching matching = TwoGroups();
  CollectiveCounts counts(matching);
  const Time us = Time::Nanos(1000);
  counts.CountCall(Call(0, CollectiveType::kBarrier, 0), {us * 1, us * 4, us * 4}, us * 4, us * 5);
  counts.CountCall(Call(1, CollectiveType::kBarrier, 0), {us * 8, us * 6}, us * 8, us * 9);  // ranks 2 and 1
  const Metrics m = Of(counts, 3);
  EXPECT_EQ(m.ranks[0].waited, us * 3);
  EXPECT_EQ(m.ranks[1].waited, us * 2);
  EXPECT_EQ(m.ranks[2].waited, Time::Zero());
  EXPECT_EQ(m.ranks[1].kept_waiting, us * 3) << "of two that came last, the first of the group";
  EXPECT_EQ(m.ranks[2].kept_waiting, us * 2);
  EXPECT_EQ(Of(counts, 2).ranks[1].waited, us * 2) << "ranks that the metrics do not have are left out";
}

TEST(CollectiveCounts, ListsAlgorithmsInOrderOfFirstUse) {
  const Matching matching = TwoGroups();
  CollectiveCounts counts(matching);
  const CollectiveCall small = Call(0, CollectiveType::kAllReduce, 8),
                       large = Call(0, CollectiveType::kAllReduce, 512);
  PlannedCall tree, ring;
  tree.algorithm = "tree/ll";
  tree.why = "cheapest";
  ring.algorithm = "ring/simple";
  for (const CollectiveCall& call : {small, large, small}) {
    counts.CountCall(call, std::vector<Time>(3), Time::Zero(), Time::Zero());
    counts.CountChoice(call, call.bytes == 8 ? tree : ring);
  }
  const Metrics m = Of(counts, 3);
  const CollectiveMetrics& total = m.collectives.at({"all_reduce", ""});
  EXPECT_EQ(total.algorithm, "tree/ll");
  ASSERT_EQ(total.chosen.size(), 2u);
  EXPECT_EQ(total.chosen[0].count, 2u);
  EXPECT_EQ(total.chosen[0].why, "cheapest");
  EXPECT_EQ(total.chosen[1].algorithm, "ring/simple");
  EXPECT_EQ(total.chosen[1].least_bytes, 512u);
}

TEST(CollectiveCounts, CountsFlowsAndClosedForms) {
  const Matching matching = TwoGroups();
  CollectiveCounts counts(matching);
  counts.CountFlow();
  counts.CountFlow();
  counts.CountClosed();
  const Metrics m = Of(counts, 0);
  EXPECT_EQ(m.flows, 2u);
  EXPECT_EQ(m.fast_collectives, 1u);
  EXPECT_TRUE(m.collectives.empty());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
