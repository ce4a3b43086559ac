#include "replay/engine.h"

#include <algorithm>
#include <array>
#include <queue>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "replay/collective_runner.h"
#include "replay/diagnose.h"
#include "replay/flow_log.h"
#include "replay/lanes.h"
#include "replay/match.h"
#include "replay/measure/busy.h"
#include "replay/measure/name_times.h"
#include "replay/measure/transfers.h"
#include "replay/recorded_comm.h"
#include "replay/slowdown.h"
#include "replay/variation.h"
#include "trace/reader.h"

namespace chakra {
namespace {

constexpr uint64_t kNodesPerProgress = 1 << 15;
constexpr uint64_t kEndsPerProgress = 1 << 18;

// Something of the engine's own that happens: a node ends, becomes ready (row
// has kReady set), or a collective's stream goes on (rank has kWake set and
// names the active call, row the stream).
struct Event {
  static constexpr uint32_t kWake = 1u << 31;
  static constexpr uint32_t kReady = 1u << 31;  // of row: the delays of its dependencies are over
  Time at;
  uint32_t rank;
  uint32_t row;
  bool operator>(const Event& o) const {
    if (at != o.at) return at > o.at;
    return rank != o.rank ? rank > o.rank : row > o.row;
  }
};

class Engine {
 public:
  Engine(const TraceSet& traces, const std::vector<ComputeTimes>& compute, Fabric& fabric,
         const EngineOptions& options, const Matching& matching)
      : traces_(traces),
        compute_(compute),
        fabric_(fabric),
        options_(options),
        matching_(matching),
        runner_(&fabric, options.collectives, matching, options.fast_paths, nullptr, options.flow_log),
        recorded_(traces, matching),
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
    RankLanes own;
    std::vector<uint32_t> waits;   // by row: dependencies and lane predecessors that are not done
    std::vector<Time> not_before;  // by row: the latest delay of a dependency that is done; empty: no delays
    std::array<std::vector<uint32_t>, kQueuedLanes> ready;  // min-heaps of places
    std::array<bool, kQueuedLanes> running{};
    uint32_t left = 0;
    BusyClock busy;
    NameTimes::OfGraph* names = nullptr;
  };
  enum MessageState : uint8_t { kUnsent = 0, kFlying = 1, kArrived = 2, kReceiverWaits = 4 };

  absl::Status CheckMemory() const;
  void Prepare();
  void Loop();
  void HandleInstant(Time now);
  void AdvanceFabric(Time now);
  void RetireRunner(Time now);
  void DrainRunner();
  void Release(uint32_t rank, uint32_t row) {
    if (--ranks_[rank].waits[row] > 0) return;
    const RankState& state = ranks_[rank];
    if (!state.not_before.empty() && state.not_before[row] > now_) {
      events_.push({state.not_before[row], rank, row | Event::kReady});
    } else {
      ready_.push_back({rank, state.lanes->place[row]});
    }
  }
  void Dispatch(Time now);
  void Start(uint32_t rank, uint32_t row, Time now);
  void StartRecorded(uint32_t rank, uint32_t row, Time now);
  void StartMemory(uint32_t rank, uint32_t row, Time now);
  void StartSend(uint32_t rank, uint32_t row, Time now);
  void StartReceive(uint32_t rank, uint32_t row, Time now);
  void OnMessage(const FlowEnd& end, Time now);
  void Finish(uint32_t rank, uint32_t row, Time now);
  void EndAt(Time at, uint32_t rank, uint32_t row) { events_.push({at, rank, row}); }
  // With a slowdown: whether `row` is computation of the device, whose end may move.
  bool Slows(uint32_t rank, uint32_t row) const {
    return slowdown_.on() && ClassOf(*ranks_[rank].graph, row) == BusyClock::kCompute;
  }
  // Forgets the next events while they are ends of computation that have moved since.
  void DropMoved() {
    while (slowdown_.on() && !events_.empty()) {
      const Event& e = events_.top();
      const bool node = (e.rank & Event::kWake) == 0 && (e.row & Event::kReady) == 0;
      if (!node || !Slows(e.rank, e.row) || slowdown_.Holds(e.rank, e.row, e.at)) return;
      events_.pop();
    }
  }
  // A collective of several members begins or ends on a rank.
  void Slow(uint32_t rank, bool begins, Time now) {
    for (const Slowdown::End& end : slowdown_.Change(rank, begins, now)) EndAt(end.at, rank, end.row);
  }
  // Whether computation takes just what compute_ says.
  bool TimesAreFixed() const { return options_.variation == nullptr && !slowdown_.on(); }
  // Whether names_ has to be told when such a node runs.
  bool Clocked(NodeType type) const { return type != NodeType::kComp || !TimesAreFixed(); }
  Time WorkOf(uint32_t rank, uint32_t row) const {
    const Time time = ranks_[rank].compute->time[row];
    if (options_.variation == nullptr) return time;
    return options_.variation->Compute(static_cast<int>(rank), ranks_[rank].graph->id[row], time);
  }
  // The unit of memory that a rank shares with the others of its node.
  size_t MemoryOf(uint32_t rank) const {
    const size_t device = options_.device_of.empty() ? rank : static_cast<size_t>(options_.device_of[rank]);
    return device / static_cast<size_t>(std::max(1, options_.memory.ranks_per_node));
  }
  static BusyClock::Class ClassOf(const Graph& graph, uint32_t row);
  Metrics Collect();

