// The event loop behind Replay().
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/cluster/variation.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/causes/node_causes.h"
#include "replay/engine/communication.h"
#include "replay/engine/lanes.h"
#include "replay/engine/match/match.h"
#include "replay/engine/measure/busy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/measure/name_times.h"
#include "replay/engine/memory_units.h"
#include "replay/engine/observer.h"
#include "replay/engine/options.h"
#include "replay/engine/recorded/recorded_comm.h"
#include "replay/engine/slowdown.h"
#include "replay/nccl/planner.h"
#include "trace/base/heap4.h"

namespace chakra {

// An event of the engine itself. One of three kinds:
// - A node ends.
// - A node becomes ready (`row` has kReady set).
// - A stream of a collective continues (`rank` has kWake set and holds the active call; `row` is the stream).
struct Event {
  static constexpr uint32_t kWake = 1u << 31;
  static constexpr uint32_t kReady = 1u << 31;  // bit of `row`: the delays of the node's dependencies are
                                                // over
  Time at;
  uint32_t rank;
  uint32_t row;
  // Orders by time, rank and row. They are compared as one number, which needs no unpredictable branch.
  bool Before(const Event& o) const { return Order() < o.Order(); }
  __int128 Order() const { return __int128{at.picos()} << 64 | (uint64_t{rank} << 32 | row); }
};

class Engine {
 public:
  Engine(const TraceSet& traces, const std::vector<ComputeTimes>& compute, Machine& machine,
         const EngineOptions& options, const Matching& matching);

  absl::StatusOr<Metrics> Run();

 private:
  struct RankState {
    const RankTrace* trace = nullptr;
    const Graph* graph = nullptr;
    const GraphLanes* lanes = nullptr;
    const ComputeTimes* compute = nullptr;
    const Time* work = nullptr;  // times as a plain array (compute->time.plain()); null: stored in a narrower
                                 // form
    RankLanes own;
    std::vector<uint32_t> waits;   // by row: number of unfinished dependencies and lane predecessors
    std::vector<Time> not_before;  // by row: when the delays of all finished dependencies are over; empty: no
                                   // delays
    std::vector<std::vector<uint32_t>> ready;  // by queued lane: min-heaps of places
    std::vector<uint8_t> running;              // by queued lane: whether a node runs on it
    uint32_t left = 0;
    BusyClock busy;
    const uint8_t* comm_kinds = nullptr;  // by index of Graph::comm; null: all 0
    NameTimes::OfGraph* names = nullptr;
    bool has_device = false;  // whether the rank computes on a device
    int64_t ranks = 1;        // number of ranks that do the same as this one, itself included; 1 for a rank
                              // that is not simulated itself
  };

