#include "replay/engine/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/engine/lane_policy.h"
#include "test/replay/trace_builder.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using T = CollectiveType;

TraceSet Built(const TraceBuilder& b) {
  absl::StatusOr<TraceSet> set = b.Build();
  EXPECT_TRUE(set.ok()) << set.status();
  return set.ok() ? *std::move(set) : TraceSet();
}

// One node of each kind, none with a recorded lane, on rank 0 of two.
TraceBuilder OneOfEach() {
  TraceBuilder b(2);
  b.Comp(0, 1);                                      // 0
  TraceBuilder::Int(&b.Comp(0, 1), "is_cpu_op", 1);  // 1
  b.Add(0, et::MEM_LOAD_NODE);                       // 2
  b.Add(0, et::MEM_STORE_NODE);                      // 3
  b.Send(0, 1, 8, 0);                                // 4
  b.Recv(0, 1, 8, 0);                                // 5
  b.Coll(0, T::kBarrier, 0);                         // 6
  b.Add(0, et::METADATA_NODE);                       // 7
  b.Add(0, et::INVALID_NODE);                        // 8
  b.Recv(1, 0, 8, 0);
  b.Send(1, 0, 8, 0);
  b.Coll(1, T::kBarrier, 0);
  return b;
}

TEST(Lanes, EachKindHasItsQueue) {
  const TraceSet set = Built(OneOfEach());
  const Graph& g = *set.ranks[0].graph;
  const GraphLanes single = LanesOfGraph(g, LanePolicy::kSingle);
  EXPECT_THAT(single.queue, ElementsAre(kComputeLane, kHostLane, kCommLane, kCommLane, kCommLane,
                                        kNoQueuedLane, kCommLane, kNoQueuedLane, kNoQueuedLane));
  const GraphLanes recorded = LanesOfGraph(g, LanePolicy::kRecorded);
  EXPECT_THAT(recorded.queue, ElementsAre(kComputeLane, kHostLane, kStorageLane, kStorageLane, kNoQueuedLane,
                                          kNoQueuedLane, kNoQueuedLane, kNoQueuedLane, kNoQueuedLane));
  EXPECT_THAT(recorded.chain_next, IsEmpty());
  EXPECT_THAT(LanesOfGraph(g, LanePolicy::kUnlimited).queue, Each(kNoQueuedLane));
}

TEST(Lanes, RecordedStreamsAndThreadsAreChains) {
  TraceBuilder b(1);
  TraceBuilder::Int(&b.Comp(0, 1), "stream", 7);  // 0
  TraceBuilder::Int(&b.Comp(0, 1), "stream", 8);  // 1
  TraceBuilder::Int(&b.Comp(0, 1), "stream", 7);  // 2
  et::Node& host = b.Comp(0, 1);                  // 3: thread 7 is not stream 7
  TraceBuilder::Int(&host, "is_cpu_op", 1);
  TraceBuilder::Int(&host, "tid", 7);
  b.Comp(0, 1);                                   // 4: no lane
  TraceBuilder::Int(&b.Comp(0, 1), "stream", 7);  // 5
  const TraceSet set = Built(b);
  const Graph& g = *set.ranks[0].graph;
  const GraphLanes recorded = LanesOfGraph(g, LanePolicy::kRecorded);
  EXPECT_THAT(recorded.chain_next, ElementsAre(2u, kNoRow, 5u, kNoRow, kNoRow, kNoRow));
  EXPECT_THAT(recorded.queue, ElementsAre(kNoQueuedLane, kNoQueuedLane, kNoQueuedLane, kNoQueuedLane,
                                          kComputeLane, kNoQueuedLane));
  for (const LanePolicy policy : {LanePolicy::kSingle, LanePolicy::kUnlimited}) {
    EXPECT_THAT(LanesOfGraph(g, policy).chain_next, IsEmpty());
  }
}

TEST(Lanes, SingleOrdersByIdOthersByRecordedStart) {
  TraceBuilder b(1);
  b.Comp(0, 1).set_start_time_micros(30);
  b.Comp(0, 1).set_start_time_micros(10);
  b.Comp(0, 1).set_start_time_micros(20);
  const TraceSet set = Built(b);
  const Graph& g = *set.ranks[0].graph;
  const GraphLanes recorded = LanesOfGraph(g, LanePolicy::kRecorded);
  EXPECT_THAT(recorded.by_place, ElementsAre(1u, 2u, 0u));
  EXPECT_THAT(recorded.place, ElementsAre(2u, 0u, 1u));
  EXPECT_THAT(LanesOfGraph(g, LanePolicy::kSingle).by_place, ElementsAre(0u, 1u, 2u));
}

TEST(Lanes, ChainsCommunicationByGroupAndDestination) {
  TraceBuilder b(3);
  b.groups = {{"a", {0, 1}}};
  b.Coll(0, T::kAllReduce, 8, {}, "a");                          // comm 0
  b.Coll(0, T::kAllReduce, 8);                                   // comm 1
  b.Send(0, 1, 8, 0);                                            // comm 2
  b.Send(0, 2, 8, 0);                                            // comm 3
  b.Coll(0, T::kAllReduce, 8, {}, "a");                          // comm 4
  b.Send(0, 1, 8, 1);                                            // comm 5: another tag, the same receiver
  b.Recv(0, 1, 8, 2);                                            // comm 6
  TraceBuilder::Int(&b.Coll(0, T::kAllReduce, 8), "stream", 9);  // comm 7: on its stream
  b.Coll(0, T::kAllReduce, 8);                                   // comm 8
  for (int r : {1, 2}) {
    if (r == 1) b.Coll(r, T::kAllReduce, 8, {}, "a");
    b.Coll(r, T::kAllReduce, 8);
    b.Recv(r, 0, 8, 0);
    if (r == 1) b.Coll(r, T::kAllReduce, 8, {}, "a");
    if (r == 1) b.Recv(r, 0, 8, 1);
    if (r == 1) b.Send(r, 0, 8, 2);
    b.Coll(r, T::kAllReduce, 8);
    b.Coll(r, T::kAllReduce, 8);
  }
  const TraceSet set = Built(b);
  const absl::StatusOr<Matching> matching = MatchCommunication(set, {});
  ASSERT_TRUE(matching.ok()) << matching.status();
  const RankLanes lanes = LanesOfRank(set.ranks[0], LanePolicy::kRecorded, *matching);
  EXPECT_THAT(lanes.comm_next, ElementsAre(4u, 8u, 5u, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow));
  for (const LanePolicy policy : {LanePolicy::kSingle, LanePolicy::kUnlimited}) {
    EXPECT_THAT(LanesOfRank(set.ranks[0], policy, *matching).comm_next, IsEmpty());
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
