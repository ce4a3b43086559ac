#include "trace/import/linked/draft.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/import/linked/rank_facts.h"
#include "trace/model/delay_cause.h"
#include "trace/model/device_copy.h"

namespace chakra::pytorch {
namespace {

// The cause of each EdgeKind.
const DelayCause* Causes() {
  static const auto kCauses = [] {
    std::vector<DelayCause> causes;
    for (int k = 0; k < kEdgeKinds; ++k) causes.push_back(CauseOfKind(Name(static_cast<EdgeKind>(k))));
    return causes;
  }();
  return kCauses.data();
}

class Drafter {
 public:
  Drafter(const CaptureRank& rank, bool frames) : rank_(rank), facts_(rank) { out_.side.wanted = frames; }
  ColumnDraft Run();

 private:
  using Row = DraftRow;
  void Node(uint32_t i);
  void Add(Row row, uint32_t i);
  void Operands(const TimelineNode& node, Row* row);
  bool ToldOperands(const TimelineNode& node, Row* row);
  uint32_t Text(uint32_t string);  // text of the device trace
  int32_t LaneOf(int64_t number);
  // The functions below write the side table, and are called only if frames are wanted.
  void BeginFrames();
  void Frame(uint32_t i);
  uint32_t DepKinds(uint32_t i);
  void Beside(FieldPlace field, uint32_t string);  // text of the device trace
  void BesideCompiled(const CompiledKernel& compiled);
  void FrameWork(const Row& row);

