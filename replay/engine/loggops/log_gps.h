// Programs of computation, sends and receives in the LogGOPS model (backends/loggps/loggps.h). The rules are
// those of LogGOPSim, with one correction.
//
// Events are ordered by time, then by when they were created. Of the nodes that one event releases, the
// events of sends are created before those of receives, and those of receives before computation, in recorded
// order. An event that finds its cpu or NIC busy tries again when they are free, and keeps its place in the
// order. Messages and receives of one source and tag are matched in the order in which they arrive and are
// posted. At the receiver, a message occupies the cpu with the same number as the cpu of its send. A receive
// takes no time of its own; it ends when its message has been taken.
//
// The correction: LogGOPSim gives a released node the time when its cpu is free, which may be before the
// release if the cpu is idle. Here a node never begins before its dependencies have ended.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "backends/endpoint_prices.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/communication.h"
#include "replay/engine/options.h"
#include "trace/base/heap4.h"
#include "trace/model/distinct_graphs.h"
#include "trace/model/trace.h"

namespace chakra {

// Runs ahead(): the end of a node is known as soon as the node begins, and the nodes that it releases are
// placed in the order at once.
class LogGps final : public Communication {
 public:
  // The arguments must outlive the object.
  LogGps(const TraceSet& traces, const std::vector<ComputeTimes>& compute, const EndpointPrices& prices,
         const EngineOptions& options)
      : traces_(traces), compute_(compute), distinct_(traces), prices_(prices), options_(options) {}

  // Errors: a collective or an access to memory, which the model does not have; options that the model does
  // not support.
  absl::Status Prepare() override;
  bool ahead() const override { return true; }
  void Begin(uint32_t, uint32_t, Time, CauseRef) override {}
  void Released(uint32_t rank, uint32_t row, Time not_before) override {
    if (ranks_[rank].released.empty()) touched_.push_back(rank);
    ranks_[rank].released.push_back({row, not_before});
  }
  Time NextEvent(Time limit) override;
  // Handles a single event: the nodes that it releases come before the next event.
  void AdvanceTo(Time now) override;
  absl::Status Unfinished(uint64_t left) const override;
  void Report(Metrics* metrics) override;

 private:
  enum Kind : uint8_t { kNode, kMessage };
  struct Event {
    Time at;
    uint64_t order;
    Kind kind;
    uint32_t rank, row;  // kNode: of the node; kMessage: of the send
    bool Before(const Event& o) const { return at != o.at ? at < o.at : order < o.order; }
  };
  // When each resource is free, by its number.
  struct Units {
    std::vector<Time> free;
    Time& operator[](size_t i) {
      if (free.size() <= i) free.resize(i + 1);
      return free[i];
    }
  };
  struct Side {
    uint32_t rank, row;
    Time done;  // when the receiver has taken the message; unused for a receive
  };
  struct Row {
    uint32_t row;
    Time not_before;
  };
  using Queue = absl::flat_hash_map<std::pair<int32_t, int32_t>, std::deque<Side>>;  // by source and tag
  struct Rank {
    const Graph* graph = nullptr;
    Units cpu, sends, receives;
    std::vector<Time> sent;        // by row: when a send began
    std::vector<uint8_t> waiting;  // by row: whether communication has begun and not ended
    std::vector<Row> released;     // by the current event
    Queue posted, arrived;         // receives; and messages, as (rank, row) of their sends
  };

  void Calc(const Event& e);
  void Send(const Event& e);
  void Receive(const Event& e);
  void Arrive(const Event& e);
  void Meet(Time now, uint32_t sender, uint32_t send_row);
  void Begins(uint32_t rank, uint32_t row) {
    began_.push_back({rank, row});
    ranks_[rank].waiting[row] = 1;
  }
  void Ends(uint32_t rank, uint32_t row, Time at) {
    ended_.push_back({rank, row, at, {}});
    ranks_[rank].waiting[row] = 0;
  }
  void MakeReleased();
  // The numbers of a node's cpu and NIC; 0 if the trace has none.
  static size_t Cpu(const Graph& g, uint32_t row) { return Unit(g, row) % 256; }
  static size_t Card(const Graph& g, uint32_t row) { return Unit(g, row) / 256; }
  static uint32_t Unit(const Graph& g, uint32_t row);
  uint64_t BytesOf(uint32_t r, uint32_t row) const {
    return ranks_[r].graph->comm[ranks_[r].graph->payload[row]].bytes;
  }
  const Peer& PeerOf(uint32_t r, uint32_t row) const {
    return traces_.ranks[r].peers[ranks_[r].graph->payload[row]];
  }
  void Again(Event e, Time at) {
    e.at = at;
    events_.Push(e);
  }

  const TraceSet& traces_;
  const std::vector<ComputeTimes>& compute_;
  const DistinctGraphs distinct_;
  const EndpointPrices& prices_;
  const EngineOptions& options_;
  std::vector<Rank> ranks_;
  Heap4<Event> events_;
  std::vector<uint32_t> touched_;  // ranks with released nodes
  uint64_t order_ = 0;
  CollectiveMetrics total_;
};

}  // namespace chakra
