#include "replay/engine/engine_run.h"

#include <algorithm>

#include "replay/engine/alone/lone_call.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/symmetry/serial_groups.h"
#include "trace/base/status_macros.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr uint64_t kInstantsPerProgress = 64;  // of packets an instant may take a millisecond

}  // namespace

void Engine::Prepare() {
  const DistinctGraphs distinct(traces_);
  for (const Graph* graph : distinct.graphs) graph_lanes_.push_back(LanesOfGraph(*graph, options_.lanes));
  names_.Prepare(distinct, options_.lanes, TimesAreFixed() ? &compute_ : nullptr, options_.lane_names);
  std::vector<bool> devices;  // by graph; for variation
  if (options_.variation != nullptr) {
    for (const Graph* graph : distinct.graphs) devices.push_back(WhatComputes(*graph).device);
  }
  ranks_.resize(traces_.ranks.size());
  if (options_.path != nullptr || options_.pinned != nullptr) {
    causes_.Prepare(traces_, options_.twins);
    runner_.KeepCauses();
    messages_.KeepCauses();
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
    if (IsTwin(options_.twins, static_cast<int>(r))) {
      rank.left = 0;
      ++ranks_[static_cast<size_t>((*options_.twins)[r])].ranks;
      continue;
    }
    nodes_total_ += rank.left;
    if (options_.spans != nullptr) (*options_.spans)[r].resize(rank.left);
    rank.ready.resize(rank.lanes->queues);
    rank.running.resize(rank.lanes->queues);
    rank.own = LanesOfRank(*rank.trace, options_.lanes, matching_);
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
        ready_.push_back(OfRank(r, rank.lanes->place[row]));
      } else {
        if (causes_.on()) causes_.RankStarts(r, row, options_.start[r]);
        events_.Push({options_.start[r], r, row | Event::kReady});
      }
    }
  }
}

absl::StatusOr<Metrics> Engine::Run() {
  RETURN_IF_ERROR(memory_.Check(traces_));
  const auto kept = [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return one.kept; });
  };
  if (options_.recorded_comm || kept(matching_.calls) || kept(matching_.messages)) recorded_.Prepare();
  if (!options_.recorded_comm) {
    RETURN_IF_ERROR(runner_.Prepare());
  }
  Prepare();
  const bool each_flow = causes_.on() || options_.flow_log != nullptr;
  if (options_.fast_paths && !options_.recorded_comm && !each_flow) {
    if (machine_.contention_free()) {
      runner_.LetApart({}, SimulateApart);
    } else if (!HasTwins() && machine_.MakeApart() != nullptr) {
      runner_.LetApart(SerialGroups(traces_, options_.lanes, matching_), SimulateApart);
    }
  }
  if (!options_.recorded_comm) {
    RETURN_IF_ERROR(runner_.CheckMemory());
  }
  Loop();
  if (Stopped(options_)) return absl::CancelledError("the run was told to stop");
  if (nodes_done_ < nodes_total_) return Unfinished();
  return Collect();
}

