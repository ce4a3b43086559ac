// Measures how long a rank was busy, by class of work, node by node.
#pragma once

#include <array>
#include <cstdint>

#include "absl/base/attributes.h"
#include "replay/engine/measure/metrics.h"
#include "trace/base/units.h"
#include "trace/model/device_copy.h"
#include "trace/model/trace.h"

namespace chakra {

// The caller calls Begin() and End() in the order of time. Each pair has one class and, if that is
// communication, one kind (EngineOptions::comm_kinds).
class BusyClock {
 public:
  enum Class : uint8_t { kCompute, kHost, kComm, kMemory, kNothing };

  void Begin(Class c, Time now, uint8_t kind = 0) {
    Settle(now);
    ++running_[c];
    if (c == kComm) ++of_kind_[kind];
  }
  void End(Class c, Time now, uint8_t kind = 0) {
    Settle(now);
    --running_[c];
    if (c == kComm) --of_kind_[kind];
    totals_.end = now;
  }
  // The totals of all nodes that have ended. The caller sets RankMetrics::nodes.
  RankMetrics Totals() const {
    RankMetrics totals = totals_;
    totals.idle = totals.end - any_;
    return totals;
  }

 private:
  void Settle(Time now) {
    if (now == last_) return;
    Spend(now - last_);
    last_ = now;
  }
  void Spend(Time span) {
    const bool compute = running_[kCompute] > 0, comm = running_[kComm] > 0;
    const bool host = running_[kHost] > 0, memory = running_[kMemory] > 0;
    if (compute) totals_.compute_busy += span;
    if (host) totals_.host_busy += span;
    if (comm) totals_.comm_busy += span;
    if (memory) totals_.memory_busy += span;
    if (memory && !compute && !comm) totals_.exposed_memory += span;
    if (comm && !compute) {
      totals_.exposed_comm += span;
      size_t kind = 0;
      while (of_kind_[kind] == 0) ++kind;
      totals_.exposed_of[kind] += span;
    }
    if (compute || comm || host || memory) any_ += span;
  }

  std::array<uint32_t, 5> running_{};
  std::array<uint32_t, kCommKinds> of_kind_{};
  Time last_, any_;
  RankMetrics totals_;
};

// The class of work of a node.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline BusyClock::Class ClassOf(const Graph& graph, uint32_t row) {
  switch (graph.type[row]) {
    case NodeType::kComp:
      if (graph.is_kept_comm(row)) return BusyClock::kComm;
      if (IsDeviceCopy(graph, row)) return BusyClock::kMemory;
      return graph.is_cpu(row) ? BusyClock::kHost : BusyClock::kCompute;
    case NodeType::kMemLoad:
    case NodeType::kMemStore:
      return BusyClock::kMemory;
    case NodeType::kSend:
    case NodeType::kRecv:
    case NodeType::kCollective:
      return BusyClock::kComm;
    default:
      return BusyClock::kNothing;
  }
}

}  // namespace chakra
