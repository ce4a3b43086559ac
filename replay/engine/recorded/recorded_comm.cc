#include "replay/engine/recorded/recorded_comm.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/collectives/accounting.h"
#include "trace/base/text_table.h"
#include "trace/import/locate.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {

absl::Status CheckRecordedComm(const TraceSet& traces, std::vector<std::string>* warnings) {
  uint64_t timed = 0, untimed = 0;
  std::string first;
  for (const RankTrace& trace : traces.ranks) {
    const Graph& graph = *trace.graph;
    if (graph.comm.empty()) continue;
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] < NodeType::kSend) continue;
      if (graph.transfer_of(graph.payload[row]) != Time::Never() || graph.duration[row] > Time::Zero()) {
        ++timed;
      } else if (untimed++ == 0) {
        first = DescribeNode(trace, row);
      }
    }
  }
  if (untimed == 0) return absl::OkStatus();
  if (timed == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the traces have no recorded durations of communication (", untimed, " nodes; the first is ", first,
        "); expected duration_micros, duration_ns or transfer_ns. Such traces need communication simulated"));
  }
  warnings->push_back(absl::StrCat(
      untimed, " communication nodes have no recorded duration and take no time; the first is ", first));
  return absl::OkStatus();
}

RecordedComm::RecordedComm(const TraceSet& traces, const Matching& matching, bool least, bool all)
    : traces_(traces),
      matching_(matching),
      least_(least),
      all_(all),
      calls_(matching.calls.size()),
      messages_(matching.messages.size()) {}

absl::Status RecordedComm::Prepare() {
  const auto kept = [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return one.kept; });
  };
  if (!all_ && !kept(matching_.calls) && !kept(matching_.messages)) return absl::OkStatus();
  const DistinctGraphs distinct(traces_);
  graph_of_.assign(distinct.of_rank.begin(), distinct.of_rank.end());
  least_times_.resize(distinct.graphs.size());
  for (size_t r = traces_.ranks.size(); r-- > 0;)
    least_times_[graph_of_[r]] = LeastOfRepeats(traces_.ranks[r]);
  return absl::OkStatus();
}

void RecordedComm::Begin(uint32_t rank, uint32_t row, Time now, CauseRef cause) {
  const Graph& graph = *traces_.ranks[rank].graph;
  const uint32_t index = matching_.slots[rank][graph.payload[row]].index;
  if (graph.type[row] == NodeType::kCollective) {
    const CollectiveCall& call = matching_.calls[index];
    return Arrive(&calls_[index], call.made, HasUntracedMembers(call), rank, row, now, cause);
  }
  const MatchedMessage& m = matching_.messages[index];
  Arrive(&messages_[index], (m.send_row != kNoRow) + (m.recv_row != kNoRow), HasUntracedSide(m), rank, row,
         now, cause);
}

bool RecordedComm::Rendezvous::Has(uint32_t rank) const {
  return std::any_of(here.begin(), here.end(), [rank](const Arrival& a) { return a.rank == rank; });
}

bool RecordedComm::HasUntracedMembers(const CollectiveCall& call) const {
  const GroupInfo& group = matching_.groups[call.group];
  return traces_.of_one_trace ? group.size > 1 : static_cast<int>(group.members.size()) < group.size;
}

bool RecordedComm::HasUntracedSide(const MatchedMessage& message) const {
  return traces_.of_one_trace || message.send_row == kNoRow || message.recv_row == kNoRow;
}

Time RecordedComm::Recorded(uint32_t rank, uint32_t row) const {
  const Graph& graph = *traces_.ranks[rank].graph;
  const Time measured = graph.transfer_of(graph.payload[row]);
  return measured == Time::Never() ? graph.duration[row] : measured;
}

Time RecordedComm::Least(uint32_t rank, uint32_t row) const {
  return least_times_[graph_of_[rank]][traces_.ranks[rank].graph->payload[row]];
}

void RecordedComm::Arrive(Rendezvous* rendezvous, uint32_t expected, bool untraced, uint32_t rank,
                          uint32_t row, Time now, const CauseRef& cause) {
  if (rendezvous->here.empty()) rendezvous->first = now;
  if (rendezvous->here.empty() || now > rendezvous->last) rendezvous->last_rank = rank;
  rendezvous->last = now;
  rendezvous->here.push_back({rank, row, now});
  const auto eager = [this](uint32_t r, uint32_t its_row) {
    const Graph& graph = *traces_.ranks[r].graph;
    return graph.type[its_row] == NodeType::kSend && graph.comm[graph.payload[its_row]].eager;
  };
  if (eager(rank, row)) {  // an eager send leaves before its receive begins
    const Time at = now + traces_.ranks[rank].graph->duration[row];
    rendezvous->end = std::max(rendezvous->end, at);
    ended_.push_back({rank, row, at, cause});
  }
  if (rendezvous->here.size() < expected) return;
  for (const Rendezvous::Arrival& a : rendezvous->here) {
    if (eager(a.rank, a.row)) continue;
    const Time at = now + Transfer(untraced, a.rank, a.row);
    rendezvous->end = std::max(rendezvous->end, at);
    ended_.push_back({a.rank, a.row, at, cause});  // the cause is that of the last arrival, `row`
  }
}

