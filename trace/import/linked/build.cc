#include "trace/import/linked/build.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/model/delay_cause.h"
#include "trace/model/device_copy.h"

namespace chakra::pytorch {
namespace {

constexpr int64_t kMostNs = std::numeric_limits<int64_t>::max() / 1000;
constexpr uint32_t kRootRow = 1;  // of the graph; row 0 names the groups

bool Holds(int64_t ns) { return ns >= 0 && ns <= kMostNs; }

// By EdgeKind.
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
  explicit Drafter(const CaptureRank& rank) : rank_(rank), facts_(rank) {}
  ColumnDraft Run();

 private:
  using Row = DraftRow;
  void Node(uint32_t i);
  void Add(Row row, uint32_t i);
  void Operands(const TimelineNode& node, Row* row);
  bool ToldOperands(const TimelineNode& node, Row* row);
  uint32_t Text(uint32_t string);  // of the device trace
  int32_t LaneOf(int64_t number);

  const CaptureRank& rank_;
  const RankFacts facts_;
  ColumnDraft out_;
  absl::flat_hash_map<int64_t, int32_t> big_lanes_;
  std::vector<uint32_t> text_of_;  // by string of the device trace: in the graph's; kNoRow: not yet
};

uint32_t Drafter::Text(uint32_t string) {
  uint32_t& known = text_of_[string];
  if (known == kNoRow) known = out_.strings.Intern(rank_.device->strings.Get(string));
  return known;
}

// A number that needs more than 31 bits gets a negative lane, in order of appearance.
int32_t Drafter::LaneOf(int64_t number) {
  if (number >= 0 && number <= std::numeric_limits<int32_t>::max()) return static_cast<int32_t>(number);
  const auto next = static_cast<int32_t>(-1 - static_cast<int64_t>(big_lanes_.size()));
  return big_lanes_.try_emplace(number, next).first->second;
}

// Adds the row of node `i`, with its dependencies.
void Drafter::Add(Row row, uint32_t i) {
  const Timeline& t = rank_.timeline;
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

// Fills shapes and types with strings of the graph.
void Drafter::Operands(const TimelineNode& node, Row* row) {
  const DeviceTrace& d = *rank_.device;
  if (ToldOperands(node, row)) return;
  if (const Event& own = d.events[node.event]; !node.host && own.extra != kNoRow) {
    if (const uint32_t captured = d.device[own.extra].graph_op; captured != kNoRow) {
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
  } else if (d.events[op].extra != kNoRow) {
    row->shapes = Text(d.ops[d.events[op].extra].shapes);
    row->types = Text(d.ops[d.events[op].extra].types);
  }
  if (const CompiledKernel* compiled = facts_.CompiledOf(op); compiled != nullptr) {
    row->code = Text(compiled->hash);
    if (d.events[node.event].kind == EventKind::kKernel) row->work = RankFacts::WorkOf(*compiled);
  }
}

void Drafter::Node(uint32_t i) {
  const TimelineNode& node = rank_.timeline.nodes[i];
  Row row;
  row.host = node.host;
  row.start_ns = node.start;
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
  if (node.comm == kNoRow && row.moved >= 0) {
    row.work.tensor_bytes = static_cast<uint64_t>(row.moved);
    row.work.has_tensor_bytes = true;
  }
  Add(row, i);
}

ColumnDraft Drafter::Run() {
  text_of_.assign(rank_.device->strings.size(), kNoRow);
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

// Empties vectors, with their memory.
template <typename... T>
void Free(std::vector<T>&... vectors) {
  (std::vector<T>().swap(vectors), ...);
}

// Keeps some rows of a column of `all` rows, and says where they are now.
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
    if (!Holds(t.nodes[i].dur)) return false;
    for (uint64_t e = t.edge_begin[i]; e < t.edge_begin[i + 1]; ++e) {
      const TimelineEdge& edge = t.edges[e];
      if (edge.from >= i || (e > t.edge_begin[i] && t.edges[e - 1].from >= edge.from)) return false;
      if (!Holds(t.DelayOf(edge))) return false;
      if (edge.extra == TimelineEdge::kNoExtra) continue;
      const int64_t unexplained = t.UnexplainedOf(edge), release = facts.ReleaseOf(edge);
      if (unexplained < 0 || unexplained > t.DelayOf(edge) || release < 0 || release > kReleaseAtEnd)
        return false;
    }
  }
  return true;
}

bool FitsColumns(const CaptureRank& rank, uint32_t index, const Joined& joined) {
  const RankFacts facts(rank, index, joined);
  const auto in_time = [&](int64_t start_ns) { return Holds(facts.StartOf(start_ns)); };
  const Timeline& t = rank.timeline;
  const ColumnDraft& drafted = rank.columns;
  if ((drafted.drafted && (!in_time(drafted.first_ns()) || !in_time(drafted.last_ns()))) ||
      !std::all_of(t.nodes.begin(), t.nodes.end(), [&](const TimelineNode& n) { return in_time(n.start); }))
    return false;
  if (facts.RootDelay() < 0 || facts.RootDelay() > kMostNs / 2) return false;
  for (const TimelineEdge& edge : t.edges) {
    if (edge.from == 0 && !Holds(facts.DelayOf(edge))) return false;
  }
  return std::all_of(joined.comms[index].begin(), joined.comms[index].end(), [](const CommPlan& plan) {
    return plan.bytes <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
           plan.transfer_ns <= kMostNs && plan.peer >= kNoRank && plan.root >= kNoRank;
  });
}

ColumnDraft DraftColumns(const CaptureRank& rank) { return Drafter(rank).Run(); }

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

uint32_t ColumnBuilder::GroupIndex(absl::string_view name) {
  if (name.empty()) return 0;
  const auto [it, added] = group_index_.try_emplace(name, static_cast<uint32_t>(group_names_.size()));
  if (added) group_names_.emplace_back(name);
  return it->second;
}

namespace {

// Columns for the rows of a draft, without those that stay empty.
void Reserve(const ColumnDraft& draft, GraphDraft* g) {
  const size_t rows = draft.rows(), deps = draft.deps();
  for (auto* column : {&g->name, &g->payload, &g->shapes}) column->reserve(rows);
  if (draft.has_types()) g->types.reserve(rows);
  if (draft.has_code()) g->code.reserve(rows);
  g->id.resize(rows);
  std::iota(g->id.begin(), g->id.end(), 0);
  g->type.reserve(rows);
  g->flags.reserve(rows);
  g->start.reserve(rows);
  g->duration.reserve(rows);
  g->lane.reserve(rows);
  g->work.reserve(draft.works());
  g->dep_begin.reserve(rows + 1);
  g->dep_begin.push_back(0);
  g->dep.reserve(deps);
  g->dep_delay.reserve(deps);
  g->dep_cause.reserve(deps);
  if (draft.releases()) g->dep_release.reserve(deps);
}

// Adds a dependency of the last row.
void AddDep(const DraftDep& dep, int64_t delay_ns, bool releases, GraphDraft* g) {
  if (dep.unexplained_ns > 0)
    g->dep_unexplained.push_back({static_cast<uint32_t>(g->dep.size()), Time::Nanos(dep.unexplained_ns)});
  g->dep.push_back(dep.row);
  g->dep_delay.push_back(Time::Nanos(delay_ns));
  g->dep_cause.push_back(dep.cause);
  if (releases) g->dep_release.push_back(dep.release);
}

}  // namespace

void ColumnBuilder::AddRow(const DraftRow& row, int64_t start_ns) {
  g_.name.push_back(row.name);
  g_.type.push_back(row.type);
  g_.flags.push_back(kHasCpuAttr | (row.host ? kIsCpuOp : 0) | (row.copy ? kDeviceCopy : 0));
  g_.start.push_back(Time::Nanos(start_ns));
  g_.duration.push_back(Time::Nanos(row.duration_ns));
  g_.lane.push_back(row.lane);
  g_.shapes.push_back(row.shapes);
  uint32_t payload = kNoRow;
  if (row.comm != kNoRow) {
    calls_.push_back({static_cast<uint32_t>(g_.name.size() - 1), row.comm, row.strings, row.work, row.moved});
  } else if (row.work.has_num_ops || row.work.has_tensor_bytes) {
    payload = static_cast<uint32_t>(g_.work.size());
    g_.work.push_back(row.work);
  }
  g_.payload.push_back(payload);
}

// Fills the columns but those of calls. The root is the begin of the run. A node none of whose dependencies
// has a delay tells no cause.
void ColumnBuilder::Rows(const ColumnDraft& draft, const RankFacts& facts) {
  Reserve(draft, &g_);
  ColumnDraft::Reader reader(draft);
  DraftRow row;
  DraftDep dep;
  const int64_t root_delay_ns = facts.RootDelay();
  const bool types = draft.has_types(), code = draft.has_code(), releases = draft.releases();
  bool any_start = false, any_delay = false;
  for (uint32_t i = 0; i < draft.rows(); ++i) {
    reader.Read(&row);
    const int64_t start_ns = i <= kRootRow ? 0 : facts.StartOf(row.start_ns);
    any_start = any_start || start_ns != 0;
    AddRow(row, start_ns);
    if (types) g_.types.push_back(row.types);
    if (code) g_.code.push_back(row.code);
    bool delayed = false;
    for (uint32_t d = 0; d < row.deps; ++d) {
      reader.Read(&dep);
      const int64_t delay_ns = dep.delay_ns + (dep.row == kRootRow ? root_delay_ns : 0);
      delayed = delayed || delay_ns > 0;
      AddDep(dep, delay_ns, releases, &g_);
    }
    any_delay = any_delay || delayed;
    if (!delayed) std::fill(g_.dep_cause.end() - row.deps, g_.dep_cause.end(), DelayCause::kOther);
    g_.dep_begin.push_back(static_cast<uint32_t>(g_.dep.size()));
  }
  if (!any_start) g_.start.clear();
  if (any_delay || !g_.dep_release.empty()) return;
  g_.dep_delay.clear();
  g_.dep_cause.clear();
}

// Gives kept calls the names of their kinds. Strings are numbered in the order of the rows that use them
// first, a row's kind before its name.
void ColumnBuilder::NameKinds(const CaptureRank& rank, std::vector<CallRow>* kept) {
  StringTable strings;
  std::vector<uint32_t> place(g_.strings.size());
  auto next = kept->begin();
  for (uint32_t s = 0; s <= g_.strings.size(); ++s) {
    for (; next != kept->end() && next->strings <= s; ++next)
      next->work.comm_kind = strings.Intern(Name(rank.timeline.comms[next->comm].op));
    if (s < g_.strings.size()) place[s] = strings.Intern(g_.strings.Get(s));
  }
  for (std::vector<uint32_t>* column : {&g_.name, &g_.shapes, &g_.types, &g_.code}) {
    for (uint32_t& string : *column) string = place[string];
  }
  g_.strings = std::move(strings);
}

void ColumnBuilder::Keep(const CommPlan& plan, CallRow* row) {
  if (row->moved >= 0) {
    row->work.tensor_bytes = static_cast<uint64_t>(row->moved);
    row->work.has_tensor_bytes = true;
  }
  g_.flags[row->row] |= kKeptComm;
  GroupIndex(plan.group);
}

void ColumnBuilder::AddCall(const CommPlan& plan, const CallRow& row) {
  g_.type[row.row] = plan.type;
  g_.payload[row.row] = static_cast<uint32_t>(g_.comm.size());
  Comm& comm = g_.comm.emplace_back();
  Peer& peer = peers_.emplace_back();
  if (plan.type == NodeType::kCollective) comm.type = static_cast<uint8_t>(plan.collective);
  comm.has_bytes = plan.has_bytes;
  comm.bytes = plan.has_bytes ? plan.bytes : 0;
  comm.eager = plan.eager;
  if (plan.type != NodeType::kCollective && !comm.has_bytes && row.work.has_tensor_bytes) {
    comm.bytes = row.work.tensor_bytes;
    comm.has_bytes = true;
  }
  g_.transfer.push_back(plan.transfer_ns < 0 ? Time::Never() : Time::Nanos(plan.transfer_ns));
  peer.group = GroupIndex(plan.group);
  peer.root = plan.root;
  if (plan.type == NodeType::kSend) peer.dst = plan.peer;
  if (plan.type == NodeType::kRecv) peer.src = plan.peer;
  if (plan.type != NodeType::kCollective) peer.tag = plan.tag;
}

void ColumnBuilder::Calls(const CaptureRank& rank, const std::vector<CommPlan>& plans) {
  std::vector<CallRow> kept;
  for (CallRow& call : std::exchange(calls_, {})) {
    const CommPlan& plan = plans[call.comm];
    if (plan.type != NodeType::kComp) {
      AddCall(plan, call);
      continue;
    }
    Keep(plan, &call);
    kept.push_back(call);
  }
  if (kept.empty()) return;
  NameKinds(rank, &kept);
  std::vector<Work> work;
  work.reserve(g_.work.size() + kept.size());
  auto next = kept.begin();
  for (uint32_t row = 0; row < g_.size(); ++row) {
    const bool is_kept = next != kept.end() && next->row == row;
    if (!is_kept && (g_.payload[row] == kNoRow || g_.type[row] != NodeType::kComp)) continue;
    const auto place = static_cast<uint32_t>(work.size());
    work.push_back(is_kept ? (next++)->work : g_.work[g_.payload[row]]);
    g_.payload[row] = place;
  }
  g_.work = std::move(work);
}

absl::Status ColumnBuilder::Finish(const CaptureRank& rank, uint32_t index, const Joined& joined,
                                   absl::string_view file, ColumnDraft draft, RankTrace* out) {
  const RankFacts facts(rank, index, joined);
  g_ = {};
  peers_.clear();
  group_names_.assign(1, "");
  group_index_.clear();
  Rows(draft, facts);
  g_.strings = std::move(draft.strings);
  const std::vector<TimelineStep> steps = std::move(draft.steps);
  draft = {};
  Calls(rank, joined.comms[index]);
  DropEmptyColumns(&g_);
  out->rank = static_cast<int>(index);
  out->file = std::string(file);
  out->metadata = facts.Metadata(steps).SerializeAsString();
  ASSIGN_OR_RETURN(out->graph, pool_->InternRecording(&g_, absl::StrCat(file, ": rank ", index)));
  out->peers = pool_->columns().Share(peers_);
  out->group_names = group_names_;
  g_ = {};
  return absl::OkStatus();
}

}  // namespace chakra::pytorch
