#include "replay/compare/trace_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "replay/compare/launchers.h"
#include "replay/compare/report_tables.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/lanes.h"
#include "replay/engine/measure/name_times.h"
#include "trace/model/capture_info.h"
#include "trace/model/distinct_graphs.h"
#include "trace/model/inspect.h"

namespace chakra {
namespace {

struct Sums {
  __int128 duration = 0, operations = 0, bytes = 0, nodes = 0;
  void Add(const Sums& o, __int128 times) {
    duration += o.duration * times;
    operations += o.operations * times;
    bytes += o.bytes * times;
    nodes += o.nodes * times;
  }
  std::vector<Number> Numbers() const { return {duration, operations, bytes, nodes}; }
};
const std::vector<std::string> kSumMeasures = {"duration_ps", "operations", "bytes", "count"};

bool IsComm(NodeType type) { return type >= NodeType::kSend; }

Sums SumsOf(const Graph& graph, uint32_t row) {
  Sums s;
  s.nodes = 1;
  s.duration = graph.duration[row].picos();
  const uint32_t payload = graph.payload[row];
  if (payload == kNoRow) return s;
  if (IsComm(graph.type[row])) {
    s.bytes = graph.comm[payload].bytes;
  } else {
    s.bytes = graph.work[payload].tensor_bytes;
    s.operations = graph.work[payload].num_ops;
  }
  return s;
}

using ByName = std::map<std::string, Sums>;

// Numbers the threads of one graph in the order of their first use.
class ThreadNumbers {
 public:
  explicit ThreadNumbers(const Graph& graph) : graph_(graph) {
    for (const uint32_t row : graph.order) {
      if (graph.is_cpu(row) && RunsOnRecordedLane(graph, row))
        numbers_.emplace(graph.lane[row], numbers_.size() + 1);
    }
  }
  std::string LaneOf(uint32_t row) const {
    if (!graph_.is_cpu(row) || !RunsOnRecordedLane(graph_, row))
      return LaneName(graph_, row, LanePolicy::kRecorded);
    return absl::StrCat("thread no. ", numbers_.at(graph_.lane[row]));
  }