  const CaptureRank& rank_;
  const RankFacts facts_;
  ColumnDraft out_;
  SideTable::Frames& frames_ = out_.side.rows;
  std::vector<uint32_t> first_;  // by event: its first node, or kNoRow
  // By string of the device trace: the same string in the side table; kNoRow: not added yet.
  std::vector<uint32_t> beside_of_;
  // Strings of the side table; the last one is for own work.
  uint32_t category_[kEventKinds + 1] = {};
  // Strings of the side table for one or two dependencies; 0: not added yet.
  uint32_t kinds_[kEdgeKinds + 1][kEdgeKinds] = {};
  absl::flat_hash_map<int64_t, int32_t> big_lanes_;
  // By string of the device trace: the same string in the graph; kNoRow: not added yet.
  std::vector<uint32_t> text_of_;
};

uint32_t Drafter::Text(uint32_t string) {
  uint32_t& known = text_of_[string];
  if (known == kNoRow) known = out_.strings.Intern(rank_.device->strings.Get(string));
  return known;
}

// The lane of a thread or stream number. A number that needs more than 31 bits gets a negative lane, in the
// order of appearance.
int32_t Drafter::LaneOf(int64_t number) {
  if (number >= 0 && number <= INT32_MAX) return static_cast<int32_t>(number);
  const auto next = static_cast<int32_t>(-1 - static_cast<int64_t>(big_lanes_.size()));
  const auto [lane, added] = big_lanes_.try_emplace(number, next);
  if (added) out_.side.big_lanes.push_back(number);
  return lane->second;
}

void Drafter::Beside(FieldPlace field, uint32_t string) {
  uint32_t& known = beside_of_[string];
  if (known == kNoRow) known = out_.side.strings.Intern(rank_.device->strings.Get(string));
  frames_.Text(field, known);
}

// The text of dep_kinds, as a string of the side table. Precondition: node `i` has dependencies.
uint32_t Drafter::DepKinds(uint32_t i) {
  const Timeline& t = rank_.timeline;
  const uint64_t begin = t.edge_begin[i], end = t.edge_begin[i + 1];
  const auto kind = [&](uint64_t e) { return static_cast<size_t>(t.edges[e].kind); };
  uint32_t unknown = 0;
  uint32_t& known =
      end - begin > 2 ? unknown : kinds_[end - begin > 1 ? kind(begin) : kEdgeKinds][kind(end - 1)];
  if (known != 0) return known;
  std::string text;
  for (uint64_t e = begin; e < end; ++e) absl::StrAppend(&text, e > begin ? "," : "", Name(t.edges[e].kind));
  return known = out_.side.strings.Intern(text);
}

// Writes the frame of node `i`, except its operands, its work and what joining adds.
void Drafter::Frame(uint32_t i) {
  const Timeline& t = rank_.timeline;
  const TimelineNode& node = t.nodes[i];
  const bool event = node.event != kNoRow;
  frames_.Has({"id", "name", "type", "is_cpu_op"});
  if (!event && !node.IsOwnWork()) return;
  frames_.Has({"micros", "start_ns", "duration_ns", "data_deps", "dep_delay_ns", "dep_unexplained_ns",
               "dep_release"});
  node.host ? frames_.Has("tid") : frames_.Has("stream");
  const DeviceTrace& d = *rank_.device;
  if (event && !node.host) frames_.Number("device", d.streams[d.events[node.event].lane].device);
  if (t.edge_begin[i] < t.edge_begin[i + 1]) frames_.Text("dep_kinds", DepKinds(i));
  frames_.Text("category", category_[event ? static_cast<size_t>(d.events[node.event].kind) : kEventKinds]);
  if (!event) return;
  if (node.part > 0) frames_.Number("part", node.part);
  const uint32_t caller = t.caller[node.event];
  if (caller != kNoRow && first_[caller] != kNoRow) frames_.Number("parent", int64_t{first_[caller]} + 1);
  const int64_t correlation = d.events[node.event].correlation;
  if (correlation >= 0 && !node.host) frames_.Number("correlation", correlation);
}

// Writes what a compiler records of a kernel to the frames of the kernel and of the operator that launches
// it.
void Drafter::BesideCompiled(const CompiledKernel& compiled) {
  if (compiled.backend != 0) Beside("kernel_backend", compiled.backend);
  if (compiled.file != 0) Beside("kernel_file", compiled.file);
  if (compiled.hash != 0) frames_.Has("kernel_hash");
  if (compiled.options != 0) Beside("kernel_kwargs", compiled.options);
  if (compiled.grid != 0) Beside("grid", compiled.grid);
  if (compiled.warps >= 0) frames_.Number("num_warps", compiled.warps);
  if (compiled.stages >= 0) frames_.Number("num_stages", compiled.stages);
}

// Writes the known work of a node to its frame. In the row, the bytes that a copy moves replace the tensor
// size.
void Drafter::FrameWork(const Row& row) {
  const bool beside = row.comm != kNoRow;
  if (row.work.has_num_ops)
    beside ? frames_.Number("num_ops beside", row.work.num_ops) : frames_.Has("num_ops");
  if (row.work.has_tensor_bytes)
    beside || row.moved >= 0
        ? frames_.Number("tensor_size beside", static_cast<int64_t>(row.work.tensor_bytes))
        : frames_.Has("tensor_size");
}

// Adds the row of node `i`, with its dependencies.
void Drafter::Add(Row row, uint32_t i) {
  const Timeline& t = rank_.timeline;
  if (out_.side.wanted) frames_.End();
  row.deps = static_cast<uint32_t>(t.edge_begin[i + 1] - t.edge_begin[i]);
  out_.Add(row);
  for (uint64_t e = t.edge_begin[i]; e < t.edge_begin[i + 1]; ++e) {
    const TimelineEdge& edge = t.edges[e];
    out_.Add(DraftDep{edge.from + kRootRow, Causes()[static_cast<size_t>(edge.kind)], t.DelayOf(edge),
                      t.UnexplainedOf(edge), facts_.ReleaseOf(edge)});
  }
}

bool Drafter::ToldOperands(const TimelineNode& node, Row* row) {
  const DeviceTrace& d = *rank_.device;
  const Event& event = d.events[node.event];
  if (node.host || event.extra == kNoRow || d.device[event.extra].op == 0) return false;
  const DeviceExtra& told = d.device[event.extra];
  if (out_.side.wanted) Beside("op", told.op);
  row->shapes = Text(told.shapes);
  row->types = Text(told.types);
  if (told.operations >= 0) {
    row->work.num_ops = told.operations;
    row->work.has_num_ops = true;
  }
  if (told.traffic >= 0 && told.bytes < 0) {
    row->work.tensor_bytes = static_cast<uint64_t>(told.traffic);
    row->work.has_tensor_bytes = true;
  }
  return true;
}

// Sets the shapes and types of a row, as strings of the graph.
void Drafter::Operands(const TimelineNode& node, Row* row) {
  const DeviceTrace& d = *rank_.device;
  const bool frames = out_.side.wanted;
  if (ToldOperands(node, row)) return;
  if (const Event& own = d.events[node.event]; !node.host && own.extra != kNoRow) {
    if (const uint32_t captured = d.device[own.extra].graph_op; captured != kNoRow) {
      if (frames) Beside("op", d.graph_ops[captured].name);
      row->shapes = Text(d.graph_ops[captured].shapes);
      row->types = Text(d.graph_ops[captured].types);
      return;
    }
  }
  const uint32_t op = facts_.OperatorOf(node);
  if (op == kNoRow) return;
  if (rank_.host != nullptr) {
    const RankFacts::OperandTexts texts = facts_.OperandsOf(op);
    row->shapes = out_.strings.Intern(texts.shapes);
    row->types = out_.strings.Intern(texts.types);
    if (frames && texts.host != nullptr && node.host && texts.host->rf_id != 0)
      frames_.Number("rf_id", static_cast<int64_t>(texts.host->rf_id));
  } else if (d.events[op].extra != kNoRow) {
    row->shapes = Text(d.ops[d.events[op].extra].shapes);
    row->types = Text(d.ops[d.events[op].extra].types);
  }
  if (frames && !node.host) Beside("op", d.events[op].name);
  if (const CompiledKernel* compiled = facts_.CompiledOf(op); compiled != nullptr) {
    if (frames) BesideCompiled(*compiled);
    row->code = Text(compiled->hash);
    if (d.events[node.event].kind == EventKind::kKernel) row->work = RankFacts::WorkOf(*compiled);
  }
}

void Drafter::Node(uint32_t i) {
  const TimelineNode& node = rank_.timeline.nodes[i];
  const bool frames = out_.side.wanted;
  Row row;
  row.host = node.host;
  row.start_ns = node.start;
  if (frames) Frame(i);
  const bool own_work = node.IsOwnWork();
  if (!own_work && node.event == kNoRow) {
    row.type = NodeType::kMetadata;
    row.name = out_.strings.Intern(kWindowNodeName);
    return Add(row, i);
  }
  row.duration_ns = node.dur;
  row.lane = LaneOf(facts_.LaneOf(node, i));
  if (own_work) {
    row.name = out_.strings.Intern(kOwnWorkName);
    return Add(row, i);
  }
  const DeviceTrace& d = *rank_.device;
  const Event& event = d.events[node.event];
  row.strings = out_.strings.size();
  row.name = Text(event.name);
  if (node.part == 0) Operands(node, &row);
  row.comm = node.comm;
  row.copy = event.kind == EventKind::kMemcpy || event.kind == EventKind::kMemset;
  if (!node.host && event.extra != kNoRow) row.moved = d.device[event.extra].bytes;
  if (frames) {
    if (node.part == 0) frames_.Has("operands");
    FrameWork(row);
    if (node.comm != kNoRow) frames_.Has("more");
    if (node.comm == kNoRow && row.moved >= 0) frames_.Has("tensor_size moved");
  }
  if (node.comm == kNoRow && row.moved >= 0) {
    row.work.tensor_bytes = static_cast<uint64_t>(row.moved);
    row.work.has_tensor_bytes = true;
  }
  Add(row, i);
}

void Drafter::BeginFrames() {
  static constexpr absl::string_view kCategories[kEventKinds + 1] = {
      "cpu_op", "user_annotation", "python_function", "runtime", "driver",
      "kernel", "gpu_memcpy",      "gpu_memset",      "sync",    "between_calls"};
  for (size_t i = 0; i < std::size(kCategories); ++i) category_[i] = out_.side.strings.Intern(kCategories[i]);
  beside_of_.assign(rank_.device->strings.size(), kNoRow);
  const Timeline& t = rank_.timeline;
  first_.assign(t.caller.size(), kNoRow);
  for (uint32_t i = static_cast<uint32_t>(t.nodes.size()); i-- > 0;) {
    if (t.nodes[i].event != kNoRow) first_[t.nodes[i].event] = i;
  }
  frames_.Has({"name", "type", "more"});  // row 0
  frames_.End();
}

ColumnDraft Drafter::Run() {
  text_of_.assign(rank_.device->strings.size(), kNoRow);
  if (out_.side.wanted) BeginFrames();
  Row groups;
  groups.name = out_.strings.Intern(kGroupsNodeName);
  groups.type = NodeType::kMetadata;
  groups.host = true;
  groups.start_ns = rank_.timeline.window_begin;
  out_.Add(groups);
  for (uint32_t i = 0; i < rank_.timeline.nodes.size(); ++i) Node(i);
  out_.strings.Shrink();
  out_.drafted = true;
  return std::move(out_);
}

// Empties vectors and frees their memory.
template <typename... T>
void Free(std::vector<T>&... vectors) {
  (std::vector<T>().swap(vectors), ...);
}

// Keeps the rows of a column that Of() was asked for, in the order of first use. Of() gives the new position
// of a row. `all`: number of rows of the column.
class Kept {
 public:
  explicit Kept(size_t all) : place_(all, kNoRow) {}
  uint32_t Of(uint32_t row) {
    if (row == kNoRow) return kNoRow;
    if (place_[row] == kNoRow) {
      place_[row] = static_cast<uint32_t>(rows_.size());
      rows_.push_back(row);
    }
    return place_[row];
  }
  template <typename T>
  std::vector<T> Rows(const std::vector<T>& all) const {
    std::vector<T> out;
    out.reserve(rows_.size());
    for (const uint32_t row : rows_) out.push_back(all[row]);
    return out;
  }

