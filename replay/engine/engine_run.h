// The event loop behind Replay().
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/cluster/variation.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/causes/node_causes.h"
#include "replay/engine/lanes.h"
#include "replay/engine/match/match.h"
#include "replay/engine/measure/busy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/measure/name_times.h"
#include "replay/engine/memory_units.h"
#include "replay/engine/observer.h"
#include "replay/engine/options.h"
#include "replay/engine/price.h"
#include "replay/engine/recorded/recorded_comm.h"
#include "replay/engine/simulated/collective_runner.h"
#include "replay/engine/simulated/messages.h"
#include "replay/engine/slowdown.h"
#include "trace/base/heap4.h"

namespace chakra {

// An event of the engine itself. A node ends; or a node becomes ready (`row` has kReady set); or a stream of
// a collective goes on (`rank` has kWake set and holds the active call, `row` is the stream).
struct Event {
  static constexpr uint32_t kWake = 1u << 31;
  static constexpr uint32_t kReady = 1u << 31;  // bit of `row`: the delays of the node's dependencies are
                                                // over
  Time at;
  uint32_t rank;
  uint32_t row;
  // By time, rank and row; as one number, so that no branch has to be foretold.
  bool Before(const Event& o) const { return Order() < o.Order(); }
  __int128 Order() const { return __int128{at.picos()} << 64 | (uint64_t{rank} << 32 | row); }
};

class Engine {
 public:
  Engine(const TraceSet& traces, const std::vector<ComputeTimes>& compute, Machine& machine,
         const EngineOptions& options, const Matching& matching)
      : traces_(traces),
        compute_(compute),
        machine_(machine),
        options_(options),
        matching_(matching),
        planner_(machine, options_.collectives, PriceUncontended),
        runner_(&machine, options.collectives, matching, options.fast_paths, &planner_, options.flow_log),
        messages_(matching, &machine, options.collectives.library.get(), options.flow_log),
        recorded_(traces, matching, options.least_recorded_comm),
        memory_(options.memory, options.device_of, static_cast<uint32_t>(traces.ranks.size())),
        slowdown_(options.collectives.library == nullptr || options.recorded_comm
                      ? 0
                      : options.collectives.library->slowdown,
                  traces.ranks.size()) {}

  absl::StatusOr<Metrics> Run();

 private:
  struct RankState {
    const RankTrace* trace = nullptr;
    const Graph* graph = nullptr;
    const GraphLanes* lanes = nullptr;
    const ComputeTimes* compute = nullptr;
    const Time* work = nullptr;  // compute->time in memory; null: narrow
    RankLanes own;
    std::vector<uint32_t> waits;   // by row: number of dependencies and lane predecessors that are not done
    std::vector<Time> not_before;  // by row: when the delays of all finished dependencies are over; empty: no
                                   // delays
    std::vector<std::vector<uint32_t>> ready;  // by queued lane: min-heaps of places
    std::vector<uint8_t> running;              // by queued lane: whether a node runs on it
    uint32_t left = 0;
    BusyClock busy;
    const uint8_t* comm_kinds = nullptr;  // by index of Graph::comm; null: all 0
    NameTimes::OfGraph* names = nullptr;
    bool has_device = false;  // computes on a device
    int64_t ranks = 1;        // that do the same; of a twin 1
  };

