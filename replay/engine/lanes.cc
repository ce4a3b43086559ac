#include "replay/engine/lanes.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "replay/engine/lane_policy.h"
#include "trace/model/any_order.h"

namespace chakra {
namespace {

bool IsComm(NodeType type) {
  return type == NodeType::kCollective || type == NodeType::kSend || type == NodeType::kRecv;
}

QueuedLane QueueOf(const Graph& graph, uint32_t row, LanePolicy policy) {
  const bool single = policy == LanePolicy::kSingle;
  switch (graph.type[row]) {
    case NodeType::kComp:
      if (graph.is_kept_comm(row)) return single ? kCommLane : kNoQueuedLane;
      return graph.is_cpu(row) ? kHostLane : kComputeLane;
    case NodeType::kMemLoad:
    case NodeType::kMemStore:
      return single ? kCommLane : kStorageLane;
    case NodeType::kCollective:
    case NodeType::kSend:
      return single ? kCommLane : kNoQueuedLane;
    default:  // a receive only listens and occupies no lane
      return kNoQueuedLane;
  }
}

// Whether a row is computation on a unit that runs its nodes in any order.
bool IsUnit(const Graph& graph, uint32_t row) {
  return graph.type[row] == NodeType::kComp && InAnyOrder(graph, row) && !graph.lane.empty() &&
         graph.lane[row] != kNoLane && !graph.is_kept_comm(row);
}

}  // namespace

bool RunsOnRecordedLane(const Graph& graph, uint32_t row) {
  return !graph.lane.empty() && graph.lane[row] != kNoLane && graph.type[row] != NodeType::kMetadata &&
         graph.type[row] != NodeType::kInvalid && !InAnyOrder(graph, row);
}

GraphLanes LanesOfGraph(const Graph& graph, LanePolicy policy) {
  GraphLanes lanes;
  lanes.queue.assign(graph.size(), kNoQueuedLane);
  lanes.by_place = graph.order;
  if (policy == LanePolicy::kSingle) {
    std::sort(lanes.by_place.begin(), lanes.by_place.end(),
              [&](uint32_t a, uint32_t b) { return graph.id[a] < graph.id[b]; });
  }
  lanes.place.resize(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) lanes.place[lanes.by_place[i]] = i;
  if (policy == LanePolicy::kUnlimited) return lanes;
  absl::flat_hash_map<uint64_t, uint32_t> last;  // (host or device, lane) -> row
  absl::flat_hash_map<int32_t, uint8_t> units;   // lane -> queued lane
  for (uint32_t row : graph.order) {
    if (policy == LanePolicy::kRecorded && RunsOnRecordedLane(graph, row)) {
      const uint64_t key = uint64_t{graph.is_cpu(row)} << 32 | static_cast<uint32_t>(graph.lane[row]);
      const auto [it, fresh] = last.emplace(key, row);
      if (!fresh) {
        if (lanes.chain_next.empty()) lanes.chain_next.assign(graph.size(), kNoRow);
        lanes.chain_next[it->second] = row;
        it->second = row;
      }
    } else if (policy == LanePolicy::kRecorded && IsUnit(graph, row)) {
      // If there are more units than numbers, the units beyond share the last number.
      const auto [it, fresh] = units.emplace(
          graph.lane[row], static_cast<uint8_t>(std::min<uint32_t>(lanes.queues, kNoQueuedLane - 1)));
      if (fresh) lanes.queues = std::min<uint32_t>(lanes.queues + 1, kNoQueuedLane);
      lanes.queue[row] = it->second;
    } else {
      lanes.queue[row] = QueueOf(graph, row, policy);
    }
  }
  return lanes;
}

RankLanes LanesOfRank(const RankTrace& trace, LanePolicy policy, const Matching& matching) {
  RankLanes lanes;
  const Graph& graph = *trace.graph;
  if (policy != LanePolicy::kRecorded || graph.comm.empty()) return lanes;
  lanes.comm_next.assign(graph.comm.size(), kNoRow);
  absl::flat_hash_map<uint64_t, uint32_t> last;  // group, or destination -> index into graph.comm
  for (uint32_t row : graph.order) {
    if (!IsComm(graph.type[row]) || graph.type[row] == NodeType::kRecv) continue;
    if (RunsOnRecordedLane(graph, row)) continue;
    const bool send = graph.type[row] == NodeType::kSend;
    const uint32_t payload = graph.payload[row];
    const uint32_t index = matching.slots[trace.rank][payload].index;
    const uint64_t key = send ? uint64_t{1} << 32 | static_cast<uint32_t>(matching.messages[index].dst)
                              : uint64_t{matching.calls[index].group};
    const auto [it, fresh] = last.emplace(key, payload);
    if (!fresh) {
      lanes.comm_next[it->second] = row;
      it->second = payload;
    }
  }
  return lanes;
}

}  // namespace chakra
