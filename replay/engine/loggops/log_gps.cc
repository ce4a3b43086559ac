#include "replay/engine/loggops/log_gps.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "trace/import/locate.h"
#include "trace/model/any_order.h"

namespace chakra {

uint32_t LogGps::Unit(const Graph& g, uint32_t row) {
  const bool told = !g.lane.empty() && InAnyOrder(g, row) && g.lane[row] >= 0;
  return told ? static_cast<uint32_t>(g.lane[row]) % 65536 : 0;
}

absl::Status LogGps::Prepare() {
  if (options_.path != nullptr || options_.flow_log != nullptr)
    return absl::InvalidArgumentError(
        "fabric loggps does not record causes or flows; expected a run without --critical-path and "
        "--flow-log");
  if (options_.variation != nullptr)
    return absl::InvalidArgumentError("fabric loggps does not support variation");
  for (const RankTrace& trace : traces_.ranks) {
    const Graph& g = *trace.graph;
    for (uint32_t row = 0; row < g.size(); ++row) {
      const NodeType type = g.type[row];
      const bool memory = type == NodeType::kMemLoad || type == NodeType::kMemStore;
      if (!memory && type != NodeType::kCollective) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          DescribeNode(trace, row), ": fabric loggps supports only computation, sends and receives",
          "; `convert --to goal --cluster SPEC` lowers the rest to these"));
    }
    Rank& rank = ranks_.emplace_back();
    rank.graph = &g;
    rank.sent.resize(g.size());
    rank.waiting.resize(g.size());
  }
  return absl::OkStatus();
}

void LogGps::MakeReleased() {
  std::sort(touched_.begin(), touched_.end());
  for (const uint32_t r : touched_) {
    Rank& rank = ranks_[r];
    const Graph& g = *rank.graph;
    const auto place = [&g](const Row& of) {
      return g.type[of.row] == NodeType::kSend ? 1 : g.type[of.row] == NodeType::kRecv ? 2 : 3;
    };
    std::stable_sort(rank.released.begin(), rank.released.end(),
                     [&](const Row& a, const Row& b) { return place(a) < place(b); });
    for (const auto& [row, not_before] : rank.released) {
      Time at = std::max(not_before, rank.cpu[Cpu(g, row)]);
      if (g.type[row] == NodeType::kSend) at = std::max(at, rank.sends[Card(g, row)]);
      events_.Push({at, order_++, kNode, r, row});
    }
    rank.released.clear();
  }
  touched_.clear();
}

Time LogGps::NextEvent(Time) {
  if (!touched_.empty()) MakeReleased();
  return events_.empty() ? Time::Never() : events_.top().at;
}

void LogGps::AdvanceTo(Time) {
  const Event e = events_.top();
  events_.Pop();
  if (e.kind == kMessage) return Arrive(e);
  const NodeType type = ranks_[e.rank].graph->type[e.row];
  if (type == NodeType::kSend) return Send(e);
  if (type == NodeType::kRecv) return Receive(e);
  Calc(e);
}

void LogGps::Calc(const Event& e) {
  Rank& rank = ranks_[e.rank];
  Time end = e.at;
  if (rank.graph->type[e.row] == NodeType::kComp) {  // all other nodes here are metadata
    Time& cpu = rank.cpu[Cpu(*rank.graph, e.row)];
    if (cpu > e.at) return Again(e, cpu);
    end = cpu = e.at + compute_[distinct_.of_rank[e.rank]].time[e.row];
  }
  Begins(e.rank, e.row);
  moving_.push_back({e.rank, e.row});
  Ends(e.rank, e.row, end);
}

void LogGps::Send(const Event& e) {
  Rank& rank = ranks_[e.rank];
  const Graph& g = *rank.graph;
  Time &cpu = rank.cpu[Cpu(g, e.row)], &card = rank.sends[Card(g, e.row)];
  if (std::max(cpu, card) > e.at) return Again(e, std::max(cpu, card));
  const uint64_t bytes = BytesOf(e.rank, e.row);
  const EndpointPrices::Busy busy = prices_.Sending(bytes);
  cpu = e.at + busy.processor;
  card = e.at + busy.card;
  rank.sent[e.row] = e.at;
  Begins(e.rank, e.row);
  moving_.push_back({e.rank, e.row});
  events_.Push({e.at + prices_.FirstByte(), order_++, kMessage, e.rank, e.row});
  if (!prices_.MeetsReceive(bytes)) Ends(e.rank, e.row, cpu);
}