  const TraceSet& traces_;
  const std::vector<ComputeTimes>& compute_;
  Fabric& fabric_;
  const EngineOptions& options_;
  const Matching& matching_;
  CollectiveRunner runner_;
  RecordedComm recorded_;
  Slowdown slowdown_;
  std::vector<GraphLanes> graph_lanes_;
  NameTimes names_;
  std::vector<RankState> ranks_;
  std::vector<uint8_t> message_;                    // MessageState bits by message
  std::vector<Time> message_first_, message_last_;  // both sides ready first, last
  std::vector<Time> memory_free_;                   // by pool or node
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
  std::vector<std::pair<uint32_t, uint32_t>> ready_, batch_;  // (rank, place)
  std::vector<std::pair<uint32_t, uint32_t>> touched_;        // (rank, queued lane)
  std::vector<FlowEnd> flow_ends_;
  uint64_t nodes_done_ = 0, nodes_total_ = 0, invalid_ = 0, flows_ = 0, ends_seen_ = 0;
  CollectiveMetrics messages_total_;
  Time now_;
};

BusyClock::Class Engine::ClassOf(const Graph& graph, uint32_t row) {
  switch (graph.type[row]) {
    case NodeType::kComp:
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

absl::Status Engine::CheckMemory() const {
  for (const RankTrace& trace : traces_.ranks) {
    const Graph& graph = *trace.graph;
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] != NodeType::kMemLoad && graph.type[row] != NodeType::kMemStore) continue;
      const bool sized = graph.payload[row] != kNoRow && graph.work[graph.payload[row]].has_tensor_bytes;
      if (!sized) {
        return absl::InvalidArgumentError(absl::StrCat(
            DescribeNode(trace, row), ": tensor_size: missing; expected the bytes that the node moves"));
      }
      if (options_.memory.bandwidth.bytes_per_second() <= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(DescribeNode(trace, row), ": a ", std::string(Name(graph.type[row])),
                         ", but the cluster configures no memory; set device.memory_gbytes_per_s (local) or "
                         "remote_memory in the cluster file"));
      }
    }
  }
  return absl::OkStatus();
}

