#include "replay/engine/engine_run.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "replay/engine/alone/isolated_call.h"
#include "replay/engine/loggops/log_gps.h"
#include "replay/engine/price.h"
#include "replay/engine/simulated/simulated_comm.h"
#include "trace/base/status_macros.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr uint64_t kInstantsPerProgress = 64;  // on a packet fabric, one instant may take a millisecond to
                                               // simulate

std::unique_ptr<Communication> CommunicationOf(const TraceSet& traces,
                                               const std::vector<ComputeTimes>& compute, Machine& machine,
                                               const EngineOptions& options, const Matching& matching,
                                               CollectivePlanner* planner, MemoryUnits* memory) {
  const EndpointPrices* const prices = machine.endpoint_prices();
  if (prices != nullptr && !options.recorded_comm)
    return std::make_unique<LogGps>(traces, compute, *prices, options);
  return std::make_unique<SimulatedComm>(traces, &machine, options, matching, planner, memory, SimulateApart);
}

double SlowdownOf(const EngineOptions& options) {
  const LibraryModel* const library = options.collectives.library.get();
  return library == nullptr || options.recorded_comm ? 0 : library->slowdown;
}

}  // namespace

Engine::Engine(const TraceSet& traces, const std::vector<ComputeTimes>& compute, Machine& machine,
               const EngineOptions& options, const Matching& matching)
    : traces_(traces),
      compute_(compute),
      machine_(machine),
      options_(options),
      matching_(matching),
      planner_(machine, options_.collectives, PriceUncontended),
      memory_(options.memory, options.device_of, static_cast<uint32_t>(traces.ranks.size())),
      recorded_(traces, matching, options.least_recorded_comm, options.recorded_comm),
      comm_(CommunicationOf(traces, compute, machine, options, matching, &planner_, &memory_)),
      ahead_(comm_->ahead()),
      slowdown_(ahead_ ? 0 : SlowdownOf(options), traces.ranks.size()) {}

void Engine::Prepare() {
  const LanePolicy lanes = ahead_ ? LanePolicy::kUnlimited : options_.lanes;
  const DistinctGraphs distinct(traces_);
  for (const Graph* graph : distinct.graphs) graph_lanes_.push_back(LanesOfGraph(*graph, lanes));
  names_.Prepare(distinct, options_.lanes, TimesAreFixed() ? &compute_ : nullptr, options_.lane_names);
  std::vector<bool> devices;  // by graph: whether it computes on a device; filled only with variation
  if (options_.variation != nullptr) {
    for (const Graph* graph : distinct.graphs) devices.push_back(WhatComputes(*graph).device);
  }
  ranks_.resize(traces_.ranks.size());
  if (options_.path != nullptr || options_.fixed_time != nullptr) {
    causes_.Prepare(traces_, options_.symmetric);
  }
  if (options_.spans != nullptr) options_.spans->assign(ranks_.size(), {});
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    RankState& rank = ranks_[r];
    rank.trace = &traces_.ranks[r];
    rank.graph = rank.trace->graph.get();
    rank.lanes = &graph_lanes_[distinct.of_rank[r]];
    rank.compute = &compute_[distinct.of_rank[r]];
    rank.work = rank.compute->time.plain();
    rank.names = names_.of_graph(distinct.of_rank[r]);
    if (options_.comm_kinds != nullptr) rank.comm_kinds = (*options_.comm_kinds)[distinct.of_rank[r]].data();
    rank.left = rank.graph->size();
    rank.has_device = !devices.empty() && devices[distinct.of_rank[r]];
    if (IsSymmetricRank(options_.symmetric, static_cast<int>(r))) {
      rank.left = 0;
      ++ranks_[static_cast<size_t>((*options_.symmetric)[r])].ranks;
      continue;
    }
    nodes_total_ += rank.left;
    if (options_.spans != nullptr) (*options_.spans)[r].resize(rank.left);
    rank.ready.resize(rank.lanes->queues);
    rank.running.resize(rank.lanes->queues);
    rank.own = LanesOfRank(*rank.trace, lanes, matching_);
    const Graph& graph = *rank.graph;
    rank.waits.resize(graph.size());
    const Time start = options_.start.empty() ? Time::Zero() : options_.start[r];
    if (ahead_) rank.not_before.assign(graph.size(), start);
    if (!ahead_ && !graph.child_delay.empty()) rank.not_before.resize(graph.size());
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
      if (ahead_) {
        comm_->Released(r, row, start);
      } else if (start == Time::Zero()) {
        ready_.push_back(OfRank(r, rank.lanes->place[row]));
      } else {
        if (causes_.on()) causes_.RankStarts(r, row, start);
        events_.Push({start, r, row | Event::kReady});
      }
    }
  }
}