  void Prepare();
  void Loop();
  void HandleInstant(Time now);
  // Takes over what communication reports; nodes that end now are finished at once. Called only while
  // retiring events.
  void Retire(Time now);
  // Takes over what communication reports after a node began; nodes that end now end by an event.
  void Drain(Communication* comm, Time now);
  // Takes over what communication reports if Communication::ahead().
  void FollowAhead(Time now);
  void ReleaseAhead(uint32_t rank, uint32_t row, bool at_begin, Time now, Time end);
  bool HasSymmetricRanks() const { return options_.symmetric != nullptr && !options_.symmetric->empty(); }
  // Copies the metrics of each simulated rank to the ranks symmetric to it.
  void AddSymmetricRanks(Metrics* metrics) const;
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Release(uint32_t rank, uint32_t row) {
    if (--ranks_[rank].waits[row] > 0) return;
    const RankState& state = ranks_[rank];
    if (!state.not_before.empty() && ReleasesLater(rank, row)) return;
    if (causes_.on()) causes_.Ready(rank, row);
    ready_.push_back(OfRank(rank, state.lanes->place[row]));
  }
  // Handles a released row whose delays may not be over. Returns true if the row becomes ready later: by
  // Communication::Released() or by an event.
  bool ReleasesLater(uint32_t rank, uint32_t row);
  void Dispatch(Time now);
  void Start(uint32_t rank, uint32_t row, Time now);
  // Records the start of a node in spans and name times.
  void Clock(uint32_t r, uint32_t row, Time now) {
    RankState& rank = ranks_[r];
    if (options_.spans != nullptr) (*options_.spans)[r][row].begin = now;
    if (Clocked(rank.graph->type[row])) rank.names->Begin(row, now, rank.ranks);
  }
  // Counts a receive as communication from now on: its message is under way.
  void BeginReceive(uint32_t rank, uint32_t row, Time now) {
    ranks_[rank].busy.Begin(BusyClock::kComm, now, KindOf(rank, row));
    if (options_.observer != nullptr) options_.observer->Transfer(rank, row, now);
  }
  // Reports the start of a node to the observer.
  void Observe(uint32_t rank, uint32_t row, bool recorded, Time now);
  void StartMemory(uint32_t rank, uint32_t row, Time now);
  void Finish(uint32_t rank, uint32_t row, Time now);
  void ReleaseEarly(uint32_t rank, uint32_t row, Time now);
  // Whether the row releases its child at entry `i` of Graph::child before the row's own end.
  static bool Early(const Graph& graph, uint32_t row, uint32_t i) {
    const int64_t release = graph.child_release[i];
    return release == 0 || (release != kReleaseAtEnd && graph.type[row] == NodeType::kComp);
  }
  void EndAt(Time at, uint32_t rank, uint32_t row) { events_.Push({at, rank, row}); }
  // The kind of communication of a row; 0 if the row is no communication.
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
  // The implementation that carries a call or message. `kept`: it keeps its recorded time.
  const Communication& CommOf(bool kept) const {
    if (kept || options_.recorded_comm) return recorded_;
    return *comm_;
  }
  // Whether `row` is computation on the device, whose end a slowdown may move.
  bool Slows(uint32_t rank, uint32_t row) const {
    return slowdown_.on() && ClassOf(*ranks_[rank].graph, row) == BusyClock::kCompute;
  }
  // Drops events from the top of the queue that announce ends of computation which have moved since.
  void DropMoved() {
    while (slowdown_.on() && !events_.empty()) {
      const Event& e = events_.top();
      const bool node = (e.rank & Event::kWake) == 0 && (e.row & Event::kReady) == 0;
      if (!node || !Slows(e.rank, e.row) || slowdown_.Holds(e.rank, e.row, e.at)) return;
      events_.Pop();
    }
  }
  // Updates the ends of computation when a collective of several members begins or ends on a rank.
  void Slow(uint32_t rank, bool begins, Time now) {
    for (const Slowdown::End& end : slowdown_.Change(rank, begins, now)) EndAt(end.at, rank, end.row);
  }
  // Whether computation takes exactly the times in compute_.
  bool TimesAreFixed() const { return options_.variation == nullptr && !slowdown_.on(); }
  // Whether names_ needs the start and end of each node of this type.
  bool Clocked(NodeType type) const { return type != NodeType::kComp || !TimesAreFixed(); }
  // WorkOf() if computation varies or its times are stored in a narrower form.
  Time VariedWorkOf(const RankState& rank, uint32_t number, uint32_t row) const;
  ABSL_ATTRIBUTE_ALWAYS_INLINE Time WorkOf(uint32_t rank, uint32_t row) const {
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
  // The error that explains why nodes are unfinished although no event is left.
  absl::Status Unfinished();
  Metrics Collect();

  const TraceSet& traces_;
  const std::vector<ComputeTimes>& compute_;
  Machine& machine_;
  const EngineOptions& options_;
  const Matching& matching_;
  CollectivePlanner planner_;
  MemoryUnits memory_;
  RecordedComm recorded_;
  std::unique_ptr<Communication> comm_;  // for nodes that do not take their recorded time
  const bool ahead_;                     // comm_->ahead()
  Slowdown slowdown_;
  NodeCauses causes_;  // kept if options_.path or options_.fixed_time is set
  std::vector<GraphLanes> graph_lanes_;
  NameTimes names_;
  std::vector<RankState> ranks_;
  Heap4<Event> events_;
  // A rank and a number within the rank, as one number, which sorts faster than a pair.
  static uint64_t OfRank(uint32_t rank, uint32_t number) { return uint64_t{rank} << 32 | number; }
  std::vector<uint64_t> ready_, batch_;  // OfRank(rank, place)
  std::vector<uint64_t> touched_;        // OfRank(rank, queued lane)
  uint64_t nodes_done_ = 0, nodes_total_ = 0, invalid_ = 0;
  Time now_;
};

}  // namespace chakra
