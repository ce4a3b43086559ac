// Lanes: what keeps two ready nodes of a rank from running at once.
//
// A strict lane (a recorded thread or stream, a communicator) runs its nodes in
// recorded order; it is a chain, each node waiting for the one before it. A
// queued lane (one compute or communication unit without recorded order) runs
// one node at a time too, and takes of those that are ready the one that the
// trace recorded first.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replay/engine.h"
#include "replay/match.h"
#include "trace/trace.h"

namespace chakra {

enum QueuedLane : uint8_t { kHostLane, kComputeLane, kCommLane, kStorageLane, kNoQueuedLane };
inline constexpr int kQueuedLanes = 4;

// Of one distinct graph.
struct GraphLanes {
  std::vector<uint8_t> queue;         // QueuedLane by row
  std::vector<uint32_t> chain_next;   // by row: next of its strict lane, or kNoRow; empty: no chains
  std::vector<uint32_t> place;        // by row: position in Graph::order
};

// Of one rank: chains of communication nodes on which no lane was recorded.
struct RankLanes {
  std::vector<uint32_t> comm_next;  // by row of graph->comm; kNoRow
};

GraphLanes LanesOfGraph(const Graph& graph, LanePolicy policy);

// kRecorded: collectives chain by group, sends by destination. kSingle: the
// calls of a group are issued in order (chained from issue to issue), so that
// one lane cannot hold a later call than its partners'. kUnlimited: none.
RankLanes LanesOfRank(const RankTrace& trace, LanePolicy policy, const Matching& matching);

}  // namespace chakra
