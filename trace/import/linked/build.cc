#include "trace/import/linked/build.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "trace/base/wire.h"
#include "trace/import/linked/draft.h"
#include "trace/import/linked/rank_facts.h"
#include "trace/model/device_copy.h"
#include "trace/model/graph_builder.h"
#include "trace/model/groups.h"

namespace chakra::pytorch {
namespace {

// Reserves columns for the rows of a draft, except those that stay empty.
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

// Makes the columns of a rank from its draft and from what joining adds.
class ColumnBuilder {
 public:
  ColumnBuilder(const CaptureRank& rank, uint32_t index, const Joined& joined)
      : rank_(rank), joined_(joined), plans_(joined.comms[index]), facts_(rank, index, joined) {}
  RankDraft Run(ColumnDraft draft);

 private:
  // A row that carries a call.
  struct CallRow {
    uint32_t row = 0, comm = 0, strings = 0;  // comm, strings and the members below: see DraftRow
    Work work;
    int64_t moved = -1;
  };
  void AddRow(const DraftRow& row, int64_t start_ns);
  void Rows(const ColumnDraft& draft);
  void Calls();
  void NameKinds(std::vector<CallRow>* kept);
  void KeepCall(CallRow* row);
  void AddCall(const CallRow& row);
  uint32_t GroupIndex(absl::string_view name);
  // The functions below write the side table, and are called only if frames are wanted.
  void FrameGroups();
  void FrameCall(const CallRow& row);
  void FrameKept(const CallRow& row);
  void Beside(FieldPlace field, absl::string_view text);
  void Beside(FieldPlace field, const std::vector<int64_t>& values);

