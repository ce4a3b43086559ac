#include "replay/engine/simulated/simulated_comm.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/symmetry/serial_groups.h"
#include "trace/base/status_macros.h"

namespace chakra {

SimulatedComm::SimulatedComm(const TraceSet& traces, Machine* machine, const EngineOptions& options,
                             const Matching& matching, CollectivePlanner* planner, MemoryUnits* memory,
                             ApartCalls::Simulate apart)
    : traces_(traces),
      machine_(machine),
      options_(options),
      matching_(matching),
      runner_(machine, options.collectives, matching, options.fast_paths, planner, options.flow_log),
      messages_(matching, machine, options.collectives.library.get(), options.flow_log),
      memory_(memory),
      apart_(apart) {}

absl::Status SimulatedComm::Prepare() {
  RETURN_IF_ERROR(memory_->Check(traces_));
  if (options_.recorded_comm) return absl::OkStatus();
  RETURN_IF_ERROR(runner_.Prepare());
  if (keeps_causes()) {
    runner_.KeepCauses();
    messages_.KeepCauses();
  } else if (options_.fast_paths && options_.flow_log == nullptr) {
    if (machine_->contention_free()) {
      runner_.LetApart({}, apart_);
    } else if (!HasSymmetricRanks() && machine_->MakeApart() != nullptr) {
      runner_.LetApart(SerialGroups(traces_, options_.lanes, matching_), apart_);
    }
  }
  return runner_.CheckMemory();
}

void SimulatedComm::Begin(uint32_t rank, uint32_t row, Time now, CauseRef cause) {
  const Graph& graph = *traces_.ranks[rank].graph;
  const uint32_t payload = graph.payload[row];
  const NodeType type = graph.type[row];
  if (type < NodeType::kSend) {
    return Start(rank, row, type == NodeType::kMemStore, graph.work[payload].tensor_bytes, now,
                 std::move(cause));
  }
  const CommSlot slot = matching_.slots[rank][payload];
  if (type == NodeType::kCollective) {
    if (HasSymmetricRanks()) {
      runner_.Arrive(slot.index, slot.member, row, now, cause);
      ArriveSymmetricRanks(slot, row, now, cause);
    } else {
      runner_.Arrive(slot.index, slot.member, row, now, std::move(cause));
    }
    return TakeCalls();
  }
  const MatchedMessage& message = matching_.messages[slot.index];
  const Node receiver = {static_cast<uint32_t>(message.dst), message.recv_row};
  if (type == NodeType::kSend) {
    if (messages_.Send(slot.index, now, std::move(cause))) moving_.push_back(receiver);
    return;
  }
  // A receive listens from its issue on, but it counts as communication only while its message is under way.
  const Messages::Receive state = messages_.Listen(slot.index, now);
  if (state == Messages::Receive::kListens) return;
  moving_.push_back(receiver);
  if (state == Messages::Receive::kThere) ended_.push_back({rank, row, now, std::move(cause)});
}

void SimulatedComm::Start(uint32_t rank, uint32_t row, bool store, uint64_t bytes, Time now, CauseRef cause) {
  if (options_.flow_log != nullptr) options_.flow_log->Name({"storage", "", memory_->flows()});
  machine_->Start(
      memory_->Begin(rank, row, store, bytes, CollectiveRunner::kForeignTag, now, std::move(cause)), now);
}

void SimulatedComm::AdvanceTo(Time now) {
  flow_ends_.clear();
  machine_->AdvanceTo(now, &flow_ends_);
  for (const FlowEnd& end : flow_ends_) {
    if (CollectiveRunner::OwnsTag(end.tag)) {
      runner_.OnFlow(end, now);
    } else if ((end.tag & MemoryUnits::kTag) != 0) {
      // The bytes have arrived, but drives may need longer.
      MemoryUnits::Transfer access = memory_->TakeTransfer(end.tag);
      const Time at = std::max(now, access.end);
      CauseRef cause;
      if (keeps_causes())
        cause = Because(std::move(access.cause), {.rank = access.rank, .row = access.row, .at = at});
      ended_.push_back({access.rank, access.row, at, std::move(cause)});
    } else {
      OnMessage(end, now);
    }
  }
  TakeCalls();
}

void SimulatedComm::TakeCalls() {
  if (HasSymmetricRanks()) FoldEnded();
  const auto take = [](auto* from, auto* to) {
    if (from->empty()) return;
    if (to->empty()) return to->swap(*from);
    to->insert(to->end(), std::make_move_iterator(from->begin()), std::make_move_iterator(from->end()));
    from->clear();
  };
  take(&runner_.ended(), &ended_);
  take(&runner_.wakes(), &wakes_);
}

void SimulatedComm::ArriveSymmetricRanks(const CommSlot& slot, uint32_t row, Time now,
                                         const CauseRef& cause) {
  const GroupInfo& group = matching_.groups[matching_.calls[slot.index].group];
  const auto rank = static_cast<uint32_t>(group.members[slot.member]);
  SymmetricEnd& end = symmetric_end_[{rank, row}];
  end.left = 1;
  for (uint32_t m = group.next_symmetric[slot.member]; m != slot.member; m = group.next_symmetric[m])
    ++end.left;
  for (uint32_t m = group.next_symmetric[slot.member]; m != slot.member; m = group.next_symmetric[m])
    runner_.Arrive(slot.index, m, row, now, cause);
}

// Ends of calls move only to later times, and so does the makespan: by no more than symmetric_spread_.
void SimulatedComm::FoldEnded() {
  std::vector<Ended> folded;
  for (Ended& end : runner_.ended()) {
    const auto rank = static_cast<uint32_t>((*options_.symmetric)[end.rank]);
    SymmetricEnd& all = symmetric_end_[{rank, end.row}];
    if (all.first == Time::Never() || end.at > all.last) all.cause = std::move(end.cause);
    all.first = std::min(all.first, end.at);
    all.last = std::max(all.last, end.at);
    if (--all.left > 0) continue;
    symmetric_spread_ += all.last - all.first;
    folded.push_back({rank, end.row, all.last, std::move(all.cause)});
    symmetric_end_.erase({rank, end.row});
  }
  runner_.ended() = std::move(folded);
}

CauseRef SimulatedComm::CauseOfEnd(uint32_t index, FlowEnd::Kind kind, Time at) {
  const MatchedMessage& message = matching_.messages[index];
  const bool sent = kind == FlowEnd::kSent;
  const MessageCosts costs = messages_.CostsOf(index);
  return Because(messages_.CauseOf(index), {.kind = sent ? Cause::kSending : Cause::kFlow,
                                            .message = true,
                                            .rank = static_cast<uint32_t>(sent ? message.src : message.dst),
                                            .row = sent ? message.send_row : message.recv_row,
                                            .of = index,
                                            .src = message.src,
                                            .dst = message.dst,
                                            .bytes = message.bytes,
                                            .limit = costs.limit,
                                            .software = sent ? costs.begin : costs.begin + costs.latency,
                                            .at = at});
}

// The side that waits for the message ends because of it. A receive that starts later has its own cause.
void SimulatedComm::OnMessage(const FlowEnd& end, Time now) {
  const uint32_t index = Messages::IndexOf(end.tag);
  const MatchedMessage& message = matching_.messages[index];
  // The sender's kernel begins before its first byte leaves; the send ends later by the same time.
  const bool sent = end.kind == FlowEnd::kSent;
  const Time at = now + (sent ? messages_.CostsOf(index).begin : Time::Zero());
  CauseRef cause = keeps_causes() ? CauseOfEnd(index, end.kind, at) : CauseRef();
  if (sent) {
    ended_.push_back({static_cast<uint32_t>(message.src), message.send_row, at, std::move(cause)});
  } else if (messages_.Arrive(index, now)) {
    ended_.push_back({static_cast<uint32_t>(message.dst), message.recv_row, at, std::move(cause)});
  }
}

void SimulatedComm::Report(Metrics* metrics) {
  if (options_.recorded_comm) return;
  runner_.Report(metrics);
  messages_.Report(metrics);
  metrics->flows += memory_->flows();
  if (HasSymmetricRanks()) WarnOfSymmetricRanks(metrics);
}

void SimulatedComm::WarnOfSymmetricRanks(Metrics* metrics) const {
  const SymmetricRanks& symmetric = *options_.symmetric;
  size_t simulated = 0;
  for (size_t r = 0; r < symmetric.size(); ++r) simulated += symmetric[r] == static_cast<int>(r) ? 1 : 0;
  const Time makespan = metrics->makespan;
  const double share = makespan > Time::Zero() ? symmetric_spread_.seconds() / makespan.seconds() : 0;
  metrics->warnings.push_back(absl::StrFormat(
      "%d of %d ranks %s simulated; the others are symmetric to them. Symmetric ranks that end a call at "
      "different times are assumed to end it with the last, so the makespan is at most %.4f %% too long; "
      "--no-fast-path simulates each rank",
      simulated, symmetric.size(), simulated == 1 ? "is" : "are", 100 * share));
}

}  // namespace chakra