void RecordedComm::AddCall(size_t i, const std::string& kind, Metrics* metrics) const {
  const CollectiveCall& call = matching_.calls[i];
  const GroupInfo& group = matching_.groups[call.group];
  const auto add = [&](const std::string& name) {
    CollectiveMetrics& total = metrics->collectives[{kind, name}];
    ++total.count;
    total.ranks = group.size;
    total.bytes += BufferBytes(call.type, call.bytes, total.ranks);
    total.time += calls_[i].end - calls_[i].last;
    total.wait += calls_[i].last - calls_[i].first;
    total.algorithm = "recorded";
  };
  add(group.name);
  for (const auto* copy : group.copies) add(copy->first);
  for (const Rendezvous::Arrival& a : calls_[i].here) {
    const Time wait = calls_[i].last - a.at;
    metrics->ranks[a.rank].waited += wait;
    metrics->ranks[calls_[i].last_rank].kept_waiting += wait;
  }
}

uint64_t RecordedComm::RanksAt(size_t call) const {
  const GroupInfo& group = matching_.groups[matching_.calls[call].group];
  if (group.next_symmetric.empty() || calls_[call].here.empty()) return 1;
  return group.members.size() * group.times() / calls_[call].here.size();
}

// Sums over the ranks that take part, because each rank waited by itself.
void RecordedComm::WarnOfWaits(Metrics* metrics) const {
  uint64_t nodes = 0;
  Time recorded, least;
  const auto add = [&](const Rendezvous& rendezvous, uint64_t ranks) {
    for (const Rendezvous::Arrival& a : rendezvous.here) {
      nodes += ranks;
      recorded += Recorded(a.rank, a.row) * static_cast<int64_t>(ranks);
      least += Least(a.rank, a.row) * static_cast<int64_t>(ranks);
    }
  };
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (HasUntracedMembers(matching_.calls[i])) add(calls_[i], RanksAt(i));
  }
  for (size_t i = 0; i < messages_.size(); ++i) {
    if (HasUntracedSide(matching_.messages[i])) add(messages_[i], 1);
  }
  if (nodes == 0 || recorded == Time::Zero()) return;
  const std::string what =
      absl::StrCat(FormatCount(nodes), nodes == 1 ? " communication node was" : " communication nodes were",
                   " recorded without a trace of all ranks: the ", FormatTime(recorded),
                   " include waits for ranks without a trace");
  metrics->warnings.push_back(
      least_ ? absl::StrCat(
                   what,
                   "; because the run differs from the recorded one, each takes the minimum of its repeats, ",
                   FormatTime(least), " in all")
             : absl::StrCat(what, " (the minimum of the repeats: ", FormatTime(least), ")"));
}

void RecordedComm::Report(Metrics* metrics) { all_ ? ReportAll(metrics) : ReportKept(metrics); }

void RecordedComm::ReportAll(Metrics* metrics) const {
  for (size_t i = 0; i < calls_.size(); ++i) {
    AddCall(i, std::string(Name(matching_.calls[i].type)), metrics);
  }
  WarnOfWaits(metrics);
  if (messages_.empty()) return;
  CollectiveMetrics& total = metrics->collectives[{"send_recv", ""}];
  total.ranks = 2;
  total.algorithm = "recorded";
  for (size_t i = 0; i < messages_.size(); ++i) {
    ++total.count;
    total.bytes += matching_.messages[i].bytes;
    total.time += messages_[i].end - messages_[i].last;
    total.wait += messages_[i].last - messages_[i].first;
  }
}

void RecordedComm::ReportKept(Metrics* metrics) const {
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (!matching_.calls[i].kept) continue;
    AddCall(i, absl::StrCat(std::string(Name(matching_.calls[i].type)), " of unknown size"), metrics);
    for (const Rendezvous::Arrival& a : calls_[i].here) {
      metrics->kept.nodes += RanksAt(i);
      metrics->kept.time +=
          Transfer(HasUntracedMembers(matching_.calls[i]), a.rank, a.row) * static_cast<int64_t>(RanksAt(i));
    }
  }
  WarnOfWaits(metrics);
  for (size_t i = 0; i < messages_.size(); ++i) {
    if (!matching_.messages[i].kept) continue;
    CollectiveMetrics& total = metrics->collectives[{"send_recv of unknown size", ""}];
    total.ranks = 2;
    total.algorithm = "recorded";
    ++total.count;
    total.time += messages_[i].end - messages_[i].last;
    total.wait += messages_[i].last - messages_[i].first;
    for (const Rendezvous::Arrival& a : messages_[i].here) {
      ++metrics->kept.nodes;
      metrics->kept.time += Transfer(HasUntracedSide(matching_.messages[i]), a.rank, a.row);
    }
  }
}

}  // namespace chakra
