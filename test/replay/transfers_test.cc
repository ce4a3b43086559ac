#include "replay/engine/measure/transfers.h"

#include <gtest/gtest.h>

#include "test/replay/trace_builder.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;

Metrics Recorded(const TraceBuilder& b) {
  const auto traces = b.Build();
  EXPECT_TRUE(traces.ok()) << traces.status();
  const auto matching = MatchCommunication(*traces, {});
  EXPECT_TRUE(matching.ok()) << matching.status();
  Metrics metrics;
  AddRecordedTransfers(*traces, *matching, &metrics);
  return metrics;
}

void Transfer(et::Node* node, int64_t nanos) { TraceBuilder::Int(node, "transfer_ns", nanos); }

TEST(Transfers, SumTheLongestMemberOfEachCall) {
  TraceBuilder b(2);
  b.groups["g"] = {0, 1};
  const int64_t nanos[2][3] = {{100, 7, 5}, {300, 6, 5}};
  for (int r = 0; r < 2; ++r) {
    Transfer(&b.Coll(r, T::kAllReduce, 8), nanos[r][0]);
    Transfer(&b.Coll(r, T::kAllReduce, 8, {0}), nanos[r][1]);
    Transfer(&b.Coll(r, T::kAllReduce, 8, {1}, "g"), nanos[r][2]);
  }
  Transfer(&b.Send(0, 1, 8, 0), 40);
  Transfer(&b.Recv(1, 0, 8, 0), 50);
  const Metrics m = Recorded(b);
  ASSERT_EQ(m.collectives.size(), 3u);
  EXPECT_EQ(m.collectives.at({"all_reduce", ""}).recorded, Time::Nanos(307));
  EXPECT_EQ(m.collectives.at({"all_reduce", ""}).recorded_count, 2u);
  EXPECT_EQ(m.collectives.at({"all_reduce", "g"}).recorded, Time::Nanos(5));
  EXPECT_EQ(m.collectives.at({"send_recv", ""}).recorded, Time::Nanos(50));
}

TEST(Transfers, UnmeasuredCallsAreNotCounted) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.Coll(r, T::kBarrier, 0);
    b.Coll(r, T::kBarrier, 0, {0}).set_duration_micros(9);  // a duration contains waits
  }
  EXPECT_TRUE(Recorded(b).collectives.empty());
  Transfer(&b.Nodes(1)[1], 0);  // one member, time 0
  const Metrics m = Recorded(b);
  EXPECT_EQ(m.collectives.at({"barrier", ""}).recorded_count, 1u);
  EXPECT_EQ(m.collectives.at({"barrier", ""}).recorded, Time::Zero());
}

// If one trace stands for all ranks, its waits are not part of the transfer.
TEST(Transfers, OneTraceUsesLeastOfRepeats) {
  TraceBuilder b(1);
  Transfer(&b.Coll(0, T::kAllReduce, 8), 900);
  Transfer(&b.Coll(0, T::kAllReduce, 8, {0}), 300);
  Transfer(&b.Coll(0, T::kAllReduce, 16, {1}), 500);
  auto traces = b.Build();
  ASSERT_TRUE(traces.ok()) << traces.status();
  for (const bool one : {false, true}) {
    traces->of_one_trace = one;
    const auto matching = MatchCommunication(*traces, {});
    ASSERT_TRUE(matching.ok()) << matching.status();
    Metrics m;
    AddRecordedTransfers(*traces, *matching, &m);
    EXPECT_EQ(m.collectives.at({"all_reduce", ""}).recorded, Time::Nanos(one ? 1100 : 1700));
    EXPECT_EQ(m.collectives.at({"all_reduce", ""}).recorded_count, 3u);
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