 private:
  const Graph& graph_;
  absl::flat_hash_map<int32_t, size_t> numbers_;
};

// The sums that all ranks of a graph share.
struct GraphSums {
  Sums all;
  __int128 comm_bytes = 0;
  Time start, end, chain;
  ByName operators, kernels, kernels_by_operator, lanes;
  std::array<Sums, kNodeTypes> types;
};

// `name_of`: the name of an index into `sums`.
template <typename NameOf>
void AddByName(const std::vector<Sums>& sums, bool merge_numbers, const NameOf& name_of, ByName* out) {
  for (uint32_t i = 0; i < sums.size(); ++i) {
    if (sums[i].nodes == 0) continue;
    const absl::string_view name = name_of(i);
    (*out)[merge_numbers ? MergeNumbers(name) : std::string(name)].Add(sums[i], 1);
  }
}

// `rank`: any rank with the graph.
GraphSums SumUp(const RankTrace& rank, const TraceTableOptions& options) {
  const Graph& graph = *rank.graph;
  GraphSums out;
  const ThreadNumbers threads(graph);
  const DeviceOperators launched = options.by_device ? OperatorsOfDevice(rank) : DeviceOperators();
  std::vector<Sums> names(graph.strings.size()), kernels(names.size()), by_operator(launched.names.size());
  for (uint32_t row = 0; row < graph.size(); ++row) {
    const Sums s = SumsOf(graph, row);
    const Time start = graph.start.empty() ? Time::Zero() : graph.start[row];
    out.start = row == 0 ? start : std::min(out.start, start);
    out.end = row == 0 ? start + graph.duration[row] : std::max(out.end, start + graph.duration[row]);
    out.all.Add(s, 1);
    if (IsComm(graph.type[row])) out.comm_bytes += s.bytes;
    if (options.by_device && !graph.is_cpu(row) && graph.type[row] != NodeType::kMetadata) {
      kernels[graph.name[row]].Add(s, 1);
      by_operator[launched.of_row[row]].Add(s, 1);
    } else {
      names[graph.name[row]].Add(s, 1);
    }
    out.types[static_cast<size_t>(graph.type[row])].Add(s, 1);
    const std::string lane =
        options.number_threads ? threads.LaneOf(row) : LaneName(graph, row, LanePolicy::kRecorded);
    if (!lane.empty()) out.lanes[lane].Add(s, 1);
  }
  const auto name = [&](uint32_t i) { return graph.strings.Get(i); };
  AddByName(names, options.merge_numbers, name, &out.operators);
  AddByName(kernels, options.merge_numbers, name, &out.kernels);
  const auto launcher = [&](uint32_t i) -> absl::string_view {
    return i == 0 ? "(launched by no known operator)" : absl::string_view(launched.names[i]);
  };
  AddByName(by_operator, options.merge_numbers, launcher, &out.kernels_by_operator);
  out.chain = FindLongestChain(graph).duration;
  return out;
}

ComparedTable ToTable(const std::string& name, const ByName& sums) {
  ComparedTable t{name, kSumMeasures};
  for (const auto& [key, s] : sums) t.rows.push_back({key.empty() ? "(no name)" : key, s.Numbers()});
  return t;
}

// Adds nodes of communication by kind and group.
void AddCommunication(const RankTrace& rank, std::map<std::pair<std::string, std::string>, Sums>* out) {
  const Graph& graph = *rank.graph;
  absl::flat_hash_map<uint64_t, Sums> own;  // (type, collective, group)
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.is_kept_comm(row)) {
      (*out)[{std::string(graph.kept_kind(row)), std::string(kUnknownGroup)}].Add(SumsOf(graph, row), 1);
      continue;
    }
    if (!IsComm(graph.type[row])) continue;
    const uint32_t payload = graph.payload[row];
    const bool collective = graph.type[row] == NodeType::kCollective;
    const uint32_t group = collective && payload != kNoRow ? rank.peers[payload].group : 0;
    const uint32_t kind = collective && payload != kNoRow ? graph.comm[payload].type : 0xff;
    const auto type = static_cast<uint32_t>(graph.type[row]);
    own[uint64_t{type} << 48 | uint64_t{kind} << 32 | group].Add(SumsOf(graph, row), 1);
  }
  for (const auto& [key, s] : own) {
    const auto type = static_cast<NodeType>(key >> 48);
    const auto kind = static_cast<uint32_t>(key >> 32 & 0xffff);
    std::string name = type == NodeType::kSend ? "send" : type == NodeType::kRecv ? "recv" : "unspecified";
    if (type == NodeType::kCollective && kind < kCollectiveTypes) {
      name = std::string(Name(static_cast<CollectiveType>(kind)));
    }
    const bool has_group = !rank.group_names.empty() && type == NodeType::kCollective;
    (*out)[{name, has_group ? rank.group_names[key & 0xffffffff] : ""}].Add(s, 1);
  }
}

// The steps of captures: their number and total duration over all ranks, and the maximum number of a rank.
struct StepTimes {
  uint64_t count = 0, most = 0;
  __int128 duration = 0;
};
StepTimes StepsOf(const TraceSet& traces) {
  StepTimes out;
  for (const RankTrace& rank : traces.ranks) {
    const auto info = ReadCaptureInfo(rank);
    if (!info.ok() || !info->has_value() || rank.graph->start.empty()) continue;
    out.count += (*info)->steps.size();
    out.most = std::max<uint64_t>(out.most, (*info)->steps.size());
    for (const CaptureInfo::Step& step : (*info)->steps) {
      out.duration +=
          (rank.graph->start[step.last] + rank.graph->duration[step.last] - rank.graph->start[step.first])
              .picos();
    }
  }
  return out;
}

ComparedTable GroupTable(const TraceSet& traces) {
  ComparedTable t{"groups", {"ranks"}, {"members"}};
  for (const auto& [name, ranks] : traces.groups) {
    t.rows.push_back({absl::StrCat("group \"", name, "\""), {uint64_t{ranks.size()}}, {RankRanges(ranks)}});
  }
  return t;
}

ComparedTable RepairTable(const TraceSet& traces) {
  ComparedTable t{"repairs", {"count", "first_node"}};
  for (const RankTrace& rank : traces.ranks) {
    for (const Repair& r : rank.repairs) {
      t.rows.push_back({absl::StrCat(r.kind, " of rank ", rank.rank), {r.count, r.first_node}});
    }
  }
  return t;
}

}  // namespace

std::string RankRanges(std::vector<int> ranks) {
  std::string out;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    absl::StrAppend(&out, i > 0 ? "," : "", ranks[i], last > i ? absl::StrCat("-", ranks[last]) : "");
    i = last + 1;
  }
  return out;
}