absl::StatusOr<Metrics> Engine::Run() {
  RETURN_IF_ERROR(comm_->Prepare());
  RETURN_IF_ERROR(recorded_.Prepare());
  Prepare();
  Loop();
  if (Stopped(options_)) return absl::CancelledError("the run was stopped");
  if (nodes_done_ < nodes_total_) return Unfinished();
  return Collect();
}

// Each round handles one instant: it first retires every event of the instant, then starts every node that
// became ready. A node that starts and ends at the same instant ends in another round of this instant. The
// result does not depend on the order in which the ranks were read.
void Engine::Loop() {
  uint64_t instants = 0;
  Dispatch(Time::Zero());
  while (true) {
    DropMoved();
    const Time own = events_.empty() ? Time::Never() : events_.top().at;
    const Time now = std::min(own, comm_->NextEvent(own));
    if (now == Time::Never()) break;
    now_ = now;
    HandleInstant(now);
    if (++instants % kInstantsPerProgress == 0) {
      if (options_.progress) options_.progress({now, nodes_done_, nodes_total_});
      if (Stopped(options_)) return;
    }
  }
}

// Retires every event at `now`, then starts the nodes that became ready.
void Engine::HandleInstant(Time now) {
  while (true) {
    if (comm_->NextEvent(now) <= now) {
      comm_->AdvanceTo(now);
      ahead_ ? FollowAhead(now) : Retire(now);
    } else if (!events_.empty() && events_.top().at == now) {
      const Event event = events_.top();
      events_.Pop();
      if (event.rank & Event::kWake) {
        comm_->OnWake(event.rank & ~Event::kWake, event.row, now);
        Retire(now);
      } else if (event.row & Event::kReady) {
        ready_.push_back(OfRank(event.rank, ranks_[event.rank].lanes->place[event.row & ~Event::kReady]));
      } else if (!Slows(event.rank, event.row) || slowdown_.Ends(event.rank, event.row, now)) {
        Finish(event.rank, event.row, now);
      }
    } else {
      break;
    }
  }
  Dispatch(now);
}

void Engine::Retire(Time now) {
  for (const Communication::Wake& wake : comm_->wakes())
    events_.Push({wake.at, wake.active | Event::kWake, wake.stream});
  comm_->wakes().clear();
  for (Communication::Ended& end : comm_->ended()) {
    if (causes_.on()) causes_.EndsFor(end.rank, end.row, std::move(end.cause));
    if (end.at == now) {
      Finish(end.rank, end.row, now);
    } else {
      EndAt(end.at, end.rank, end.row);
    }
  }
  comm_->ended().clear();
}

void Engine::Drain(Communication* comm, Time now) {
  for (const Communication::Wake& wake : comm->wakes())
    events_.Push({wake.at, wake.active | Event::kWake, wake.stream});
  comm->wakes().clear();
  for (const Communication::Node& node : comm->moving()) BeginReceive(node.rank, node.row, now);
  comm->moving().clear();
  for (Communication::Ended& end : comm->ended()) {
    if (causes_.on()) causes_.EndsFor(end.rank, end.row, std::move(end.cause));
    EndAt(end.at, end.rank, end.row);
  }
  comm->ended().clear();
}

void Engine::FollowAhead(Time now) {
  for (const auto& [rank, row] : comm_->began()) ReleaseAhead(rank, row, true, now, now);
  comm_->began().clear();
  for (const auto& [rank, row] : comm_->moving()) {
    Clock(rank, row, now);
    ranks_[rank].busy.Begin(ClassOf(*ranks_[rank].graph, row), now);
  }
  comm_->moving().clear();
  for (const Communication::Ended& end : comm_->ended()) {
    ReleaseAhead(end.rank, end.row, false, now, end.at);
    EndAt(end.at, end.rank, end.row);
  }
  comm_->ended().clear();
}

