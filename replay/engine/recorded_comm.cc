#include "replay/engine/recorded_comm.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/collectives/accounting.h"
#include "trace/import/locate.h"

namespace chakra {

absl::Status CheckRecordedComm(const TraceSet& traces, std::vector<std::string>* warnings) {
  uint64_t timed = 0, untimed = 0;
  std::string first;
  for (const RankTrace& trace : traces.ranks) {
    const Graph& graph = *trace.graph;
    if (graph.comm.empty()) continue;
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] < NodeType::kSend) continue;
      if (graph.comm[graph.payload[row]].transfer != Time::Never() || graph.duration[row] > Time::Zero()) {
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

RecordedComm::RecordedComm(const TraceSet& traces, const Matching& matching)
    : traces_(traces),
      matching_(matching),
      calls_(matching.calls.size()),
      messages_(matching.messages.size()) {}

bool RecordedComm::Meeting::Has(uint32_t rank) const {
  return std::any_of(here.begin(), here.end(), [rank](const Arrival& a) { return a.rank == rank; });
}

Time RecordedComm::Transfer(uint32_t rank, uint32_t row) const {
  const Graph& graph = *traces_.ranks[rank].graph;
  const Time measured = graph.comm[graph.payload[row]].transfer;
  return measured == Time::Never() ? graph.duration[row] : measured;
}

void RecordedComm::Arrive(Meeting* meeting, uint32_t expected, uint32_t rank, uint32_t row, Time now) {
  if (meeting->here.empty()) meeting->first = now;
  if (meeting->here.empty() || now > meeting->last) meeting->last_rank = rank;
  meeting->last = now;
  meeting->here.push_back({rank, row, now});
  const auto eager = [this](uint32_t r, uint32_t its_row) {
    const Graph& graph = *traces_.ranks[r].graph;
    return graph.type[its_row] == NodeType::kSend && graph.comm[graph.payload[its_row]].eager;
  };
  if (eager(rank, row)) {  // an eager send leaves its message behind
    meeting->end = std::max(meeting->end, now + traces_.ranks[rank].graph->duration[row]);
    ended_.push_back({rank, row, now + traces_.ranks[rank].graph->duration[row]});
  }
  if (meeting->here.size() < expected) return;
  for (const Meeting::Arrival& a : meeting->here) {
    if (eager(a.rank, a.row)) continue;
    const Time at = now + Transfer(a.rank, a.row);
    meeting->end = std::max(meeting->end, at);
    ended_.push_back({a.rank, a.row, at});
  }
}

void RecordedComm::AddCall(size_t i, const std::string& kind, Metrics* metrics) const {
  const CollectiveCall& call = matching_.calls[i];
  const GroupInfo& group = matching_.groups[call.group];
  CollectiveMetrics& total = metrics->collectives[{kind, group.name}];
  ++total.count;
  total.ranks = group.size;
  total.bytes += BufferBytes(call.type, call.bytes, total.ranks);
  total.time += calls_[i].end - calls_[i].last;
  total.wait += calls_[i].last - calls_[i].first;
  for (const Meeting::Arrival& a : calls_[i].here) {
    const Time wait = calls_[i].last - a.at;
    metrics->ranks[a.rank].waited += wait;
    metrics->ranks[calls_[i].last_rank].kept_waiting += wait;
  }
  total.algorithm = "recorded";
}

void RecordedComm::Report(Metrics* metrics) const {
  for (size_t i = 0; i < calls_.size(); ++i) {
    AddCall(i, std::string(Name(matching_.calls[i].type)), metrics);
  }
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
    for (const Meeting::Arrival& a : calls_[i].here) {
      ++metrics->kept.nodes;
      metrics->kept.time += Transfer(a.rank, a.row);
    }
  }
  for (size_t i = 0; i < messages_.size(); ++i) {
    if (!matching_.messages[i].kept) continue;
    CollectiveMetrics& total = metrics->collectives[{"send_recv of unknown size", ""}];
    total.ranks = 2;
    total.algorithm = "recorded";
    ++total.count;
    total.time += messages_[i].end - messages_[i].last;
    total.wait += messages_[i].last - messages_[i].first;
    for (const Meeting::Arrival& a : messages_[i].here) {
      ++metrics->kept.nodes;
      metrics->kept.time += Transfer(a.rank, a.row);
    }
  }
}

}  // namespace chakra
