#include "replay/engine/memory_units.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/memory_model.h"
#include "trace/import/locate.h"

namespace chakra {

MemoryUnits::MemoryUnits(const MemoryModel& model, const std::vector<int>& device_of, uint32_t ranks)
    : model_(model), device_of_(device_of), ranks_(ranks) {
  size_t units = 1;
  for (uint32_t r = 0; r < ranks && shared(); ++r) units = std::max(units, UnitOf(r) + 1);
  free_.assign(units, Time::Zero());
  last_.resize(units);
}

size_t MemoryUnits::UnitOf(uint32_t rank) const {
  if (model_.kind == MemoryModel::Kind::kPool) return 0;
  if (on_network()) return rank % static_cast<uint32_t>(std::max(1, model_.storage_nodes));
  const size_t device = device_of_.empty() ? rank : static_cast<size_t>(device_of_[rank]);
  return device / static_cast<size_t>(std::max(1, model_.ranks_per_node));
}

absl::Status MemoryUnits::Check(const TraceSet& traces) const {
  for (const RankTrace& trace : traces.ranks) {
    const Graph& graph = *trace.graph;
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] != NodeType::kMemLoad && graph.type[row] != NodeType::kMemStore) continue;
      const bool sized = graph.payload[row] != kNoRow && graph.work[graph.payload[row]].has_tensor_bytes;
      if (!sized) {
        return absl::InvalidArgumentError(absl::StrCat(
            DescribeNode(trace, row), ": tensor_size: missing; expected the bytes that the node moves"));
      }
      if (model_.bandwidth.bytes_per_second() <= 0 && !on_network()) {
        return absl::InvalidArgumentError(
            absl::StrCat(DescribeNode(trace, row), ": a ", std::string(Name(graph.type[row])),
                         ", but the cluster configures no memory; set device.memory_gbytes_per_s (local) or "
                         "remote_memory in the cluster file"));
      }
    }
  }
  return absl::OkStatus();
}

MemoryUnits::Access MemoryUnits::Serve(uint32_t rank, uint64_t bytes, Time now) {
  const Time cost = model_.latency + TransferTime(bytes, model_.bandwidth);
  if (!shared()) return {now, now + cost};
  Time& free = free_[UnitOf(rank)];
  const Time begin = std::max(now, free);
  free = begin + cost;
  return {begin, free};
}

// Storage nodes come after the ranks: Machine::Place() numbers devices without a rank in this way.
Flow MemoryUnits::Begin(uint32_t rank, uint32_t row, bool store, uint64_t bytes, uint64_t tag, Time now,
                        CauseRef cause) {
  uint32_t number = static_cast<uint32_t>(transfers_.size());
  if (unused_.empty()) {
    transfers_.emplace_back();
  } else {
    number = unused_.back();
    unused_.pop_back();
  }
  const bool drives = model_.bandwidth.bytes_per_second() > 0;
  transfers_[number] = {rank, row, drives ? Serve(rank, bytes, now).end : now, std::move(cause)};
  ++flows_;
  Flow flow;
  flow.src = static_cast<int>(rank);
  flow.dst = static_cast<int>(ranks_ + UnitOf(rank));
  if (!store) std::swap(flow.src, flow.dst);
  flow.bytes = bytes;
  flow.tag = tag | kTag | number;
  flow.delay = model_.latency;
  return flow;
}

MemoryUnits::Transfer MemoryUnits::TakeTransfer(uint64_t tag) {
  const auto number = static_cast<uint32_t>(tag);
  unused_.push_back(number);
  return std::move(transfers_[number]);
}

}  // namespace chakra