// Releases the children of `row`: if `at_begin`, those that wait only for the start of `row`; else all
// others, for a node that ends at `end`.
void Engine::ReleaseAhead(uint32_t r, uint32_t row, bool at_begin, Time now, Time end) {
  RankState& rank = ranks_[r];
  const Graph& graph = *rank.graph;
  for (uint32_t i = graph.child_begin[row]; i < graph.child_begin[row + 1]; ++i) {
    const int64_t release = graph.child_release.empty() ? kReleaseAtEnd : graph.child_release[i];
    if ((release == 0) != at_begin) continue;
    Time at = graph.type[row] == NodeType::kComp ? now + ReleasedAfter(end - now, release) : end;
    if (!graph.child_delay.empty()) at += graph.child_delay[i];
    Time& not_before = rank.not_before[graph.child[i]];
    not_before = std::max(not_before, at);
    Release(r, graph.child[i]);
  }
}

bool Engine::ReleasesLater(uint32_t rank, uint32_t row) {
  const Time at = ranks_[rank].not_before[row];
  if (ahead_) {
    comm_->Released(rank, row, at);
  } else if (at > now_) {
    events_.Push({at, rank, row | Event::kReady});
  } else {
    return false;
  }
  return true;
}

// Starts ready nodes, by rank and recorded order, until no node is ready.
void Engine::Dispatch(Time now) {
  do {
    batch_.swap(ready_);
    if (!std::is_sorted(batch_.begin(), batch_.end())) std::sort(batch_.begin(), batch_.end());
    for (const uint64_t one : batch_) {
      const auto r = static_cast<uint32_t>(one >> 32), place = static_cast<uint32_t>(one);
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
      touched_.push_back(OfRank(r, lane));
    }
    batch_.clear();
    if (!std::is_sorted(touched_.begin(), touched_.end())) std::sort(touched_.begin(), touched_.end());
    for (const uint64_t one : touched_) {
      const auto r = static_cast<uint32_t>(one >> 32), lane = static_cast<uint32_t>(one);
      RankState& rank = ranks_[r];
      std::vector<uint32_t>& heap = rank.ready[lane];
      if (rank.running[lane] || heap.empty()) continue;
      std::pop_heap(heap.begin(), heap.end(), std::greater<uint32_t>());
      const uint32_t row = rank.lanes->by_place[heap.back()];
      heap.pop_back();
      rank.running[lane] = true;
      if (causes_.on()) causes_.BeginsOn(lane, r, row, now);
      Start(r, row, now);
    }
    touched_.clear();
  } while (!ready_.empty());
}