bool ShareThreads(const TraceSet& a, const TraceSet& b) {
  const auto nodes_of = [](const TraceSet& traces) {
    std::map<int32_t, uint64_t> nodes;  // by thread
    for (const Graph* graph : DistinctGraphs(traces).graphs) {
      for (uint32_t row = 0; row < graph->size(); ++row) {
        if (graph->is_cpu(row) && RunsOnRecordedLane(*graph, row)) ++nodes[graph->lane[row]];
      }
    }
    return nodes;
  };
  const std::map<int32_t, uint64_t> of_a = nodes_of(a), of_b = nodes_of(b);
  if (of_a.empty() || of_b.empty()) return true;
  const auto fewer = [](const auto& x, const auto& y) { return x.second < y.second; };
  return of_b.count(std::max_element(of_a.begin(), of_a.end(), fewer)->first) > 0 ||
         of_a.count(std::max_element(of_b.begin(), of_b.end(), fewer)->first) > 0;
}

std::vector<ComparedTable> TraceTables(const TraceSet& traces, const TraceTableOptions& options) {
  const DistinctGraphs distinct(traces);
  std::vector<GraphSums> sums;
  std::vector<const RankTrace*> first(distinct.graphs.size());  // the first rank with each graph
  for (const RankTrace& rank : traces.ranks) {
    const RankTrace*& known = first[distinct.of_rank[static_cast<size_t>(rank.rank)]];
    if (known == nullptr) known = &rank;
  }
  for (const RankTrace* rank : first) sums.push_back(SumUp(*rank, options));
  std::vector<__int128> uses(sums.size());
  ComparedTable ranks{
      "ranks",
      {"duration_ps", "span_ps", "chain_ps", "nodes", "dependencies", "operations", "bytes", "comm_bytes"}};
  Time start = Time::Never(), end, chain;
  uint64_t dependencies = 0;
  std::map<std::pair<std::string, std::string>, Sums> communication;
  for (const RankTrace& rank : traces.ranks) {
    const uint32_t g = distinct.of_rank[static_cast<size_t>(rank.rank)];
    const GraphSums& s = sums[g];
    ++uses[g];
    start = std::min(start, s.start);
    end = std::max(end, s.end);
    chain = std::max(chain, s.chain);
    dependencies += rank.graph->dep.size();
    AddCommunication(rank, &communication);
    ranks.rows.push_back({absl::StrCat("rank ", rank.rank),
                          {s.all.duration, (s.end - s.start).picos(), s.chain.picos(), s.all.nodes,
                           uint64_t{rank.graph->dep.size()}, s.all.operations, s.all.bytes, s.comm_bytes}});
  }
  Sums all;
  ByName operators, kernels, kernels_by_operator, lanes, types, collectives;
  for (size_t g = 0; g < sums.size(); ++g) {
    all.Add(sums[g].all, uses[g]);
    for (const auto& [name, s] : sums[g].operators) operators[name].Add(s, uses[g]);
    for (const auto& [name, s] : sums[g].kernels) kernels[name].Add(s, uses[g]);
    for (const auto& [name, s] : sums[g].kernels_by_operator) kernels_by_operator[name].Add(s, uses[g]);
    for (const auto& [name, s] : sums[g].lanes) lanes[name].Add(s, uses[g]);
    for (int t = 0; t < kNodeTypes; ++t) {
      if (sums[g].types[t].nodes > 0)
        types[std::string(Name(static_cast<NodeType>(t)))].Add(sums[g].types[t], uses[g]);
    }
  }
  for (const auto& [key, s] : communication) collectives[CollectiveName(key.first, key.second)].Add(s, 1);
  const StepTimes steps = StepsOf(traces);
  ComparedTable run{"run",
                    {"span_ps", "duration_ps", "chain_ps", "mean_step_ps", "steps", "operations", "bytes",
                     "nodes", "dependencies", "ranks", "distinct_graphs"}};
  run.rows.push_back(
      {"run",
       {(traces.ranks.empty() ? Time::Zero() : end - start).picos(), all.duration, chain.picos(),
        steps.count == 0 ? 0 : steps.duration / steps.count, steps.most, all.operations, all.bytes, all.nodes,
        dependencies, uint64_t{traces.ranks.size()}, uint64_t{sums.size()}}});
  return {run,
          ToTable("types", types),
          ranks,
          ToTable("collectives", collectives),
          ToTable("kernels_by_operator", kernels_by_operator),
          ToTable("kernels", kernels),
          ToTable("operators", operators),
          ToTable("lanes", lanes),
          GroupTable(traces),
          RepairTable(traces)};
}

}  // namespace chakra