// Each round handles one instant: first retires every event of the instant, then starts every node that
// became ready. A node that starts and ends in no time ends in another round of the same instant. Nothing
// depends on the order in which ranks were read.
void Engine::Loop() {
  uint64_t instants = 0;
  Dispatch(Time::Zero());
  while (true) {
    DropMoved();
    const Time own = events_.empty() ? Time::Never() : events_.top().at;
    const Time now = std::min(own, machine_.NextEvent(own));
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
    if (machine_.NextEvent(now) <= now) {
      AdvanceFabric(now);
    } else if (!events_.empty() && events_.top().at == now) {
      const Event event = events_.top();
      events_.Pop();
      if (event.rank & Event::kWake) {
        runner_.OnWake(event.rank & ~Event::kWake, event.row, now);
        RetireRunner(now);
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

void Engine::AdvanceFabric(Time now) {
  flow_ends_.clear();
  machine_.AdvanceTo(now, &flow_ends_);
  for (const FlowEnd& end : flow_ends_) {
    if (CollectiveRunner::OwnsTag(end.tag)) {
      runner_.OnFlow(end, now);
    } else if ((end.tag & MemoryUnits::kTag) != 0) {
      EndStorage(memory_.TakeTransfer(end.tag), now);
    } else {
      OnMessage(end, now);
    }
  }
  RetireRunner(now);
}

// Finishes nodes that the runner ended at `now`. Called only while retiring.
void Engine::RetireRunner(Time now) {
  if (HasTwins()) FoldEnded();
  for (CollectiveRunner::Ended& end : runner_.ended()) {
    if (end.at != now) continue;
    if (causes_.on()) causes_.EndsFor(end.rank, end.row, std::move(end.cause));
    Finish(end.rank, end.row, now);
  }
  std::erase_if(runner_.ended(), [now](const CollectiveRunner::Ended& end) { return end.at == now; });
  DrainRunner();
}

void Engine::DrainRunner() {
  for (const CollectiveRunner::Wake& wake : runner_.wakes()) {
    events_.Push({wake.at, wake.active | Event::kWake, wake.stream});
  }
  runner_.wakes().clear();
  if (HasTwins()) FoldEnded();
  for (CollectiveRunner::Ended& end : runner_.ended()) {
    if (causes_.on()) causes_.EndsFor(end.rank, end.row, std::move(end.cause));
    EndAt(end.at, end.rank, end.row);
  }
  runner_.ended().clear();
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
  if (options_.spans != nullptr) (*options_.spans)[r][row].begin = now;
  if (Clocked(type)) rank.names->Begin(row, now, rank.ranks);
  const bool recorded = Recorded(r, row);
  if (type != NodeType::kRecv || recorded) rank.busy.Begin(ClassOf(graph, row), now, KindOf(r, row));
  if (!graph.child_release.empty()) ReleaseEarly(r, row, now);
  if (options_.observer != nullptr) Observe(r, row, recorded, now);
  if (recorded) return StartRecorded(r, row, now);
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
      runner_.Arrive(slot.index, slot.member, row, now, causes_.on() ? causes_.of(r, row) : CauseRef());
      if (HasTwins()) ArriveTwins(slot, row, now);
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

void Engine::ArriveTwins(const CommSlot& slot, uint32_t row, Time now) {
  const GroupInfo& group = matching_.groups[matching_.calls[slot.index].group];
  const auto rank = static_cast<uint32_t>(group.members[slot.member]);
  TwinsEnd& end = twins_end_[{rank, row}];
  end.left = 1;
  for (uint32_t m = group.next_twin[slot.member]; m != slot.member; m = group.next_twin[m]) ++end.left;
  for (uint32_t m = group.next_twin[slot.member]; m != slot.member; m = group.next_twin[m])
    runner_.Arrive(slot.index, m, row, now, causes_.on() ? causes_.of(rank, row) : CauseRef());
}

// Ends of calls move later only, and so the makespan: by no more than twins_apart_.
void Engine::FoldEnded() {
  std::vector<CollectiveRunner::Ended> folded;
  for (CollectiveRunner::Ended& end : runner_.ended()) {
    const auto rank = static_cast<uint32_t>((*options_.twins)[end.rank]);
    const auto it = twins_end_.find({rank, end.row});
    if (it == twins_end_.end()) {  // folded before
      folded.push_back(std::move(end));
      continue;
    }
    TwinsEnd& all = it->second;
    if (all.first == Time::Never() || end.at > all.last) all.cause = std::move(end.cause);
    all.first = std::min(all.first, end.at);
    all.last = std::max(all.last, end.at);
    if (--all.left > 0) continue;
    twins_apart_ += all.last - all.first;
    folded.push_back({rank, end.row, all.last, std::move(all.cause)});
    twins_end_.erase(it);
  }
  runner_.ended() = std::move(folded);
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

// Releases the children that wait for a part of the row's duration only: known when the row begins.
Time Engine::VariedWorkOf(const RankState& rank, uint32_t number, uint32_t row) const {
  const Time time = rank.compute->time[row];
  if (options_.variation == nullptr || rank.graph->is_kept_comm(row)) return time;
  return options_.variation->Compute(static_cast<int>(number), rank.graph->id[row], ProcessorOf(rank, row),
                                     time);
}

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

void Engine::StartRecorded(uint32_t r, uint32_t row, Time now) {
  const Graph& graph = *ranks_[r].graph;
  const uint32_t index = matching_.slots[r][graph.payload[row]].index;
  if (graph.type[row] == NodeType::kCollective) {
    recorded_.ArriveCall(index, r, row, now);
  } else {
    recorded_.ArriveMessage(index, r, row, now);
  }
  for (const RecordedComm::Ended& end : recorded_.ended()) {
    if (causes_.on()) causes_.EndsFor(end.rank, end.row, causes_.of(r, row));  // `row` arrived last
    EndAt(end.at, end.rank, end.row);
  }
  recorded_.ended().clear();
}

// An access to a shared memory waits for the accesses before it.
void Engine::StartMemory(uint32_t r, uint32_t row, Time now) {
  const Graph& graph = *ranks_[r].graph;
  const uint64_t bytes = graph.work[graph.payload[row]].tensor_bytes;
  if (memory_.on_network()) {
    if (options_.flow_log != nullptr) options_.flow_log->Name({"storage", "", memory_.flows()});
    const bool store = graph.type[row] == NodeType::kMemStore;
    machine_.Start(memory_.Begin(r, row, store, bytes, CollectiveRunner::kForeignTag, now), now);
    return;
  }
  if (!causes_.on()) return EndAt(memory_.Serve(r, bytes, now).end, r, row);
  CauseRef& last = memory_.last(r);
  const MemoryUnits::Access access = memory_.Serve(r, bytes, now);
  const CauseRef begin = access.begin > now ? last : causes_.of(r, row);
  last = Because(begin, {.rank = r, .row = row, .at = access.end});
  causes_.EndsFor(r, row, last);
  EndAt(access.end, r, row);
}

// The bytes are there; drives may need longer.
void Engine::EndStorage(const MemoryUnits::Transfer& access, Time now) {
  const Time end = std::max(now, access.end);
  if (causes_.on()) {
    const CauseRef& begin = causes_.of(access.rank, access.row);
    causes_.EndsFor(access.rank, access.row,
                    Because(begin, {.rank = access.rank, .row = access.row, .at = end}));
  }
  if (end > now) return EndAt(end, access.rank, access.row);
  Finish(access.rank, access.row, now);
}

void Engine::StartSend(uint32_t r, uint32_t row, Time now) {
  const uint32_t index = matching_.slots[r][ranks_[r].graph->payload[row]].index;
  if (messages_.Send(index, now, causes_.on() ? causes_.of(r, row) : CauseRef()))
    BeginReceive(matching_.messages[index], now);
}

// A receive listens from its issue on, but counts as communication only while its message is under way.
void Engine::StartReceive(uint32_t r, uint32_t row, Time now) {
  const uint32_t index = matching_.slots[r][ranks_[r].graph->payload[row]].index;
  const Messages::Receive state = messages_.Listen(index, now);
  if (state == Messages::Receive::kListens) return;
  BeginReceive(matching_.messages[index], now);
  if (state == Messages::Receive::kThere) EndAt(now, r, row);
}

// The side that waits for the message ends because of it, at `now`; a receive that starts later has its own
// cause.
void Engine::EndsForMessage(uint32_t index, FlowEnd::Kind kind, Time now) {
  const MatchedMessage& message = matching_.messages[index];
  const bool sent = kind == FlowEnd::kSent;
  const MessageCosts costs = messages_.CostsOf(index);
  CauseRef cause = messages_.CauseOf(index);
  if (!sent && !messages_.receiver_waits(index)) return;
  const auto rank = static_cast<uint32_t>(sent ? message.src : message.dst);
  const uint32_t row = sent ? message.send_row : message.recv_row;
  causes_.EndsFor(rank, row,
                  Because(std::move(cause), {.kind = sent ? Cause::kSending : Cause::kFlow,
                                             .message = true,
                                             .rank = rank,
                                             .row = row,
                                             .of = index,
                                             .src = message.src,
                                             .dst = message.dst,
                                             .bytes = message.bytes,
                                             .limit = costs.limit,
                                             .software = sent ? costs.begin : costs.begin + costs.latency,
                                             .at = now}));
}

void Engine::OnMessage(const FlowEnd& end, Time now) {
  const uint32_t index = Messages::IndexOf(end.tag);
  const MatchedMessage& message = matching_.messages[index];
  // The sender's kernel begins before its first byte leaves, and ends later by as much.
  const Time own = end.kind == FlowEnd::kSent ? messages_.CostsOf(index).begin : Time::Zero();
  if (causes_.on()) EndsForMessage(index, end.kind, now + own);
  if (end.kind == FlowEnd::kSent && own > Time::Zero()) {
    EndAt(now + own, static_cast<uint32_t>(message.src), message.send_row);
  } else if (end.kind == FlowEnd::kSent) {
    Finish(static_cast<uint32_t>(message.src), message.send_row, now);
  } else if (messages_.Arrive(index, now)) {
    Finish(static_cast<uint32_t>(message.dst), message.recv_row, now);
  }
}

// A gap between two nodes of one host thread is work of the host that no node covers: a slow host takes
// longer.
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
