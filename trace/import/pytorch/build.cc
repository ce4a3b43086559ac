#include "trace/import/pytorch/build.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/model/delay_cause.h"

namespace chakra::pytorch {
namespace {

constexpr int64_t kMostNs = std::numeric_limits<int64_t>::max() / 1000;

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

}  // namespace

bool ColumnBuilder::Fits(const CaptureRank& rank, uint32_t index, const Joined& joined) {
  const Timeline& t = rank.timeline;
  const RankFacts facts(rank, index, joined);
  if (rank.device == nullptr || t.nodes.size() >= kNoRow / 2 || t.edges.size() >= kNoRow) return false;
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    if (!Holds(facts.StartOf(t.nodes[i])) || !Holds(t.nodes[i].dur)) return false;
    for (uint64_t e = t.edge_begin[i]; e < t.edge_begin[i + 1]; ++e) {
      const TimelineEdge& edge = t.edges[e];
      if (edge.from >= i || (e > t.edge_begin[i] && t.edges[e - 1].from >= edge.from)) return false;
      const int64_t delay = facts.DelayOf(edge), release = RankFacts::ReleaseOf(edge);
      if (!Holds(delay) || edge.unexplained_ns < 0 || edge.unexplained_ns > delay) return false;
      if (release < 0 || release > kReleaseAtEnd) return false;
    }
  }
  return std::all_of(joined.comms[index].begin(), joined.comms[index].end(), [](const CommPlan& plan) {
    return plan.bytes <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
           plan.transfer_ns <= kMostNs && plan.peer >= kNoRank && plan.root >= kNoRank;
  });
}

void ColumnBuilder::Reset(const CaptureRank& rank) {
  const size_t rows = rank.timeline.nodes.size() + 1;
  ClearDraft(&g_);
  for (auto* column : {&g_.name, &g_.payload, &g_.shapes, &g_.types, &g_.dep_begin, &g_.dep})
    column->reserve(rows);
  g_.dep_begin.push_back(0);
  peers_.clear();
  group_names_.assign(1, "");
  group_index_.clear();
  big_lanes_.clear();
  text_of_.assign(rank.device->strings.size(), kNoRow);
}

uint32_t ColumnBuilder::Text(uint32_t string) {
  uint32_t& known = text_of_[string];
  if (known == kNoRow) known = g_.strings.Intern(rank_->device->strings.Get(string));
  return known;
}

uint32_t ColumnBuilder::GroupIndex(const std::string& name) {
  if (name.empty()) return 0;
  const auto [it, added] = group_index_.try_emplace(name, static_cast<uint32_t>(group_names_.size()));
  if (added) group_names_.push_back(name);
  return it->second;
}

// A number that needs more than 31 bits gets a negative lane, in order of appearance.
int32_t ColumnBuilder::LaneOf(int64_t number) {
  if (number >= 0 && number <= std::numeric_limits<int32_t>::max()) return static_cast<int32_t>(number);
  const auto next = static_cast<int32_t>(-1 - static_cast<int64_t>(big_lanes_.size()));
  return big_lanes_.try_emplace(number, next).first->second;
}

void ColumnBuilder::Deps(uint32_t i) {
  const Timeline& t = rank_->timeline;
  const uint64_t begin = t.edge_begin[i], end = t.edge_begin[i + 1];
  bool delayed = false;
  for (uint64_t e = begin; delays_ && !delayed && e < end; ++e) delayed = facts_->DelayOf(t.edges[e]) > 0;
  for (uint64_t e = begin; e < end; ++e) {
    const TimelineEdge& edge = t.edges[e];
    if (edge.unexplained_ns > 0)
      g_.dep_unexplained.push_back({static_cast<uint32_t>(g_.dep.size()), Time::Nanos(edge.unexplained_ns)});
    g_.dep.push_back(edge.from + 1);
    if (delays_ || releases_) {
      g_.dep_delay.push_back(Time::Nanos(facts_->DelayOf(edge)));
      g_.dep_cause.push_back(delayed ? Causes()[static_cast<size_t>(edge.kind)] : DelayCause::kOther);
    }
    if (releases_) g_.dep_release.push_back(RankFacts::ReleaseOf(edge));
  }
}

