#include "replay/python/ranks.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "trace/model/distinct_graphs.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

static_assert(sizeof(Time) == sizeof(int64_t), "times are seen as integers");
static_assert(sizeof(NodeType) == 1);

// A view of a column of the traces, a Column or vector, which lives as long as the traces. `T` is the type of
// an element in Python.
template <typename T, typename Values>
py::array ColumnOf(const RankView& view, const Values& values) {
  using V = typename Values::value_type;
  static_assert(sizeof(T) == sizeof(V));
  return View(py::dtype::of<T>(), static_cast<int64_t>(values.size()), sizeof(V), values.data(), view.set);
}

// A view of the values, or a copy if the column is stored narrow.
template <typename T, typename V>
py::array ColumnOf(const RankView& view, const NarrowColumn<V>& values) {
  static_assert(sizeof(T) == sizeof(V));
  const auto size = static_cast<int64_t>(values.size());
  if (values.plain() != nullptr || values.empty())
    return View(py::dtype::of<T>(), size, sizeof(V), values.plain(), view.set);
  const auto copy = std::make_shared<const std::vector<V>>(values.ToVector());
  return View(py::dtype::of<T>(), size, sizeof(V), copy->data(), copy);
}

// A view of one member of the elements of such a column.
template <typename T, typename Values>
py::array MemberOf(const RankView& view, const Values& values, size_t offset) {
  using V = typename Values::value_type;
  return View(py::dtype::of<T>(), static_cast<int64_t>(values.size()), sizeof(V),
              reinterpret_cast<const char*>(values.data()) + offset, view.set);
}

// An array for a column that the traces leave out, since all its values are `value`: stride 0 over one
// number.
template <typename T>
py::array Constant(int64_t rows, T value) {
  auto held = std::make_shared<const T>(value);
  return View(py::dtype::of<T>(), rows, 0, held.get(), held);
}

template <typename T, typename Values>
py::array ColumnOr(const RankView& view, const Values& values, T value) {
  if (!values.empty()) return ColumnOf<T>(view, values);
  return Constant<T>(view.rank->graph->size(), value);
}

py::list StringsOf(const StringTable& strings) {
  py::list out(strings.size());
  for (uint32_t i = 0; i < strings.size(); ++i) out[i] = Text(std::string(strings.Get(i)));
  return out;
}

// Collects texts of several tables into one list.
class Words {
 public:
  int32_t Add(absl::string_view word) {
    const auto [found, fresh] = index_.try_emplace(word, static_cast<int32_t>(words_.size()));
    if (fresh) words_.emplace_back(word);
    return found->second;
  }
  std::vector<std::string> Take() { return std::move(words_); }

 private:
  absl::flat_hash_map<std::string, int32_t> index_;
  std::vector<std::string> words_;
};

std::vector<std::string> TypeWords() {
  std::vector<std::string> words;
  for (int t = 0; t < kNodeTypes; ++t) words.emplace_back(Name(static_cast<NodeType>(t)));
  return words;
}

std::vector<std::string> CollectiveNames() {
  std::vector<std::string> words;
  for (int t = 0; t < kCollectiveTypes; ++t) words.emplace_back(Name(static_cast<CollectiveType>(t)));
  return words;
}

bool IsComm(NodeType type) { return type >= NodeType::kSend; }
bool HasWork(NodeType type) {
  return type == NodeType::kComp || type == NodeType::kMemLoad || type == NodeType::kMemStore;
}

// The columns of all nodes, filled rank by rank.
class NodeColumns {
 public:
  explicit NodeColumns(size_t nodes) {
    for (auto* column : {&rank_, &name_, &type_, &lane_, &collective_, &group_, &src_, &dst_, &tag_})
      column->reserve(nodes);
    for (auto* column : {&start_, &duration_, &operations_}) column->reserve(nodes);
    for (auto* column : {&id_, &bytes_}) column->reserve(nodes);
    host_.reserve(nodes);
  }

  void AddRank(const RankTrace& rank, const std::vector<int32_t>& name_of) {
    const Graph& graph = *rank.graph;
    const uint32_t rows = graph.size();
    std::vector<int32_t> group_of;
    for (const std::string& group : rank.group_names) group_of.push_back(groups_.Add(group));
    rank_.insert(rank_.end(), rows, rank.rank);
    id_.insert(id_.end(), graph.id.begin(), graph.id.end());
    for (uint32_t row = 0; row < rows; ++row) {
      const NodeType type = graph.type[row];
      name_.push_back(name_of[graph.name[row]]);
      type_.push_back(static_cast<int32_t>(type));
      host_.push_back(graph.is_cpu(row) ? 1 : 0);
      start_.push_back(graph.start.empty() ? 0 : graph.start[row].picos());
      duration_.push_back(graph.duration[row].picos());
      lane_.push_back(graph.lane.empty() || graph.lane[row] == kNoLane ? -1 : graph.lane[row]);
      AddComm(rank, row, group_of);
      AddWork(graph, row);
    }
  }