void Engine::Prepare() {
  const DistinctGraphs distinct(traces_);
  for (const Graph* graph : distinct.graphs) graph_lanes_.push_back(LanesOfGraph(*graph, options_.lanes));
  names_.Prepare(distinct, options_.lanes, TimesAreFixed() ? &compute_ : nullptr);
  ranks_.resize(traces_.ranks.size());
  if (options_.spans != nullptr) options_.spans->assign(ranks_.size(), {});
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    RankState& rank = ranks_[r];
    rank.trace = &traces_.ranks[r];
    rank.graph = rank.trace->graph.get();
    rank.lanes = &graph_lanes_[distinct.of_rank[r]];
    rank.compute = &compute_[distinct.of_rank[r]];
    rank.names = names_.of_graph(distinct.of_rank[r]);
    rank.own = LanesOfRank(*rank.trace, options_.lanes, matching_);
    rank.left = rank.graph->size();
    nodes_total_ += rank.left;
    if (options_.spans != nullptr) (*options_.spans)[r].resize(rank.left);
    const Graph& graph = *rank.graph;
    rank.waits.resize(graph.size());
    rank.not_before.resize(graph.child_delay.empty() ? 0 : graph.size());
    for (uint32_t row = 0; row < graph.size(); ++row) {
      rank.waits[row] = graph.dep_begin[row + 1] - graph.dep_begin[row];
    }
    for (uint32_t next : rank.lanes->chain_next) {
      if (next != kNoRow) ++rank.waits[next];
    }
    for (uint32_t next : rank.own.comm_next) {
      if (next != kNoRow) ++rank.waits[next];
    }
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (rank.waits[row] != 0) continue;
      if (options_.start.empty() || options_.start[r] == Time::Zero()) {
        ready_.push_back({r, rank.lanes->place[row]});
      } else {
        events_.push({options_.start[r], r, row | Event::kReady});
      }
    }
  }
  message_.assign(matching_.messages.size(), kUnsent);
  message_first_.resize(matching_.messages.size());
  message_last_.resize(matching_.messages.size());
  size_t memories = 1;
  if (options_.memory.kind == MemoryModel::Kind::kPerNode) {
    for (uint32_t r = 0; r < ranks_.size(); ++r) memories = std::max(memories, MemoryOf(r) + 1);
  }
  memory_free_.assign(memories, Time::Zero());
}

absl::StatusOr<Metrics> Engine::Run() {
  if (absl::Status s = CheckMemory(); !s.ok()) return s;
  if (!options_.recorded_comm) {
    if (absl::Status s = runner_.Prepare(); !s.ok()) return s;
  }
  Prepare();
  Loop();
  if (nodes_done_ < nodes_total_ && !events_.empty()) {
    const Event& event = events_.top();
    return absl::OutOfRangeError(absl::StrCat(
        "the run exceeds the longest simulated time, 106 days",
        event.rank & Event::kWake
            ? ""
            : absl::StrCat(": ", DescribeNode(traces_.ranks[event.rank], event.row & ~Event::kReady),
                           " would end later")));
  }
  if (nodes_done_ < nodes_total_) {
    StuckView view;
    view.traces = &traces_;
    view.matching = &matching_;
    view.finished = nodes_done_;
    view.total = nodes_total_;
    view.left = [this](int rank) { return ranks_[rank].left; };
    view.arrived = [this](uint32_t call, uint32_t member) {
      if (!options_.recorded_comm) return runner_.Arrived(call, member);
      const int rank = matching_.groups[matching_.calls[call].group].members[member];
      return recorded_.AtCall(call, static_cast<uint32_t>(rank));
    };
    view.receiver_waits = [this](uint32_t m) {
      if (!options_.recorded_comm) return (message_[m] & kReceiverWaits) != 0;
      return recorded_.AtMessage(m, static_cast<uint32_t>(matching_.messages[m].dst));
    };
    view.sent = [this](uint32_t m) {
      if (!options_.recorded_comm) return (message_[m] & (kFlying | kArrived)) != 0;
      return recorded_.AtMessage(m, static_cast<uint32_t>(matching_.messages[m].src));
    };
    if (!options_.recorded_comm) view.fabric = fabric_.WhyStuck();
    if (options_.recorded_comm) {
      view.sender_waits = [this](uint32_t m) {
        const Message& message = matching_.messages[m];
        return message.recv_row != kNoRow && recorded_.AtMessage(m, static_cast<uint32_t>(message.src)) &&
               !recorded_.AtMessage(m, static_cast<uint32_t>(message.dst));
      };
    }
    return DiagnoseStuck(view);
  }
  return Collect();
}

