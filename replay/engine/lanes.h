// Lanes: they keep two ready nodes of a rank from running at the same time.
//
// A strict lane (a recorded thread or stream, a communicator) runs its nodes in recorded order: it is a chain
// in which each node waits for the node before. A queued lane (one compute or communication unit without
// recorded order) also runs one node at a time; of the ready nodes it takes the one that the trace recorded
// first.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replay/engine/lane_policy.h"
#include "replay/engine/match/match.h"
#include "trace/model/trace.h"

namespace chakra {

// Beside the named ones each unit of computation in any order (kAnyOrder) has one, from kFirstUnit on.
enum QueuedLane : uint8_t {
  kHostLane,
  kComputeLane,
  kCommLane,
  kStorageLane,
  kFirstUnit,
  kNoQueuedLane = 255
};

// The lanes of one distinct graph.
struct GraphLanes {
  std::vector<uint8_t> queue;        // QueuedLane by row
  uint32_t queues = kFirstUnit;      // all in `queue` are below
  std::vector<uint32_t> chain_next;  // by row: next row of the strict lane, or kNoRow; empty: no chains
  std::vector<uint32_t> by_place;    // rows in the order in which a queued lane prefers them
  std::vector<uint32_t> place;       // the inverse: by row, its position in by_place
};

// The lanes of one rank that its graph does not have: chains of communication nodes without a recorded lane.
struct RankLanes {
  std::vector<uint32_t> comm_next;  // by row of graph->comm: the next row of the chain, or kNoRow
};

// Whether the trace names the thread or stream on which `row` ran.
bool RunsOnRecordedLane(const Graph& graph, uint32_t row);

// Queued lanes prefer nodes in Graph::order; with kSingle by node id alone, as in ASTRA-sim.
GraphLanes LanesOfGraph(const Graph& graph, LanePolicy policy);

// kRecorded: collectives form a chain for each group, sends one for each destination. Other policies have no
// chains: a rank makes its calls as they become ready.
RankLanes LanesOfRank(const RankTrace& trace, LanePolicy policy, const Matching& matching);

}  // namespace chakra