  void Prepare();
  void Loop();
  void HandleInstant(Time now);
  void AdvanceFabric(Time now);
  void RetireRunner(Time now);
  void DrainRunner();
  // The twins of rank `r` arrive with it.
  void ArriveTwins(const CommSlot& slot, uint32_t row, Time now);
  // Calls that ended for a rank and its twins end for the rank when they did for the last of these.
  void FoldEnded();
  bool HasTwins() const { return options_.twins != nullptr && !options_.twins->empty(); }
  // Gives twins the metrics of the ranks that stand for them.
  void AddTwins(Metrics* metrics) const;
  void Release(uint32_t rank, uint32_t row) {
    if (--ranks_[rank].waits[row] > 0) return;
    const RankState& state = ranks_[rank];
    if (!state.not_before.empty() && state.not_before[row] > now_) {
      events_.Push({state.not_before[row], rank, row | Event::kReady});
    } else {
      if (causes_.on()) causes_.Ready(rank, row);
      ready_.push_back(OfRank(rank, state.lanes->place[row]));
    }
  }
  void Dispatch(Time now);
  void Start(uint32_t rank, uint32_t row, Time now);
  void StartRecorded(uint32_t rank, uint32_t row, Time now);
  void StartSend(uint32_t rank, uint32_t row, Time now);
  void StartReceive(uint32_t rank, uint32_t row, Time now);
  // A receive whose message is under way counts as communication.
  void BeginReceive(const MatchedMessage& message, Time now) {
    const auto rank = static_cast<uint32_t>(message.dst);
    ranks_[rank].busy.Begin(BusyClock::kComm, now, KindOf(rank, message.recv_row));
    if (options_.observer != nullptr) options_.observer->Transfer(rank, message.recv_row, now);
  }
  // Tells the observer that a node begins.
  void Observe(uint32_t rank, uint32_t row, bool recorded, Time now);
  void StartMemory(uint32_t rank, uint32_t row, Time now);
  void EndStorage(const MemoryUnits::Transfer& access, Time now);
  void EndsForMessage(uint32_t index, FlowEnd::Kind kind, Time now);
  void OnMessage(const FlowEnd& end, Time now);
  void Finish(uint32_t rank, uint32_t row, Time now);
  void ReleaseEarly(uint32_t rank, uint32_t row, Time now);
  // Whether the row releases its child `i`, an index into Graph::child, before its end.
  static bool Early(const Graph& graph, uint32_t row, uint32_t i) {
    const int64_t release = graph.child_release[i];
    return release == 0 || (release != kReleaseAtEnd && graph.type[row] == NodeType::kComp);
  }
  void EndAt(Time at, uint32_t rank, uint32_t row) { events_.Push({at, rank, row}); }
  // The kind of communication of a row; 0 of other rows.
  uint8_t KindOf(uint32_t rank, uint32_t row) const {
    const RankState& state = ranks_[rank];
    if (state.comm_kinds == nullptr || state.graph->type[row] < NodeType::kSend) return 0;
    return state.comm_kinds[state.graph->payload[row]];
  }
  // Whether `row` is communication that takes its recorded time.
  bool Recorded(uint32_t rank, uint32_t row) const {
    const Graph& graph = *ranks_[rank].graph;
    if (graph.type[row] < NodeType::kSend) return false;
    if (options_.recorded_comm) return true;
    const uint32_t index = matching_.slots[rank][graph.payload[row]].index;
    return graph.type[row] == NodeType::kCollective ? matching_.calls[index].kept
                                                    : matching_.messages[index].kept;
  }
  // Whether `row` is computation on the device whose end a slowdown may move.
  bool Slows(uint32_t rank, uint32_t row) const {
    return slowdown_.on() && ClassOf(*ranks_[rank].graph, row) == BusyClock::kCompute;
  }
  // Drops the next events while they are ends of computation that have moved meanwhile.
  void DropMoved() {
    while (slowdown_.on() && !events_.empty()) {
      const Event& e = events_.top();
      const bool node = (e.rank & Event::kWake) == 0 && (e.row & Event::kReady) == 0;
      if (!node || !Slows(e.rank, e.row) || slowdown_.Holds(e.rank, e.row, e.at)) return;
      events_.Pop();
    }
  }
  // A collective of several members begins or ends on a rank.
  void Slow(uint32_t rank, bool begins, Time now) {
    for (const Slowdown::End& end : slowdown_.Change(rank, begins, now)) EndAt(end.at, rank, end.row);
  }
  // Whether computation takes exactly the times in compute_.
  bool TimesAreFixed() const { return options_.variation == nullptr && !slowdown_.on(); }
  // Whether names_ must be told when a node of this type runs.
  bool Clocked(NodeType type) const { return type != NodeType::kComp || !TimesAreFixed(); }
  // What WorkOf() is where computation varies or its times are narrow.
  Time VariedWorkOf(const RankState& rank, uint32_t number, uint32_t row) const;
  Time WorkOf(uint32_t rank, uint32_t row) const {
    const RankState& state = ranks_[rank];
    if (state.work != nullptr && options_.variation == nullptr) [[likely]]
      return state.work[row];
    return VariedWorkOf(state, rank, row);
  }
  static Processor ProcessorOf(const RankState& rank, uint32_t row) {
    if (!rank.graph->is_cpu(row)) return Processor::kDevice;
    return rank.has_device ? Processor::kHost : Processor::kOnlyHost;
  }
  // The delay of child entry `i` of `row`.
  Time DelayOf(uint32_t rank, uint32_t row, uint32_t i) const;
  // The error that says why nodes are left when nothing more can happen.
  absl::Status Unfinished();
  Metrics Collect();

  const TraceSet& traces_;
  const std::vector<ComputeTimes>& compute_;
  Machine& machine_;
  const EngineOptions& options_;
  const Matching& matching_;
  CollectivePlanner planner_;
  CollectiveRunner runner_;
  Messages messages_;
  RecordedComm recorded_;
  MemoryUnits memory_;
  Slowdown slowdown_;
  NodeCauses causes_;  // kept if options_.path or options_.pinned is set
  std::vector<GraphLanes> graph_lanes_;
  NameTimes names_;
  std::vector<RankState> ranks_;
  Heap4<Event> events_;
  // A rank and a number of its own as one number, which sorts faster than a pair.
  static uint64_t OfRank(uint32_t rank, uint32_t number) { return uint64_t{rank} << 32 | number; }
  std::vector<uint64_t> ready_, batch_;  // OfRank(rank, place)
  std::vector<uint64_t> touched_;        // OfRank(rank, queued lane)
  std::vector<FlowEnd> flow_ends_;
  // Of a call of a rank and its twins: how many have not ended it, and when the others did.
  struct TwinsEnd {
    uint32_t left = 0;
    Time first = Time::Never(), last;
    CauseRef cause;  // of the first one that ended at `last`
  };
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, TwinsEnd> twins_end_;  // by rank and row
  Time twins_apart_;  // sum over calls: from the first twin's end to the last one's
  uint64_t nodes_done_ = 0, nodes_total_ = 0, invalid_ = 0;
  Time now_;
};

}  // namespace chakra