// One round is one instant: all that ends is retired, then all that became
// ready is started. What starts and ends in no time ends in a further round of
// the same instant. Nothing depends on the order in which ranks were read.
void Engine::Loop() {
  uint64_t next_nodes = kNodesPerProgress, next_ends = kEndsPerProgress;
  Dispatch(Time::Zero());
  while (true) {
    DropMoved();
    const Time own = events_.empty() ? Time::Never() : events_.top().at;
    const Time now = std::min(own, fabric_.NextEvent(own));
    if (now == Time::Never()) break;
    now_ = now;
    HandleInstant(now);
    if (nodes_done_ >= next_nodes || ends_seen_ >= next_ends) {
      next_nodes = nodes_done_ + kNodesPerProgress;
      next_ends = ends_seen_ + kEndsPerProgress;
      if (options_.progress) options_.progress({now, nodes_done_, nodes_total_});
    }
  }
}

// Retires all that ends at `now`, then starts what became ready.
void Engine::HandleInstant(Time now) {
  while (true) {
    if (fabric_.NextEvent(now) <= now) {
      AdvanceFabric(now);
    } else if (!events_.empty() && events_.top().at == now) {
      const Event event = events_.top();
      events_.pop();
      if (event.rank & Event::kWake) {
        runner_.OnWake(event.rank & ~Event::kWake, event.row, now);
        RetireRunner(now);
      } else if (event.row & Event::kReady) {
        ready_.push_back({event.rank, ranks_[event.rank].lanes->place[event.row & ~Event::kReady]});
      } else if (!Slows(event.rank, event.row) || slowdown_.Ends(event.rank, event.row, now)) {
        Finish(event.rank, event.row, now);
      }
    } else {
      break;
    }
  }
  Dispatch(now);
}

void Engine::AdvanceFabric(Time now) {
  flow_ends_.clear();
  fabric_.AdvanceTo(now, &flow_ends_);
  ends_seen_ += flow_ends_.size();
  for (const FlowEnd& end : flow_ends_) {
    if (CollectiveRunner::OwnsTag(end.tag)) {
      runner_.OnFlow(end, now);
    } else {
      OnMessage(end, now);
    }
  }
  RetireRunner(now);
}

// What the runner ended at once is finished at once: only while retiring.
void Engine::RetireRunner(Time now) {
  for (const CollectiveRunner::Ended& end : runner_.ended()) {
    if (end.at == now) Finish(end.rank, end.row, now);
  }
  std::erase_if(runner_.ended(), [now](const CollectiveRunner::Ended& end) { return end.at == now; });
  DrainRunner();
}

void Engine::DrainRunner() {
  for (const CollectiveRunner::Wake& wake : runner_.wakes()) {
    events_.push({wake.at, wake.active | Event::kWake, wake.stream});
  }
  runner_.wakes().clear();
  for (const CollectiveRunner::Ended& end : runner_.ended()) EndAt(end.at, end.rank, end.row);
  runner_.ended().clear();
}

// Starts what is ready, by rank and recorded order, until nothing more is.
void Engine::Dispatch(Time now) {
  do {
    batch_.swap(ready_);
    if (!std::is_sorted(batch_.begin(), batch_.end())) std::sort(batch_.begin(), batch_.end());
    for (const auto& [r, place] : batch_) {
      RankState& rank = ranks_[r];
      const uint32_t row = rank.lanes->by_place[place];
      const uint8_t lane = rank.lanes->queue[row];
      if (lane == kNoQueuedLane) {
        Start(r, row, now);
        continue;
      }
      std::vector<uint32_t>& heap = rank.ready[lane];
      heap.push_back(place);
      std::push_heap(heap.begin(), heap.end(), std::greater<uint32_t>());
      touched_.push_back({r, lane});
    }
    batch_.clear();
    if (!std::is_sorted(touched_.begin(), touched_.end())) std::sort(touched_.begin(), touched_.end());
    for (const auto& [r, lane] : touched_) {
      RankState& rank = ranks_[r];
      std::vector<uint32_t>& heap = rank.ready[lane];
      if (rank.running[lane] || heap.empty()) continue;
      std::pop_heap(heap.begin(), heap.end(), std::greater<uint32_t>());
      const uint32_t row = rank.lanes->by_place[heap.back()];
      heap.pop_back();
      rank.running[lane] = true;
      Start(r, row, now);
    }
    touched_.clear();
  } while (!ready_.empty());
}