// If the sender waits for the receive, ends the send at the instant when message and receive have met.
void LogGps::Meet(Time now, uint32_t sender, uint32_t send_row) {
  if (!prices_.MeetsReceive(BytesOf(sender, send_row))) return;
  Rank& from = ranks_[sender];
  Time &cpu = from.cpu[Cpu(*from.graph, send_row)], &card = from.sends[Card(*from.graph, send_row)];
  cpu = std::max(cpu, now);
  card = std::max(card, now);
  Ends(sender, send_row, now);
}

void LogGps::Receive(const Event& e) {
  Rank& rank = ranks_[e.rank];
  Begins(e.rank, e.row);
  const Peer& peer = PeerOf(e.rank, e.row);
  auto& arrived = rank.arrived[{peer.src, peer.tag}];
  if (arrived.empty()) {
    rank.posted[{peer.src, peer.tag}].push_back({e.rank, e.row, Time::Zero()});
    return;
  }
  const auto [sender, send_row, done] = arrived.front();
  arrived.pop_front();
  Meet(e.at, sender, send_row);
  moving_.push_back({e.rank, e.row});
  // The message may still keep a cpu busy that was idle when the receive was made.
  Ends(e.rank, e.row, std::max(e.at, done));
}

void LogGps::Arrive(const Event& e) {
  const Graph& from = *ranks_[e.rank].graph;
  const Peer& peer = PeerOf(e.rank, e.row);
  const auto to = static_cast<uint32_t>(peer.dst);
  Rank& rank = ranks_[to];
  Time &cpu = rank.cpu[Cpu(from, e.row)], &card = rank.receives[Card(from, e.row)];
  if (std::max(cpu, card) > e.at) return Again(e, std::max(cpu, card));
  const uint64_t bytes = BytesOf(e.rank, e.row);
  const EndpointPrices::Busy busy = prices_.Receiving(bytes);
  cpu = e.at + busy.processor;
  card = e.at + busy.card;
  const Time done = cpu;
  ++total_.count;
  total_.bytes += bytes;
  total_.time += done - ranks_[e.rank].sent[e.row];
  const auto key = std::make_pair(static_cast<int32_t>(e.rank), peer.tag);
  auto& posted = rank.posted[key];
  if (posted.empty()) {
    rank.arrived[key].push_back({e.rank, e.row, done});
    return;
  }
  const uint32_t recv_row = posted.front().row;
  posted.pop_front();
  Meet(e.at, e.rank, e.row);
  moving_.push_back({to, recv_row});
  Ends(to, recv_row, done);
}

absl::Status LogGps::Unfinished(uint64_t left) const {
  if (!events_.empty()) return absl::OutOfRangeError("the run exceeds the longest simulated time, 106 days");
  std::string first;
  for (uint32_t r = 0; r < ranks_.size() && first.empty(); ++r) {
    const auto& waiting = ranks_[r].waiting;
    const auto at = std::find(waiting.begin(), waiting.end(), 1);
    if (at != waiting.end())
      first = DescribeNode(traces_.ranks[r], static_cast<uint32_t>(at - waiting.begin()));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the run cannot finish: ", left, " nodes are left when nothing more can happen",
                   first.empty() ? "" : absl::StrCat("; one that waits for its partner: ", first)));
}

// A message that no receive asked for keeps the cpu busy beyond the last node.
void LogGps::Report(Metrics* metrics) {
  for (size_t r = 0; r < ranks_.size(); ++r) {
    RankMetrics& rank = metrics->ranks[r];
    Time end = rank.end;
    for (const Time t : ranks_[r].cpu.free) end = std::max(end, t);
    rank.idle += end - rank.end;
    rank.end = end;
    metrics->makespan = std::max(metrics->makespan, end);
  }
  metrics->flows = total_.count;
  if (total_.count == 0) return;
  total_.ranks = 2;
  metrics->collectives[{"send_recv", ""}] = total_;
}

}  // namespace chakra
