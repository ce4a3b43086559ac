// Lanes keep two ready nodes of a rank from running at the same time.
//
// A strict lane (a recorded thread or stream, or a group) runs its nodes in recorded order: it is a chain in
// which each node waits for the node before. A queued lane (one compute or communication unit without
// recorded order) also runs one node at a time, but among the ready nodes it picks the one that the trace
// recorded first.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replay/engine/lane_policy.h"
#include "replay/engine/match/match.h"
#include "trace/model/trace.h"

namespace chakra {

// Units that run their nodes in any order (kAnyOrder) have the numbers from kFirstUnit on, one each.
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
  uint32_t queues = kFirstUnit;      // all values in `queue` are below this, or kNoQueuedLane
  std::vector<uint32_t> chain_next;  // by row: next row of the strict lane, or kNoRow; empty: no chains
  std::vector<uint32_t> by_place;    // rows in the order in which a queued lane prefers them
  std::vector<uint32_t> place;       // the inverse of by_place: by row, its position
};

// Lanes of one rank that depend on more than its graph: chains of communication nodes without a recorded
// lane.
struct RankLanes {
  std::vector<uint32_t> comm_next;  // by index into graph->comm: the next row of the chain, or kNoRow
};

// Whether the trace names the thread or stream on which `row` ran.
bool RunsOnRecordedLane(const Graph& graph, uint32_t row);

// Queued lanes prefer nodes in the order of Graph::order; with kSingle, in the order of node ids, as in
// ASTRA-sim.
GraphLanes LanesOfGraph(const Graph& graph, LanePolicy policy);

// kRecorded: collectives form a chain for each group, and sends form a chain for each destination. Other
// policies have no chains: a rank makes its calls as they become ready.
RankLanes LanesOfRank(const RankTrace& trace, LanePolicy policy, const Matching& matching);

}  // namespace chakra