void Engine::Start(uint32_t r, uint32_t row, Time now) {
  RankState& rank = ranks_[r];
  const Graph& graph = *rank.graph;
  const NodeType type = graph.type[row];
  if (options_.spans != nullptr) (*options_.spans)[r][row].begin = now;
  if (Clocked(type)) rank.names->Begin(row, now);
  if (type != NodeType::kRecv || options_.recorded_comm) rank.busy.Begin(ClassOf(graph, row), now);
  if (options_.recorded_comm && type >= NodeType::kSend) return StartRecorded(r, row, now);
  switch (type) {
    case NodeType::kComp:
      EndAt(Slows(r, row) ? slowdown_.Begin(r, row, WorkOf(r, row), now) : now + WorkOf(r, row), r, row);
      break;
    case NodeType::kMemLoad:
    case NodeType::kMemStore:
      StartMemory(r, row, now);
      break;
    case NodeType::kSend:
      StartSend(r, row, now);
      break;
    case NodeType::kRecv:
      StartReceive(r, row, now);
      break;
    case NodeType::kCollective: {
      const CommSlot slot = matching_.slots[r][graph.payload[row]];
      if (slowdown_.on()) Slow(r, true, now);
      runner_.Arrive(slot.index, slot.member, row, now);
      DrainRunner();
      break;
    }
    case NodeType::kInvalid:
      ++invalid_;
      EndAt(now, r, row);
      break;
    case NodeType::kMetadata:
      EndAt(now, r, row);
      break;
  }
}

void Engine::StartRecorded(uint32_t r, uint32_t row, Time now) {
  const Graph& graph = *ranks_[r].graph;
  const uint32_t index = matching_.slots[r][graph.payload[row]].index;
  if (graph.type[row] == NodeType::kCollective) {
    recorded_.ArriveCall(index, r, row, now);
  } else {
    recorded_.ArriveMessage(index, r, row, now);
  }
  for (const RecordedComm::Ended& end : recorded_.ended()) EndAt(end.at, end.rank, end.row);
  recorded_.ended().clear();
}

void Engine::StartMemory(uint32_t r, uint32_t row, Time now) {
  const MemoryModel& memory = options_.memory;
  const Graph& graph = *ranks_[r].graph;
  const Time cost =
      memory.latency + TransferTime(graph.work[graph.payload[row]].tensor_bytes, memory.bandwidth);
  Time begin = now;
  if (memory.kind == MemoryModel::Kind::kPool || memory.kind == MemoryModel::Kind::kPerNode) {
    const size_t unit = memory.kind == MemoryModel::Kind::kPool ? 0 : MemoryOf(r);
    begin = std::max(begin, memory_free_[unit]);
    memory_free_[unit] = begin + cost;
  }
  EndAt(begin + cost, r, row);
}

void Engine::StartSend(uint32_t r, uint32_t row, Time now) {
  const uint32_t index = matching_.slots[r][ranks_[r].graph->payload[row]].index;
  const Message& message = matching_.messages[index];
  if (message_[index] & kReceiverWaits) {
    ranks_[message.dst].busy.Begin(BusyClock::kComm, now);
    message_last_[index] = now;
  } else {
    message_first_[index] = now;
    message_last_[index] = now;
  }
  message_[index] |= kFlying;
  Flow flow;
  flow.src = message.src;
  flow.dst = message.dst;
  flow.bytes = message.bytes;
  flow.tag = CollectiveRunner::kForeignTag | index;
  flow.want_sent = true;
  if (options_.flow_log != nullptr) options_.flow_log->Name({"send_recv", "", index});
  fabric_.Start(flow, now);
  ++flows_;
}

// A receive listens from its issue on, but counts as communication only while
// its message is on the way.
void Engine::StartReceive(uint32_t r, uint32_t row, Time now) {
  const uint32_t index = matching_.slots[r][ranks_[r].graph->payload[row]].index;
  uint8_t& state = message_[index];
  state |= kReceiverWaits;
  if (state & kArrived) {
    ranks_[r].busy.Begin(BusyClock::kComm, now);
    EndAt(now, r, row);
  } else if (state & kFlying) {
    ranks_[r].busy.Begin(BusyClock::kComm, now);
  } else {
    message_first_[index] = now;
  }
}