 private:
  std::vector<uint32_t> place_, rows_;
};

}  // namespace

bool FitsColumns(const CaptureRank& rank) {
  const Timeline& t = rank.timeline;
  if (rank.device == nullptr || t.nodes.size() >= kNoRow / 2 || t.edges.size() >= kNoRow) return false;
  const RankFacts facts(rank);
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    if (!HoldsNs(t.nodes[i].dur)) return false;
    for (uint64_t e = t.edge_begin[i]; e < t.edge_begin[i + 1]; ++e) {
      const TimelineEdge& edge = t.edges[e];
      if (edge.from >= i || (e > t.edge_begin[i] && t.edges[e - 1].from >= edge.from)) return false;
      if (!HoldsNs(t.DelayOf(edge))) return false;
      if (edge.extra == TimelineEdge::kNoExtra) continue;
      const int64_t unexplained = t.UnexplainedOf(edge), release = facts.ReleaseOf(edge);
      if (unexplained < 0 || unexplained > t.DelayOf(edge) || release < 0 || release > kReleaseAtEnd)
        return false;
    }
  }
  return true;
}

ColumnDraft DraftColumns(const CaptureRank& rank, bool frames) { return Drafter(rank, frames).Run(); }

void LeaveCalls(CaptureRank* rank, ColumnDraft draft) {
  Timeline& t = rank->timeline;
  DeviceTrace& d = *rank->device;
  Kept nodes(t.nodes.size());
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    if (t.nodes[i].comm != kNoRow) nodes.Of(i);
  }
  draft.steps = t.steps;
  for (TimelineStep& step : t.steps) {
    step.first = nodes.Of(step.first);
    step.last = nodes.Of(step.last);
  }
  t.nodes = nodes.Rows(t.nodes);
  rank->calls.reserve(t.nodes.size());
  for (TimelineNode& node : t.nodes) {
    rank->calls.push_back(node.event == kNoRow ? CallPlace() : rank->PlaceOf(node));
    if (node.event != kNoRow) node.event = static_cast<uint32_t>(rank->calls.size() - 1);
  }
  Free(t.caller, t.edge_begin, t.edges, t.extras, d.events, d.ops, d.device, d.syncs, d.runtime, d.comms,
       d.fwdbwd, d.graph_ops, d.graph_nodes, d.waits, d.compiled);
  rank->columns = std::move(draft);
}

}  // namespace chakra::pytorch
