#include "trace/model/inspect.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/parallel.h"
#include "trace/base/stop.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

// The summary of a graph, which all ranks with this graph share.
struct GraphSummary {
  uint32_t index = 0;
  LongestChain chain;
  FixedTime fixed_time;
  std::array<uint64_t, kNodeTypes> nodes{};
  std::array<Time, kNodeTypes> duration{};
  Time total;
  Time start = Time::Zero();
  Time end = Time::Zero();
};

GraphSummary Summarize(const Graph& graph, uint32_t index) {
  GraphSummary s;
  s.index = index;
  s.chain = FindLongestChain(graph);
  if (HasDelays(graph)) s.fixed_time = LongestFixedTime(graph);
  for (uint32_t row = 0; row < graph.size(); ++row) {
    const auto type = static_cast<size_t>(graph.type[row]);
    const Time start = graph.start.empty() ? Time::Zero() : graph.start[row];
    ++s.nodes[type];
    s.duration[type] += graph.duration[row];
    s.total += graph.duration[row];
    s.start = row == 0 ? start : std::min(s.start, start);
    s.end = row == 0 ? start + graph.duration[row] : std::max(s.end, start + graph.duration[row]);
  }
  return s;
}

using Traffic = std::map<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>>;

// Counts nodes and bytes by kind of communication and group.
class TrafficOfRank {
 public:
  explicit TrafficOfRank(const RankTrace& rank) : rank_(rank) {}

  Traffic Run() {
    const Graph& graph = *rank_.graph;
    for (uint32_t row = 0; row < graph.size(); ++row) {
      const NodeType type = graph.type[row];
      const bool calls = type == NodeType::kCollective || type == NodeType::kSend || type == NodeType::kRecv;
      if (graph.is_kept_comm(row)) {
        ++sums_[{std::string(graph.kept_kind(row)), std::string(kUnknownGroup)}].first;
      } else if (calls) {
        AddCall(type, graph.payload[row]);
      }
    }
    return std::move(sums_);
  }

 private:
  void AddCall(NodeType type, uint32_t payload) {
    const bool collective = type == NodeType::kCollective, told = payload != kNoRow;
    const Comm comm = told ? rank_.graph->comm[payload] : Comm();
    const bool known = collective && comm.type < kCollectiveTypes;
    const uint32_t group = collective && told ? rank_.peers[payload].group : kNoRow;
    const Key key = {type, known ? comm.type : Comm().type, group};
    if (last_ == nullptr || !(key == last_key_)) {
      const std::string kind = known        ? std::string(Name(static_cast<CollectiveType>(comm.type)))
                               : collective ? "unspecified"
                               : type == NodeType::kSend ? "send"
                                                         : "recv";
      last_ = &sums_[{kind, group == kNoRow ? "" : rank_.group_names[group]}];
      last_key_ = key;
    }
    ++last_->first;
    last_->second += comm.bytes;
  }

  struct Key {
    NodeType type = NodeType::kComp;
    uint8_t collective = 0;
    uint32_t group = kNoRow;
    bool operator==(const Key&) const = default;
  };
  const RankTrace& rank_;
  Traffic sums_;
  // Consecutive calls are often of one kind, so the entry of the last call is kept.
  Key last_key_;
  std::pair<uint64_t, uint64_t>* last_ = nullptr;
};

struct Summaries {
  std::vector<GraphSummary> graphs;  // of the distinct graphs, in the order of ranks
  std::vector<uint32_t> graph_of;    // by rank
  std::vector<Traffic> traffic;      // by rank
};

Summaries SummarizeAll(const TraceSet& traces, int threads) {
  Summaries out;
  std::unordered_map<const Graph*, uint32_t> index;  // for lookups; never iterated
  std::vector<const Graph*> graphs;
  for (const RankTrace& rank : traces.ranks) {
    const auto [it, fresh] = index.try_emplace(rank.graph.get(), static_cast<uint32_t>(graphs.size()));
    if (fresh) graphs.push_back(rank.graph.get());
    out.graph_of.push_back(it->second);
  }
  const StopScope to_the_end(nullptr);
  out.graphs.resize(graphs.size());
  out.traffic.resize(traces.ranks.size());
  ForEach(graphs.size() + traces.ranks.size(), threads, [&] {
    return [&](size_t task) {
      if (task < graphs.size()) {
        out.graphs[task] = Summarize(*graphs[task], static_cast<uint32_t>(task));
      } else {
        const size_t rank = task - graphs.size();
        out.traffic[rank] = TrafficOfRank(traces.ranks[rank]).Run();
      }
      return absl::OkStatus();
    };
  }).IgnoreError();
  return out;
}