void Engine::Start(uint32_t r, uint32_t row, Time now) {
  RankState& rank = ranks_[r];
  const Graph& graph = *rank.graph;
  const NodeType type = graph.type[row];
  Clock(r, row, now);
  const bool recorded = Recorded(r, row);
  if (type != NodeType::kRecv || recorded) rank.busy.Begin(ClassOf(graph, row), now, KindOf(r, row));
  if (!graph.child_release.empty()) ReleaseEarly(r, row, now);
  if (options_.observer != nullptr) Observe(r, row, recorded, now);
  switch (type) {
    case NodeType::kComp:
      EndAt(Slows(r, row) ? slowdown_.Begin(r, row, WorkOf(r, row), now) : now + WorkOf(r, row), r, row);
      break;
    case NodeType::kMemLoad:
    case NodeType::kMemStore:
      if (!memory_.on_network()) {
        StartMemory(r, row, now);
        break;
      }
      [[fallthrough]];
    case NodeType::kSend:
    case NodeType::kRecv:
    case NodeType::kCollective: {
      if (slowdown_.on() && type == NodeType::kCollective && !recorded) Slow(r, true, now);
      Communication* const comm = recorded ? &recorded_ : comm_.get();
      comm->Begin(r, row, now, causes_.on() ? causes_.of(r, row) : CauseRef());
      Drain(comm, now);
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

void Engine::Observe(uint32_t r, uint32_t row, bool recorded, Time now) {
  RunObserver& observer = *options_.observer;
  const Graph& graph = *ranks_[r].graph;
  const NodeType type = graph.type[row];
  if (type < NodeType::kSend) return observer.Begin(r, row, now);
  const uint32_t index = matching_.slots[r][graph.payload[row]].index;
  if (type == NodeType::kCollective) return observer.Arrive(r, row, index, matching_.calls[index].made, now);
  observer.Wait(r, row, now);
  if (type != NodeType::kRecv || recorded) observer.Transfer(r, row, now);
}

// The compute time of `row`, with the cluster's variation. Kept communication does not vary.
Time Engine::VariedWorkOf(const RankState& rank, uint32_t number, uint32_t row) const {
  const Time time = rank.compute->time[row];
  if (options_.variation == nullptr || rank.graph->is_kept_comm(row)) return time;
  return options_.variation->Compute(static_cast<int>(number), rank.graph->id[row], ProcessorOf(rank, row),
                                     time);
}

// Releases the children that wait for only a part of the row's duration. Their times are known when the row
// begins.
void Engine::ReleaseEarly(uint32_t r, uint32_t row, Time now) {
  RankState& rank = ranks_[r];
  const Graph& graph = *rank.graph;
  const uint32_t end = graph.child_begin[row + 1];
  for (uint32_t i = graph.child_begin[row]; i < end; ++i) {
    if (!Early(graph, row, i)) continue;
    const uint32_t child = graph.child[i];
    const bool computes = graph.type[row] == NodeType::kComp;
    const Time released = computes ? now + ReleasedAfter(WorkOf(r, row), graph.child_release[i]) : now;
    const Time until = released + DelayOf(r, row, i);
    const bool latest = until > rank.not_before[child];
    if (latest) rank.not_before[child] = until;
    Release(r, child);
    if (latest && causes_.on()) causes_.Releases(r, child, row, released, until);
  }
}

// An access to a shared memory waits for all earlier accesses.
void Engine::StartMemory(uint32_t r, uint32_t row, Time now) {
  const Graph& graph = *ranks_[r].graph;
  const uint64_t bytes = graph.work[graph.payload[row]].tensor_bytes;
  if (!causes_.on()) return EndAt(memory_.Serve(r, bytes, now).end, r, row);
  CauseRef& last = memory_.last(r);
  const MemoryUnits::Access access = memory_.Serve(r, bytes, now);
  const CauseRef begin = access.begin > now ? last : causes_.of(r, row);
  last = Because(begin, {.rank = r, .row = row, .at = access.end});
  causes_.EndsFor(r, row, last);
  EndAt(access.end, r, row);
}

// A gap between two nodes of one host thread is host work that no node covers, so a slow host takes longer
// for it.
Time Engine::DelayOf(uint32_t r, uint32_t row, uint32_t i) const {
  const Graph& graph = *ranks_[r].graph;
  const Time delay = graph.child_delay[i];
  if (options_.variation == nullptr || delay == Time::Zero() || graph.lane.empty()) return delay;
  const uint32_t child = graph.child[i];
  const bool gap = graph.is_cpu(row) && graph.is_cpu(child) && graph.lane[row] != kNoLane &&
                   graph.lane[row] == graph.lane[child];
  return gap ? options_.variation->HostGap(static_cast<int>(r), ProcessorOf(ranks_[r], row), delay) : delay;
}

void Engine::Finish(uint32_t r, uint32_t row, Time now) {
  RankState& rank = ranks_[r];
  const Graph& graph = *rank.graph;
  rank.busy.End(ClassOf(graph, row), now, KindOf(r, row));
  if (options_.spans != nullptr) (*options_.spans)[r][row].end = now;
  if (options_.observer != nullptr) options_.observer->End(r, row, now);
  if (Clocked(graph.type[row])) rank.names->End(row, now, rank.ranks);
  --rank.left;
  ++nodes_done_;
  if (ahead_) return;  // the children were released ahead of time
  if (causes_.on()) causes_.Ends(r, row, now);
  const uint32_t end = graph.child_begin[row + 1];
  for (uint32_t i = graph.child_begin[row]; i < end; ++i) {
    if (!graph.child_release.empty() && Early(graph, row, i)) continue;
    const uint32_t child = graph.child[i];
    if (!rank.not_before.empty()) {
      const Time until = now + DelayOf(r, row, i);
      if (until > rank.not_before[child]) {
        rank.not_before[child] = until;
        if (causes_.on()) causes_.Delays(r, child, row, until);
      }
    }
    Release(r, child);
  }
  if (!rank.lanes->chain_next.empty()) {
    if (const uint32_t next = rank.lanes->chain_next[row]; next != kNoRow) Release(r, next);
  }
  const NodeType type = graph.type[row];
  if (slowdown_.on() && type == NodeType::kCollective && !Recorded(r, row)) Slow(r, false, now);
  if (!rank.own.comm_next.empty() && (type == NodeType::kCollective || type == NodeType::kSend)) {
    if (const uint32_t next = rank.own.comm_next[graph.payload[row]]; next != kNoRow) Release(r, next);
  }
  if (const uint8_t lane = rank.lanes->queue[row]; lane != kNoQueuedLane) {
    rank.running[lane] = false;
    if (causes_.on()) causes_.Frees(lane, r);
    touched_.push_back(OfRank(r, lane));
  }
}

}  // namespace chakra
