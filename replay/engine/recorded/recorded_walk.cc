#include "replay/engine/recorded/recorded_walk.h"

namespace chakra {
namespace {

// Whether the values are 0, 1, 2, ...
bool CountsFromZero(const Column<uint32_t>& values) {
  for (uint32_t i = 0; i < values.size(); ++i) {
    if (values[i] != i) return false;
  }
  return true;
}

bool RowFits(const Graph& graph, uint32_t row) {
  const NodeType type = graph.type[row];
  if (type == NodeType::kMemLoad || type == NodeType::kMemStore) return false;
  if (!RunsOnRecordedLane(graph, row)) return type != NodeType::kComp || graph.is_kept_comm(row);
  return !graph.is_cpu(row) && graph.lane[row] >= 0 && graph.lane[row] < RecordedShape::kMostLanes;
}

}  // namespace

RecordedShape RecordedShape::Of(const Graph& graph) {
  RecordedShape shape;
  shape.like = &graph;
  if (!graph.child_delay.empty() || !graph.child_release.empty() || !CountsFromZero(graph.order))
    return shape;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (!RowFits(graph, row)) return shape;
    if (RunsOnRecordedLane(graph, row))
      shape.lanes = std::max(shape.lanes, static_cast<uint32_t>(graph.lane[row]) + 1);
    for (uint32_t e = graph.dep_begin[row]; e < graph.dep_begin[row + 1]; ++e) {
      while (row - graph.dep[e] >= shape.window) shape.window *= 2;
    }
  }
  shape.fits = true;
  return shape;
}

void RecordedWalk::LookAhead() {
  const uint32_t begin = at_, end = std::min(begin + kAhead, graph_->size());
  std::array<Time, kAhead> times;
  compute_->Read(begin, end - begin, times.data());
  // Communication rows; their transfers are usually consecutive in memory.
  std::array<uint32_t, kAhead> comm, payload;
  uint32_t comms = 0;
  for (uint32_t row = begin; row < end; ++row) {
    Next& next = ahead_[row % kAhead];
    const NodeType type = graph_->type[row];
    next.kind = kOther;
    next.lane = LaneOf(row);
    next.ps = type == NodeType::kComp ? times[row - begin].picos() : 0;
    if (type < NodeType::kSend) continue;
    comm[comms] = row;
    payload[comms++] = graph_->payload[row];
  }
  if (comms > 0 && !own_->transfer.empty()) ReadTransfers(payload.data(), comms, times.data());
  for (uint32_t i = 0; i < comms; ++i) {
    const uint32_t row = comm[i];
    Next& next = ahead_[row % kAhead];
    const bool call = graph_->type[row] == NodeType::kCollective;
    const bool eager = graph_->type[row] == NodeType::kSend && graph_->comm[payload[i]].eager;
    const bool measured = !eager && !own_->transfer.empty() && times[i] != Time::Never();
    next.kind = eager ? kEager : kWaits;
    next.ps = (measured ? times[i] : own_->duration[row]).picos();
    next.rendezvous = (*slots_)[payload[i]] + (call ? 0 : static_cast<uint32_t>(matching_->calls.size()));
  }
  looked_ = end;
}

void RecordedWalk::ReadTransfers(const uint32_t* payload, uint32_t count, Time* times) const {
  bool consecutive = true;
  for (uint32_t i = 1; i < count; ++i) consecutive = consecutive && payload[i] == payload[0] + i;
  if (consecutive) return own_->transfer.Read(payload[0], count, times);
  for (uint32_t i = 0; i < count; ++i) times[i] = own_->transfer[payload[i]];
}

}  // namespace chakra