void FillRank(const RankTrace& rank, const GraphSummary& s, proto::RankSummary* out) {
  out->set_rank(rank.rank);
  out->set_file(ToUtf8(rank.file));
  out->set_nodes(rank.graph->size());
  out->set_graph(s.index);
  out->set_start_ps(s.start.picos());
  out->set_end_ps(s.end.picos());
  out->set_duration_ps(s.total.picos());
  out->set_critical_path_ps(s.chain.duration.picos());
}

void FillPath(const RankTrace& rank, const LongestChain& chain, proto::CriticalPath* out) {
  const Graph& graph = *rank.graph;
  out->set_rank(rank.rank);
  out->set_duration_ps(chain.duration.picos());
  out->set_nodes(chain.rows.size());
  if (chain.rows.empty()) return;
  out->set_first_node(graph.id[chain.rows.front()]);
  out->set_first_name(ToUtf8(graph.name_of(chain.rows.front())));
  out->set_last_node(graph.id[chain.rows.back()]);
  out->set_last_name(ToUtf8(graph.name_of(chain.rows.back())));
}

// Returns the fixed time along a chain.
FixedTime FixedTimeOf(const Graph& graph, const LongestChain& chain) {
  FixedTime out;
  const RecordedWaits waits(graph);
  for (size_t i = 0; i < chain.rows.size(); ++i) {
    const uint32_t row = chain.rows[i];
    out[FixedTimeCause::kRecordedWaits] += waits.Of(row, graph.duration[row]);
    if (i == 0) continue;
    const auto begin = graph.dep.begin() + graph.dep_begin[row],
               end = graph.dep.begin() + graph.dep_begin[row + 1];
    const auto dep = std::lower_bound(begin, end, chain.rows[i - 1]);
    AddDelay(graph, static_cast<uint32_t>(dep - graph.dep.begin()), &out);
  }
  return out;
}

// Adds a rank. Ranks must be added in order, after the critical path in `out` includes this rank.
void AddFixedTime(const RankTrace& rank, const GraphSummary& s, proto::Inspection* out) {
  proto::FixedTimeReport& fixed_time = *out->mutable_fixed_time();
  *fixed_time.add_rank() = ToProto(s.fixed_time, absl::StrCat("rank ", rank.rank), s.chain.duration);
  if (!fixed_time.has_run() || s.fixed_time.total().picos() > fixed_time.run().time_ps())
    *fixed_time.mutable_run() = ToProto(s.fixed_time, "run", s.chain.duration);
  if (out->critical_path().rank() != rank.rank) return;
  const FixedTime path = HasDelays(*rank.graph) ? FixedTimeOf(*rank.graph, s.chain) : FixedTime();
  *fixed_time.mutable_critical_path() = ToProto(path, "critical path", s.chain.duration);
}

// Computes the shares of the whole, once the longest chain of all ranks is known.
void FinishFixedTime(proto::Inspection* out) {
  proto::FixedTimeReport& fixed_time = *out->mutable_fixed_time();
  const int64_t whole = out->critical_path().duration_ps();
  const auto ps = static_cast<double>(fixed_time.run().time_ps());
  fixed_time.mutable_run()->set_share(whole > 0 ? ps / static_cast<double>(whole) : 0);
  fixed_time.set_share(fixed_time.run().share());
  fixed_time.set_path_share(fixed_time.critical_path().share());
}

void FillNotes(const TraceSet& traces, proto::Inspection* out) {
  out->set_group_source(ToUtf8(traces.group_source));
  for (const auto& [name, ranks] : traces.groups) {
    proto::GroupSummary& g = *out->add_group();
    g.set_name(ToUtf8(name));
    for (int r : ranks) g.add_rank(r);
  }
  for (const RankTrace& rank : traces.ranks) {
    for (const Repair& r : rank.repairs) {
      *out->add_problem() = ToProto(r);
    }
  }
  for (const InputFile& f : traces.inputs) *out->add_input() = ToProto(f);
  for (const std::string& w : traces.warnings) out->add_warning(ToUtf8(w));
}

}  // namespace

proto::Repair ToProto(const Repair& repair) {
  proto::Repair out;
  out.set_kind(repair.kind);
  out.set_file(ToUtf8(repair.file));
  out.set_rank(repair.rank);
  out.set_count(repair.count);
  out.set_first_node(repair.first_node);
  out.set_detail(ToUtf8(repair.detail));
  return out;
}

proto::InputFile ToProto(const InputFile& file) {
  proto::InputFile out;
  out.set_path(ToUtf8(file.path));
  out.set_sha256(file.sha256);
  out.set_bytes(file.bytes);
  out.set_role(file.role);
  return out;
}