  std::shared_ptr<Table> Finish(std::vector<std::string> names) {
    auto table = std::make_shared<Table>();
    table->rows = static_cast<int64_t>(id_.size());
    table->Add("rank", "", std::move(rank_));
    table->Add("id", "of the node, in its rank's trace", std::move(id_));
    table->AddWords("name", "", std::move(name_), std::move(names), true);
    table->AddWords("type", "as the schema spells it", std::move(type_), TypeWords(), true);
    table->Add("is_host", "an operation of the host", std::move(host_));
    table->Add("lane", "its thread or stream; -1: none was recorded", std::move(lane_));
    table->Add("start_ps", "recorded; 0: none", std::move(start_));
    table->Add("duration_ps", "recorded; 0: none", std::move(duration_));
    table->AddWords("collective", "kind of a collective", std::move(collective_), CollectiveNames(), true);
    table->AddWords("group", "of communication; \"\": all ranks", std::move(group_), groups_.Take(), true);
    table->Add("bytes", "that communication sends, or computation and memory nodes move", std::move(bytes_));
    table->Add("src", "of a receive; -1: none", std::move(src_));
    table->Add("dst", "of a send; -1: none", std::move(dst_));
    table->Add("tag", "of a message", std::move(tag_));
    table->Add("operations", "of computation; 0: not known", std::move(operations_));
    return table;
  }

 private:
  void AddComm(const RankTrace& rank, uint32_t row, const std::vector<int32_t>& group_of) {
    const Graph& graph = *rank.graph;
    const uint32_t at = graph.payload[row];
    if (!IsComm(graph.type[row]) || at == kNoRow) {
      collective_.push_back(-1);
      group_.push_back(-1);
      src_.push_back(-1);
      dst_.push_back(-1);
      tag_.push_back(0);
      return;
    }
    const Comm& comm = graph.comm[at];
    const Peer& peer = rank.peers[at];
    collective_.push_back(graph.type[row] == NodeType::kCollective && comm.type < kCollectiveTypes ? comm.type
                                                                                                   : -1);
    group_.push_back(group_of.empty() ? -1 : group_of[peer.group]);
    src_.push_back(peer.src);
    dst_.push_back(peer.dst);
    tag_.push_back(peer.tag);
  }

  void AddWork(const Graph& graph, uint32_t row) {
    const uint32_t at = graph.payload[row];
    const bool works = HasWork(graph.type[row]) && at != kNoRow;
    const bool talks = IsComm(graph.type[row]) && at != kNoRow;
    operations_.push_back(works ? graph.work[at].num_ops : 0);
    bytes_.push_back(works ? graph.work[at].tensor_bytes : talks ? graph.comm[at].bytes : 0);
  }

  Words groups_;
  std::vector<int32_t> rank_, name_, type_, lane_, collective_, group_, src_, dst_, tag_;
  std::vector<int64_t> start_, duration_, operations_;
  std::vector<uint64_t> id_, bytes_;
  std::vector<uint8_t> host_;
};

// `doc` is the text that help() shows for a column.
template <typename F>
void Def(py::class_<RankView>& type, const char* name, const char* doc, F get) {
  type.def_property_readonly(name, std::move(get), doc);
}

void BindComm(py::class_<RankView>& type) {
  Def(type, "comm_bytes", "Bytes of this rank's input buffer, by index of `payload`.",
      [](const RankView& v) { return MemberOf<uint64_t>(v, v.rank->graph->comm, offsetof(Comm, bytes)); });
  Def(type, "comm_type", "Kind of a collective, an index into COLLECTIVES; 255: none.",
      [](const RankView& v) { return MemberOf<uint8_t>(v, v.rank->graph->comm, offsetof(Comm, type)); });
  Def(type, "comm_src", "Rank from which a receive gets its message; -1: none.",
      [](const RankView& v) { return MemberOf<int32_t>(v, v.rank->peers, offsetof(Peer, src)); });
  Def(type, "comm_dst", "Rank to which a send goes; -1: none.",
      [](const RankView& v) { return MemberOf<int32_t>(v, v.rank->peers, offsetof(Peer, dst)); });
  Def(type, "comm_tag", "Tag of a message.",
      [](const RankView& v) { return MemberOf<int32_t>(v, v.rank->peers, offsetof(Peer, tag)); });
  Def(type, "comm_group", "An index into `group_names`.",
      [](const RankView& v) { return MemberOf<uint32_t>(v, v.rank->peers, offsetof(Peer, group)); });
  Def(type, "group_names", "Names of process groups; \"\": all ranks.", [](const RankView& v) {
    py::list out;
    for (const std::string& name : v.rank->group_names) out.append(Text(name));
    return out;
  });
  Def(type, "work_operations", "Operations of a node, by index of `payload`.",
      [](const RankView& v) { return MemberOf<int64_t>(v, v.rank->graph->work, offsetof(Work, num_ops)); });
  Def(type, "work_bytes", "Bytes that a node moves, by index of `payload`.", [](const RankView& v) {
    return MemberOf<uint64_t>(v, v.rank->graph->work, offsetof(Work, tensor_bytes));
  });
}