bool ColumnBuilder::ToldOperands(const TimelineNode& node, Row* row) {
  const DeviceTrace& d = *rank_->device;
  const Event& event = d.events[node.event];
  if (node.host || event.extra == kNoRow || d.device[event.extra].op == 0) return false;
  const DeviceExtra& told = d.device[event.extra];
  row->shapes = told.shapes;
  row->types = told.types;
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
void ColumnBuilder::Operands(const TimelineNode& node, Row* row) {
  const DeviceTrace& d = *rank_->device;
  if (ToldOperands(node, row)) {
    row->shapes = Text(row->shapes);
    row->types = Text(row->types);
    return;
  }
  if (const Event& own = d.events[node.event]; !node.host && own.extra != kNoRow) {
    if (const uint32_t captured = d.device[own.extra].graph_op; captured != kNoRow) {
      row->shapes = Text(d.graph_ops[captured].shapes);
      row->types = Text(d.graph_ops[captured].types);
      return;
    }
  }
  const uint32_t op = facts_->OperatorOf(node);
  if (op == kNoRow) return;
  if (rank_->host == nullptr) {
    if (d.events[op].extra == kNoRow) return;
    row->shapes = Text(d.ops[d.events[op].extra].shapes);
    row->types = Text(d.ops[d.events[op].extra].types);
    return;
  }
  const RankFacts::OperandTexts texts = facts_->OperandsOf(op);
  row->shapes = g_.strings.Intern(texts.shapes);
  row->types = g_.strings.Intern(texts.types);
}

void ColumnBuilder::KeptComm(const CommPlan& plan, const CommCall& call, Row* row) {
  row->work.comm_kind = g_.strings.Intern(Name(call.op));
  row->flags |= kKeptComm;
  GroupIndex(plan.group);
}

void ColumnBuilder::AddCall(const CommPlan& plan) {
  Comm& comm = g_.comm.emplace_back();
  Peer& peer = peers_.emplace_back();
  if (plan.type == NodeType::kCollective) comm.type = static_cast<uint8_t>(plan.collective);
  comm.has_bytes = plan.has_bytes;
  comm.bytes = plan.has_bytes ? plan.bytes : 0;
  comm.eager = plan.eager;
  g_.transfer.push_back(plan.transfer_ns < 0 ? Time::Never() : Time::Nanos(plan.transfer_ns));
  peer.group = GroupIndex(plan.group);
  peer.root = plan.root;
  if (plan.type == NodeType::kSend) peer.dst = plan.peer;
  if (plan.type == NodeType::kRecv) peer.src = plan.peer;
  if (plan.type != NodeType::kCollective) peer.tag = plan.tag;
}

void ColumnBuilder::Add(const Row& row, const CommPlan* plan) {
  g_.id.push_back(g_.id.size());
  g_.name.push_back(row.name);
  g_.type.push_back(row.type);
  g_.flags.push_back(row.flags);
  g_.start.push_back(Time::Nanos(row.start));
  g_.duration.push_back(Time::Nanos(row.duration));
  g_.lane.push_back(row.lane);
  g_.shapes.push_back(row.shapes);
  g_.types.push_back(row.types);
  uint32_t payload = kNoRow;
  if (plan != nullptr) {
    payload = static_cast<uint32_t>(g_.comm.size());
    AddCall(*plan);
    Comm& comm = g_.comm.back();
    if (plan->type != NodeType::kCollective && !comm.has_bytes && row.work.has_tensor_bytes) {
      comm.bytes = row.work.tensor_bytes;
      comm.has_bytes = true;
    }
  } else if ((row.flags & kKeptComm) != 0 || row.work.has_num_ops || row.work.has_tensor_bytes) {
    payload = static_cast<uint32_t>(g_.work.size());
    g_.work.push_back(row.work);
  }
  g_.payload.push_back(payload);
  g_.dep_begin.push_back(static_cast<uint32_t>(g_.dep.size()));
}

void ColumnBuilder::Node(uint32_t i) {
  const TimelineNode& node = rank_->timeline.nodes[i];
  Row row;
  row.flags = kHasCpuAttr | (node.host ? kIsCpuOp : 0);
  const bool own_work = node.IsOwnWork();
  if (!own_work && node.event == kNoRow) {
    row.type = NodeType::kMetadata;
    row.name = g_.strings.Intern(kWindowNodeName);
    return Add(row, nullptr);
  }
  row.start = facts_->StartOf(node);
  row.duration = node.dur;
  row.lane = LaneOf(facts_->LaneOf(node, i));
  Deps(i);
  if (own_work) {
    row.name = g_.strings.Intern(kOwnWorkName);
    return Add(row, nullptr);
  }
  const DeviceTrace& d = *rank_->device;
  const Event& event = d.events[node.event];
  const CommPlan* plan = facts_->PlanOf(node);
  if (plan == nullptr && node.comm != kNoRow)
    KeptComm((*plans_)[node.comm], rank_->timeline.comms[node.comm], &row);
  row.name = Text(event.name);
  if (node.part == 0) Operands(node, &row);
  if (plan != nullptr) {
    row.type = plan->type;
  } else if (!node.host && event.extra != kNoRow && d.device[event.extra].bytes >= 0) {
    row.work.tensor_bytes = static_cast<uint64_t>(d.device[event.extra].bytes);
    row.work.has_tensor_bytes = true;
  }
  Add(row, plan);
}

absl::Status ColumnBuilder::Build(const CaptureRank& rank, uint32_t index, const Joined& joined,
                                  absl::string_view file, RankTrace* out) {
  const RankFacts facts(rank, index, joined);
  rank_ = &rank;
  facts_ = &facts;
  plans_ = &joined.comms[index];
  Reset(rank);
  delays_ = releases_ = false;
  for (const TimelineEdge& edge : rank.timeline.edges) {
    delays_ = delays_ || facts.DelayOf(edge) > 0;
    releases_ = releases_ || RankFacts::ReleaseOf(edge) != kReleaseAtEnd;
  }
  Row groups;
  groups.name = g_.strings.Intern(kGroupsNodeName);
  groups.type = NodeType::kMetadata;
  groups.flags = kHasCpuAttr | kIsCpuOp;
  Add(groups, nullptr);
  for (uint32_t i = 0; i < rank.timeline.nodes.size(); ++i) Node(i);
  if (std::all_of(g_.start.begin(), g_.start.end(), [](Time t) { return t == Time::Zero(); }))
    g_.start.clear();
  DropEmptyColumns(&g_);
  out->rank = static_cast<int>(index);
  out->file = std::string(file);
  out->metadata = facts.Metadata().SerializeAsString();
  absl::StatusOr<std::shared_ptr<const Graph>> graph =
      pool_->Intern(&g_, absl::StrCat(file, ": rank ", index));
  if (!graph.ok()) return graph.status();
  out->graph = *std::move(graph);
  out->peers = pool_->columns().Share(peers_);
  out->group_names = group_names_;
  return absl::OkStatus();
}

}  // namespace chakra::pytorch
