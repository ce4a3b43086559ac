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

#include "replay/engine/lane_policy.h"
#include "replay/engine/match.h"
#include "trace/model/trace.h"

namespace chakra {

enum QueuedLane : uint8_t { kHostLane, kComputeLane, kCommLane, kStorageLane, kNoQueuedLane };
inline constexpr int kQueuedLanes = 4;

// Of one distinct graph.
struct GraphLanes {
  std::vector<uint8_t> queue;        // QueuedLane by row
  std::vector<uint32_t> chain_next;  // by row: next of its strict lane, or kNoRow; empty: no chains
  std::vector<uint32_t> by_place;    // rows in the order in which a queued lane prefers them
  std::vector<uint32_t> place;       // the inverse: by row, its position in by_place
};

// Of one rank: chains of communication nodes on which no lane was recorded.
struct RankLanes {
  std::vector<uint32_t> comm_next;  // by row of graph->comm; kNoRow
};

// Whether the trace names the thread or stream on which `row` ran.
bool RunsOnRecordedLane(const Graph& graph, uint32_t row);

// Preference is Graph::order; for kSingle it is the node id alone, as in ASTRA-sim.
GraphLanes LanesOfGraph(const Graph& graph, LanePolicy policy);

// kRecorded: collectives chain by group, sends by destination. The others chain
// nothing: there a rank makes its calls as they become ready.
RankLanes LanesOfRank(const RankTrace& trace, LanePolicy policy, const Matching& matching);

}  // namespace chakra