  const CaptureRank& rank_;
  const Joined& joined_;
  const std::vector<CommPlan>& plans_;
  const RankFacts facts_;
  RankDraft out_;
  GraphDraft& g_ = out_.graph;
  SideTable::Frames& more_ = out_.side.more;
  std::vector<CallRow> calls_;  // by row
  absl::flat_hash_map<std::string, uint32_t> group_index_;
};

uint32_t ColumnBuilder::GroupIndex(absl::string_view name) {
  if (name.empty()) return 0;
  const auto [it, added] = group_index_.try_emplace(name, static_cast<uint32_t>(out_.group_names.size()));
  if (added) out_.group_names.emplace_back(name);
  return it->second;
}

void ColumnBuilder::Beside(FieldPlace field, absl::string_view text) {
  if (!text.empty()) more_.Text(field, out_.side.strings.Intern(text));
}

void ColumnBuilder::Beside(FieldPlace field, const std::vector<int64_t>& values) {
  std::string packed;
  for (const int64_t v : values) wire::AppendVarint(static_cast<uint64_t>(v), &packed);
  Beside(field, packed);
}

// Writes the process groups, in the form of PyTorch, to the frame of row 0.
void ColumnBuilder::FrameGroups() {
  more_.Text("values", out_.side.strings.Intern(GroupNodeText(joined_.groups)));
  more_.Has("is_cpu_op");
  more_.End();
}

void ColumnBuilder::FrameCall(const CallRow& row) {
  const CommPlan& plan = plans_[row.comm];
  const CommCall& call = rank_.timeline.comms[row.comm];
  more_.Has({"comm_type", "pg_name", "root", "comm_dst", "comm_src", "comm_tag", "eager", "transfer_ns"});
  if (plan.has_bytes) more_.Has("comm_size");
  Beside("comm_library", call.library);
  Beside("comm_dtype", call.dtype);
  if (call.out_bytes >= 0) more_.Number("comm_out_size", call.out_bytes);
  Beside("in_split", call.in_split);
  Beside("out_split", call.out_split);
  more_.End();
}

// Writes the frame of a kernel that communicates but carries no call. Readers that do not know comm_kind take
// it for computation.
void ColumnBuilder::FrameKept(const CallRow& row) {
  const CommCall& call = rank_.timeline.comms[row.comm];
  more_.Has("comm_kind");
  Beside("comm_library kept", call.library);
  Beside("pg_name kept", plans_[row.comm].group);
  if (call.in_bytes >= 0) more_.Number("comm_size kept", call.in_bytes);
  if (row.moved >= 0) more_.Has("tensor_size moved");
  more_.End();
}

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

// Fills the columns except those of calls. The root is the begin of the run. The dependencies of a node whose
// delays are all 0 get the cause kOther.
void ColumnBuilder::Rows(const ColumnDraft& draft) {
  Reserve(draft, &g_);
  ColumnDraft::Reader reader(draft);
  DraftRow row;
  DraftDep dep;
  const int64_t root_delay_ns = facts_.RootDelay();
  const bool types = draft.has_types(), code = draft.has_code(), releases = draft.releases();
  bool any_start = false, any_delay = false;
  for (uint32_t i = 0; i < draft.rows(); ++i) {
    reader.Read(&row);
    const int64_t start_ns = i <= kRootRow ? 0 : facts_.StartOf(row.start_ns);
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

// Gives kept calls the names of their kinds. Strings are numbered in the order of the rows that first use
// them, the kind of a row before its name.
void ColumnBuilder::NameKinds(std::vector<CallRow>* kept) {
  StringTable strings;
  std::vector<uint32_t> place(g_.strings.size());
  auto next = kept->begin();
  for (uint32_t s = 0; s <= g_.strings.size(); ++s) {
    for (; next != kept->end() && next->strings <= s; ++next)
      next->work.comm_kind = strings.Intern(Name(rank_.timeline.comms[next->comm].op));
    if (s < g_.strings.size()) place[s] = strings.Intern(g_.strings.Get(s));
  }
  for (std::vector<uint32_t>* column : {&g_.name, &g_.shapes, &g_.types, &g_.code}) {
    for (uint32_t& string : *column) string = place[string];
  }
  g_.strings = std::move(strings);
}

void ColumnBuilder::KeepCall(CallRow* row) {
  if (row->moved >= 0) {
    row->work.tensor_bytes = static_cast<uint64_t>(row->moved);
    row->work.has_tensor_bytes = true;
  }
  g_.flags[row->row] |= kKeptComm;
  GroupIndex(plans_[row->comm].group);
  if (out_.side.wanted) FrameKept(*row);
}

void ColumnBuilder::AddCall(const CallRow& row) {
  const CommPlan& plan = plans_[row.comm];
  g_.type[row.row] = plan.type;
  g_.payload[row.row] = static_cast<uint32_t>(g_.comm.size());
  Comm& comm = g_.comm.emplace_back();
  Peer& peer = out_.peers.emplace_back();
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
  if (out_.side.wanted) FrameCall(row);
}

void ColumnBuilder::Calls() {
  std::vector<CallRow> kept;
  for (CallRow& call : std::exchange(calls_, {})) {
    if (plans_[call.comm].type != NodeType::kComp) {
      AddCall(call);
      continue;
    }
    KeepCall(&call);
    kept.push_back(call);
  }
  if (kept.empty()) return;
  NameKinds(&kept);
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

RankDraft ColumnBuilder::Run(ColumnDraft draft) {
  out_.group_names.emplace_back();
  Rows(draft);
  g_.strings = std::move(draft.strings);
  out_.side = std::move(draft.side);
  out_.metadata = facts_.Metadata(draft.steps).SerializeAsString();
  draft = {};
  if (out_.side.wanted) FrameGroups();
  Calls();
  DropEmptyColumns(&g_);
  return std::move(out_);
}

}  // namespace

bool FitsColumns(const CaptureRank& rank, uint32_t index, const Joined& joined) {
  const RankFacts facts(rank, index, joined);
  const auto in_time = [&](int64_t start_ns) { return HoldsNs(facts.StartOf(start_ns)); };
  const Timeline& t = rank.timeline;
  const ColumnDraft& drafted = rank.columns;
  if ((drafted.drafted && (!in_time(drafted.first_ns()) || !in_time(drafted.last_ns()))) ||
      !std::all_of(t.nodes.begin(), t.nodes.end(), [&](const TimelineNode& n) { return in_time(n.start); }))
    return false;
  if (!HoldsNs(facts.RootDelay()) || !HoldsNs(2 * facts.RootDelay())) return false;
  for (const TimelineEdge& edge : t.edges) {
    if (edge.from == 0 && !HoldsNs(facts.DelayOf(edge))) return false;
  }
  return std::all_of(joined.comms[index].begin(), joined.comms[index].end(), [](const CommPlan& plan) {
    return plan.bytes <= static_cast<uint64_t>(INT64_MAX) &&
           (plan.transfer_ns < 0 || HoldsNs(plan.transfer_ns)) && plan.peer >= kNoRank &&
           plan.root >= kNoRank;
  });
}

RankDraft JoinColumns(const CaptureRank& rank, uint32_t index, const Joined& joined, ColumnDraft draft) {
  return ColumnBuilder(rank, index, joined).Run(std::move(draft));
}

}  // namespace chakra::pytorch