void Engine::OnMessage(const FlowEnd& end, Time now) {
  const auto index = static_cast<uint32_t>(end.tag & ~CollectiveRunner::kForeignTag);
  const Message& message = matching_.messages[index];
  if (end.kind == FlowEnd::kSent) {
    Finish(static_cast<uint32_t>(message.src), message.send_row, now);
    return;
  }
  message_[index] |= kArrived;
  ++messages_total_.count;
  messages_total_.bytes += message.bytes;
  messages_total_.time += now - message_last_[index];
  messages_total_.wait += message_last_[index] - message_first_[index];
  if (message_[index] & kReceiverWaits) Finish(static_cast<uint32_t>(message.dst), message.recv_row, now);
}

void Engine::Finish(uint32_t r, uint32_t row, Time now) {
  RankState& rank = ranks_[r];
  const Graph& graph = *rank.graph;
  rank.busy.End(ClassOf(graph, row), now);
  if (options_.spans != nullptr) (*options_.spans)[r][row].end = now;
  if (Clocked(graph.type[row])) rank.names->End(row, now);
  --rank.left;
  ++nodes_done_;
  for (uint32_t i = graph.child_begin[row]; i < graph.child_begin[row + 1]; ++i) {
    if (!rank.not_before.empty()) {
      Time& least = rank.not_before[graph.child[i]];
      least = std::max(least, now + graph.child_delay[i]);
    }
    Release(r, graph.child[i]);
  }
  if (!rank.lanes->chain_next.empty()) {
    if (const uint32_t next = rank.lanes->chain_next[row]; next != kNoRow) Release(r, next);
  }
  const NodeType type = graph.type[row];
  if (slowdown_.on() && type == NodeType::kCollective) Slow(r, false, now);
  if (!rank.own.comm_next.empty() && (type == NodeType::kCollective || type == NodeType::kSend)) {
    if (const uint32_t next = rank.own.comm_next[graph.payload[row]]; next != kNoRow) Release(r, next);
  }
  if (const uint8_t lane = rank.lanes->queue[row]; lane != kNoQueuedLane) {
    rank.running[lane] = false;
    touched_.push_back({r, lane});
  }
}

Metrics Engine::Collect() {
  Metrics metrics;
  metrics.makespan = now_;
  for (RankState& rank : ranks_) {
    metrics.ranks.push_back(rank.busy.Totals());
    metrics.ranks.back().nodes = rank.graph->size();
  }
  metrics.nodes = nodes_done_;
  metrics.flows = flows_;
  metrics.invalid_nodes = invalid_;
  metrics.warnings = matching_.warnings;
  names_.Report(&metrics);
  if (options_.recorded_comm) {
    recorded_.Report(&metrics);
    return metrics;
  }
  runner_.Report(&metrics);
  if (messages_total_.count > 0) {
    messages_total_.ranks = 2;
    metrics.collectives[{"send_recv", ""}] = messages_total_;
  }
  return metrics;
}

}  // namespace

DistinctGraphs::DistinctGraphs(const TraceSet& traces) {
  absl::flat_hash_map<const Graph*, uint32_t> seen;
  for (const RankTrace& rank : traces.ranks) {
    const auto [it, fresh] = seen.emplace(rank.graph.get(), static_cast<uint32_t>(graphs.size()));
    if (fresh) graphs.push_back(rank.graph.get());
    of_rank.push_back(it->second);
  }
}

absl::StatusOr<Metrics> Replay(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                               Fabric& fabric, const EngineOptions& options) {
  if (static_cast<int>(traces.ranks.size()) > fabric.devices()) {
    return absl::InvalidArgumentError(absl::StrCat("the traces have ", traces.ranks.size(),
                                                   " ranks, but the cluster only ", fabric.devices(),
                                                   " devices"));
  }
  if (options.collectives.splits < 1)
    return absl::InvalidArgumentError("collectives.splits: expected at least 1");
  absl::StatusOr<Matching> matching =
      MatchCommunication(traces, options.dimension_sizes, options.recorded_comm);
  if (!matching.ok()) return matching.status();
  absl::StatusOr<Metrics> metrics = Engine(traces, compute, fabric, options, *matching).Run();
  if (metrics.ok() && !options.recorded_comm) AddRecordedTransfers(traces, *matching, &*metrics);
  return metrics;
}

}  // namespace chakra