proto::FixedTime ToProto(const FixedTime& time, const std::string& of, Time whole) {
  proto::FixedTime out;
  out.set_of(of);
  out.set_time_ps(time.total().picos());
  if (whole > Time::Zero())
    out.set_share(static_cast<double>(out.time_ps()) / static_cast<double>(whole.picos()));
  out.set_host_gaps_ps(time[FixedTimeCause::kHostGaps].picos());
  out.set_launch_latency_ps(time[FixedTimeCause::kLaunchLatency].picos());
  out.set_stream_gaps_ps(time[FixedTimeCause::kStreamGaps].picos());
  out.set_start_ps(time[FixedTimeCause::kStart].picos());
  out.set_unexplained_ps(time[FixedTimeCause::kUnexplained].picos());
  out.set_recorded_waits_ps(time[FixedTimeCause::kRecordedWaits].picos());
  out.set_other_delays_ps(time[FixedTimeCause::kOther].picos());
  return out;
}

LongestChain FindLongestChain(const Graph& graph) {
  LongestChain chain;
  const uint32_t n = graph.size();
  if (n == 0) return chain;
  std::vector<Time> end(n);
  std::vector<uint32_t> before(n, kNoRow);
  for (uint32_t row : graph.order) {
    Time start = Time::Zero();
    for (uint32_t i = graph.dep_begin[row]; i < graph.dep_begin[row + 1]; ++i) {
      const uint32_t d = graph.dep[i];
      Time ready = end[d];
      if (!graph.dep_release.empty())
        ready = ready - graph.duration[d] + ReleasedAfter(graph.duration[d], graph.dep_release[i]);
      if (!graph.dep_delay.empty()) ready += graph.dep_delay[i];
      if (before[row] == kNoRow || ready > start) {
        start = ready;
        before[row] = d;
      }
    }
    end[row] = start + graph.duration[row];
  }
  const auto last = std::max_element(end.begin(), end.end());
  chain.duration = *last;
  for (uint32_t row = static_cast<uint32_t>(last - end.begin()); row != kNoRow; row = before[row]) {
    chain.rows.push_back(row);
  }
  std::reverse(chain.rows.begin(), chain.rows.end());
  return chain;
}

proto::Inspection Inspect(const TraceSet& traces, int threads) {
  proto::Inspection out;
  const Summaries all = SummarizeAll(traces, threads);
  std::array<uint64_t, kNodeTypes> nodes{};
  std::array<Time, kNodeTypes> duration{};
  Traffic traffic;
  const bool delays = std::any_of(traces.ranks.begin(), traces.ranks.end(),
                                  [](const RankTrace& rank) { return HasDelays(*rank.graph); });
  Time total, first = Time::Never(), last = Time::Zero();
  uint64_t dependencies = 0;
  for (size_t i = 0; i < traces.ranks.size(); ++i) {
    const RankTrace& rank = traces.ranks[i];
    const GraphSummary& s = all.graphs[all.graph_of[i]];
    for (int t = 0; t < kNodeTypes; ++t) {
      nodes[t] += s.nodes[t];
      duration[t] += s.duration[t];
    }
    total += s.total;
    dependencies += rank.graph->dep.size();
    if (rank.graph->size() > 0) {
      first = std::min(first, s.start);
      last = std::max(last, s.end);
    }
    FillRank(rank, s, out.add_rank());
    if (!out.has_critical_path() || s.chain.duration.picos() > out.critical_path().duration_ps()) {
      FillPath(rank, s.chain, out.mutable_critical_path());
    }
    if (delays) AddFixedTime(rank, s, &out);
    for (const auto& [key, value] : all.traffic[i]) {
      auto& [calls, bytes] = traffic[key];
      calls += value.first;
      bytes += value.second;
    }
  }
  if (delays) FinishFixedTime(&out);
  for (int t = 0; t < kNodeTypes; ++t) {
    if (nodes[t] == 0) continue;
    proto::TypeCount& c = *out.add_type();
    c.set_type(std::string(Name(static_cast<NodeType>(t))));
    c.set_nodes(nodes[t]);
    c.set_duration_ps(duration[t].picos());
  }
  for (const auto& [key, value] : traffic) {
    proto::CommunicationSummary& c = *out.add_communication();
    c.set_kind(key.first);
    c.set_group(ToUtf8(key.second));
    c.set_nodes(value.first);
    c.set_bytes(value.second);
  }
  out.set_ranks(static_cast<int>(traces.ranks.size()));
  out.set_nodes(traces.nodes());
  out.set_dependencies(dependencies);
  out.set_distinct_graphs(traces.distinct_graphs());
  out.set_span_ps(first == Time::Never() ? 0 : (last - first).picos());
  out.set_duration_ps(total.picos());
  FillNotes(traces, &out);
  return out;
}

}  // namespace chakra
