// Programs of computation, sends and receives in the LogGOPS model (backends/loggps/loggps.h): the rules of
// LogGOPSim, with one of them mended.
//
// Events are ordered by time, then by when they were made; of the nodes that one event releases, sends are
// made before receives, receives before computation, in recorded order. An event that finds its cpu or card
// busy tries again when they are free, with its place in the order. Messages meet receives of their source
// and tag in the order in which they arrive and are posted. A message keeps the cpu of the number that its
// send has busy at the receiver. A receive takes no time of its own and has ended when its message was taken.
// LogGOPSim gives a released node the time when its cpu is free, which on a cpu that idles may lie before the
// release; here a node never begins before what it waits for has ended.
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

// Runs ahead(): an end is known as soon as its node begins, and what it releases has its place in the order.
class LogGps final : public Communication {
 public:
  // The arguments must outlive the object.
  LogGps(const TraceSet& traces, const std::vector<ComputeTimes>& compute, const EndpointPrices& prices,
         const EngineOptions& options)
      : traces_(traces), compute_(compute), distinct_(traces), prices_(prices), options_(options) {}

  // Errors: a collective or an access to memory, which the model does not know; options that it does not
  // take.
  absl::Status Prepare() override;
  bool ahead() const override { return true; }
  void Begin(uint32_t, uint32_t, Time, CauseRef) override {}
  void Released(uint32_t rank, uint32_t row, Time not_before) override {
    if (ranks_[rank].released.empty()) touched_.push_back(rank);
    ranks_[rank].released.push_back({row, not_before});
  }
  Time NextEvent(Time limit) override;
  // One event alone: what it releases comes before the next.
  void AdvanceTo(Time now) override;
  absl::Status Unfinished(uint64_t left) const override;
  void Report(Metrics* metrics) override;

 private:
  enum Kind : uint8_t { kNode, kMessage };
  struct Event {
    Time at;
    uint64_t order;
    Kind kind;
    uint32_t rank, row;  // of the node; of a message's send
    bool Before(const Event& o) const { return at != o.at ? at < o.at : order < o.order; }
  };
  // When a resource is free, by its number.
  struct Units {
    std::vector<Time> free;
    Time& operator[](size_t i) {
      if (free.size() <= i) free.resize(i + 1);
      return free[i];
    }
  };
  struct Side {
    uint32_t rank, row;
    Time done;  // of a message: when the receiver has taken it
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
    std::vector<uint8_t> waiting;  // by row: communication that has begun and not ended
    std::vector<Row> released;     // by the event at hand
    Queue posted, arrived;         // receives, and messages as (rank, row) of their sends
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
  // Numbers of a node's cpu and card; those without are 0.
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
