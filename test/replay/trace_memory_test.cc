// A replay that does not fit in memory is refused before it begins; the error states the need.
#include "replay/run/trace_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

// `ranks` ranks of `nodes` nodes each, which share one graph.
TraceSet Set(int ranks, uint32_t nodes, uint32_t calls = 0) {
  GraphDraft draft;
  draft.comm.resize(calls);
  draft.id.resize(nodes);
  auto graph = std::make_shared<Graph>();
  graph->id = draft.id;
  graph->comm = draft.comm;
  TraceSet set;
  for (int r = 0; r < ranks; ++r) {
    RankTrace& rank = set.ranks.emplace_back();
    rank.rank = r;
    rank.graph = graph;
  }
  return set;
}

// Times, lanes and places for one graph, and counts of waits for each rank's nodes.
TEST(TraceMemory, SharedGraphCountsOnce) {
  const TraceSet set = Set(1000, 1000);
  const uint64_t graph = 1000 * (sizeof(Time) + 1 + 8), ranks = uint64_t{1000} * 1000 * 4;
  EXPECT_TRUE(CheckMemory(set, graph + ranks).ok());
  EXPECT_FALSE(CheckMemory(set, graph + ranks - 1).ok());
}

// With recorded communication, ranks need neither lanes nor waits, and share the list of their calls.
TEST(TraceMemory, WalksNeedTimesAndCalls) {
  const TraceSet set = Set(1000, 1000, 500);
  const uint64_t walks = 1000 * (sizeof(Time) + 1) + 500 * 8;
  EXPECT_TRUE(CheckMemory(set, walks, true).ok());
  EXPECT_FALSE(CheckMemory(set, walks - 1, true).ok());
  EXPECT_TRUE(CheckMemory(set, 1000 + 500 * 8, true, true).ok());
  EXPECT_FALSE(CheckMemory(set, 1000 + 500 * 8 - 1, true, true).ok());
  EXPECT_FALSE(CheckMemory(set, walks).ok());
}

TEST(TraceMemory, RefusalStatesTheNeed) {
  const absl::Status status = CheckMemory(Set(16384, 20000), 1000000000);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("16384 ranks with 327680000 nodes needs at least 1.31 GB"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("1 GB are free"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