void BindDependencies(py::class_<RankView>& type) {
  Def(type, "dep_begin", "dep[dep_begin[i]:dep_begin[i + 1]] are the rows for which row i waits.",
      [](const RankView& v) { return ColumnOf<uint32_t>(v, v.rank->graph->dep_begin); });
  Def(type, "dep", "Rows of dependencies; see dep_begin.",
      [](const RankView& v) { return ColumnOf<uint32_t>(v, v.rank->graph->dep); });
  Def(type, "dep_delay_ps",
      "For each entry of dep: the delay between its end and the earliest start of the row.",
      [](const RankView& v) {
        const Graph& graph = *v.rank->graph;
        if (!graph.dep_delay.empty()) return ColumnOf<int64_t>(v, graph.dep_delay);
        return Constant<int64_t>(static_cast<int64_t>(graph.dep.size()), 0);
      });
  Def(type, "order", "All rows in recorded order, which is a topological order.",
      [](const RankView& v) { return ColumnOf<uint32_t>(v, v.rank->graph->order); });
}

}  // namespace

RankView RankOf(std::shared_ptr<const TraceSet> set, size_t rank) {
  const RankTrace* trace = &set->ranks[rank];
  return {std::move(set), trace};
}

std::shared_ptr<Table> NodesOf(const TraceSet& set) {
  const DistinctGraphs distinct(set);
  Words names;
  std::vector<std::vector<int32_t>> name_of(distinct.graphs.size());
  for (size_t g = 0; g < distinct.graphs.size(); ++g) {
    const StringTable& strings = distinct.graphs[g]->strings;
    // Only names are added: the string table also holds shapes and types.
    name_of[g].assign(strings.size(), -1);
    for (const uint32_t name : distinct.graphs[g]->name) {
      if (name_of[g][name] < 0) name_of[g][name] = names.Add(strings.Get(name));
    }
  }
  NodeColumns columns(set.nodes());
  for (size_t r = 0; r < set.ranks.size(); ++r) columns.AddRank(set.ranks[r], name_of[distinct.of_rank[r]]);
  return columns.Finish(names.Take());
}

void BindRanks(py::module_& module) {
  py::class_<RankView> type(
      module, "RankTrace",
      "The trace of one rank: a row for each node, with columns over the memory of the traces.");
  type.def("__len__", [](const RankView& v) { return v.rank->graph->size(); });
  Def(type, "rank", "The number of the rank.", [](const RankView& v) { return v.rank->rank; });
  Def(type, "file", "The file from which it was read.", [](const RankView& v) { return Text(v.rank->file); });
  Def(type, "id", "Ids of nodes.",
      [](const RankView& v) { return ColumnOf<uint64_t>(v, v.rank->graph->id); });
  Def(type, "type", "Kinds of nodes, indices into NODE_TYPES.",
      [](const RankView& v) { return ColumnOf<uint8_t>(v, v.rank->graph->type); });
  Def(type, "name_index", "Names of nodes, indices into `strings`.",
      [](const RankView& v) { return ColumnOf<uint32_t>(v, v.rank->graph->name); });
  Def(type, "strings", "Texts of the trace.",
      [](const RankView& v) { return StringsOf(v.rank->graph->strings); });
  Def(type, "flags", "Bits. 1: an operation of the host; 2: the trace states whether it is one.",
      [](const RankView& v) { return ColumnOf<uint8_t>(v, v.rank->graph->flags); });
  Def(type, "start_ps", "Recorded start in picoseconds; 0: none.",
      [](const RankView& v) { return ColumnOr<int64_t>(v, v.rank->graph->start, 0); });
  Def(type, "duration_ps", "Recorded duration in picoseconds; 0: none.",
      [](const RankView& v) { return ColumnOf<int64_t>(v, v.rank->graph->duration); });
  Def(type, "lane", "Thread or stream; NO_LANE: none.",
      [](const RankView& v) { return ColumnOr<int32_t>(v, v.rank->graph->lane, kNoLane); });
  Def(type, "payload", "Index into comm_* for communication, into work_* for other nodes; 4294967295: none.",
      [](const RankView& v) { return ColumnOf<uint32_t>(v, v.rank->graph->payload); });
  BindComm(type);
  BindDependencies(type);
  module.attr("NODE_TYPES") = py::tuple(py::cast(TypeWords()));
  module.attr("COLLECTIVES") = py::tuple(py::cast(CollectiveNames()));
  module.attr("NO_LANE") = kNoLane;
}

}  // namespace chakra::python
