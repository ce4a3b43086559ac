#include "trace/import/linked/emit.h"

#include <algorithm>
#include <vector>

#include "trace/base/status_macros.h"
#include "trace/base/wire.h"
#include "trace/import/linked/rank_facts.h"
#include "trace/model/groups.h"
#include "trace/model/node_fields.h"

namespace chakra::pytorch {
namespace {

using wire::AppendTag;
using wire::AppendVarint;
using wire::VarintSize;

class Emitter {
 public:
  Emitter(const CaptureRank& rank, uint32_t index, const Joined& joined, EtWriter* writer)
      : rank_(rank),
        t_(rank.timeline),
        joined_(joined),
        comms_(joined.comms[index]),
        facts_(rank, index, joined),
        writer_(writer) {}

  absl::Status Run();

 private:
  void BeginAttr(absl::string_view name, size_t value);
  void IntAttr(absl::string_view name, ValueField kind, int64_t v);
  void TextAttr(absl::string_view name, absl::string_view v);
  void ListAttr(absl::string_view name, const std::vector<int64_t>& v);
  absl::Status GroupNode();
  absl::Status Node(uint32_t i);
  absl::Status OwnWorkNode(uint32_t i);
  int64_t Times(const TimelineNode& node);
  void Deps(uint32_t i);
  void Operands(const TimelineNode& node);
  void TextOperands(absl::string_view shapes, absl::string_view types);
  bool ToldOperands(const TimelineNode& node);
  void CompiledAttrs(const CompiledKernel& compiled, bool kernel);
  void CommAttrs(const CommPlan& plan, const CommCall& call);
  void KeptCommAttrs(const CommPlan& plan, const CommCall& call);

  const CaptureRank& rank_;
  const Timeline& t_;
  const Joined& joined_;
  const std::vector<CommPlan>& comms_;
  const RankFacts facts_;
  EtWriter* writer_;
  std::string w_, inner_;
  std::vector<uint32_t> first_;  // by event: its first node, or kNoRow
  std::vector<int64_t> delays_, unexplained_, releases_;
  std::string kinds_;
};

// Writes the begin of an attribute whose value, with its tag, takes `value` bytes.
void Emitter::BeginAttr(absl::string_view name, size_t value) {
  AppendTag(kNodeAttr, wire::kBytes, &w_);
  AppendVarint(1 + VarintSize(name.size()) + name.size() + value, &w_);
  wire::AppendText(kAttrName, name, &w_);
}

void Emitter::IntAttr(absl::string_view name, ValueField kind, int64_t v) {
  const auto field = static_cast<uint32_t>(kind);
  const auto bits = static_cast<uint64_t>(v);
  BeginAttr(name, VarintSize(field << 3) + VarintSize(bits));
  wire::AppendNumber(field, bits, &w_);
}

void Emitter::TextAttr(absl::string_view name, absl::string_view v) {
  constexpr auto kField = static_cast<uint32_t>(ValueField::kString);
  BeginAttr(name, VarintSize(kField << 3) + VarintSize(v.size()) + v.size());
  wire::AppendText(kField, v, &w_);
}

void Emitter::ListAttr(absl::string_view name, const std::vector<int64_t>& v) {
  constexpr auto kField = static_cast<uint32_t>(ValueField::kInt64List);
  size_t packed = 0;
  for (const int64_t x : v) packed += VarintSize(static_cast<uint64_t>(x));
  const size_t list = 1 + VarintSize(packed) + packed;
  BeginAttr(name, VarintSize(kField << 3) + VarintSize(list) + list);
  AppendTag(kField, wire::kBytes, &w_);
  AppendVarint(list, &w_);
  AppendTag(kListValues, wire::kBytes, &w_);
  AppendVarint(packed, &w_);
  for (const int64_t x : v) AppendVarint(static_cast<uint64_t>(x), &w_);
}

// Writes node 0, the process groups, in the form that PyTorch writes.
absl::Status Emitter::GroupNode() {
  w_.clear();
  wire::AppendText(kNodeName, kGroupsNodeName, &w_);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(NodeType::kMetadata), &w_);
  inner_.clear();
  wire::AppendText(kIoValues, GroupNodeText(joined_.groups), &inner_);
  wire::AppendText(kNodeInputs, inner_, &w_);
  IntAttr("is_cpu_op", ValueField::kBool, 1);
  return writer_->AddFrame(w_);
}

void Emitter::Deps(uint32_t i) {
  const uint64_t begin = t_.edge_begin[i], end = t_.edge_begin[i + 1];
  delays_.clear();
  unexplained_.clear();
  releases_.clear();
  kinds_.clear();
  size_t packed = 0;
  bool delayed = false, unexplained = false, released = false;
  for (uint64_t e = begin; e < end; ++e) {
    const TimelineEdge& edge = t_.edges[e];
    packed += VarintSize(edge.from + 1);
    delays_.push_back(facts_.DelayOf(edge));
    delayed = delayed || delays_.back() > 0;
    unexplained_.push_back(t_.UnexplainedOf(edge));
    unexplained = unexplained || unexplained_.back() > 0;
    releases_.push_back(facts_.ReleaseOf(edge));
    released = released || releases_.back() != kReleaseAtEnd;
    if (e > begin) kinds_.push_back(',');
    const absl::string_view kind = Name(edge.kind);
    kinds_.append(kind.data(), kind.size());
  }
  if (begin == end) return;
  AppendTag(kNodeDataDeps, wire::kBytes, &w_);
  AppendVarint(packed, &w_);
  for (uint64_t e = begin; e < end; ++e) AppendVarint(t_.edges[e].from + 1, &w_);
  TextAttr("dep_kinds", kinds_);
  if (delayed) ListAttr("dep_delay_ns", delays_);
  if (unexplained) ListAttr("dep_unexplained_ns", unexplained_);
  if (released) ListAttr("dep_release", releases_);
}

void Emitter::TextOperands(absl::string_view shapes, absl::string_view types) {
  if (shapes.empty() && types.empty()) return;
  inner_.clear();
  if (!shapes.empty()) wire::AppendText(kIoShapes, shapes, &inner_);
  if (!types.empty()) wire::AppendText(kIoTypes, types, &inner_);
  wire::AppendText(kNodeInputs, inner_, &w_);
}

// Writes what the source says of a device operation itself. False: it says nothing.
bool Emitter::ToldOperands(const TimelineNode& node) {
  const DeviceTrace& d = *rank_.device;
  const Event& event = d.events[node.event];
  if (node.host || event.extra == kNoRow || d.device[event.extra].op == 0) return false;
  const DeviceExtra& told = d.device[event.extra];
  TextAttr("op", d.strings.Get(told.op));
  TextOperands(d.strings.Get(told.shapes), d.strings.Get(told.types));
  if (told.operations >= 0) IntAttr("num_ops", ValueField::kInt64, told.operations);
  if (told.traffic >= 0 && told.bytes < 0) IntAttr("tensor_size", ValueField::kUint64, told.traffic);
  return true;
}

// Writes shapes and types of the operator; for a device operation, those of its operator.
void Emitter::Operands(const TimelineNode& node) {
  if (ToldOperands(node)) return;
  const DeviceTrace& d = *rank_.device;
  if (const Event& own = d.events[node.event]; !node.host && own.extra != kNoRow) {
    if (const uint32_t captured = d.device[own.extra].graph_op; captured != kNoRow) {
      const GraphOp& op = d.graph_ops[captured];
      TextAttr("op", d.strings.Get(op.name));
      return TextOperands(d.strings.Get(op.shapes), d.strings.Get(op.types));
    }
  }
  const uint32_t row = facts_.OperatorOf(node);
  if (row == kNoRow) return;
  const RankFacts::OperandTexts texts = facts_.OperandsOf(row);
  if (texts.host != nullptr && node.host && texts.host->rf_id != 0)
    IntAttr("rf_id", ValueField::kInt64, static_cast<int64_t>(texts.host->rf_id));
  if (!node.host) TextAttr("op", d.name_of(d.events[row]));
  TextOperands(texts.shapes, texts.types);
  if (const CompiledKernel* compiled = facts_.CompiledOf(row); compiled != nullptr)
    CompiledAttrs(*compiled, d.events[node.event].kind == EventKind::kKernel);
}

// What a compiler tells of a kernel, at the operator that launches it and at the kernel.
void Emitter::CompiledAttrs(const CompiledKernel& compiled, bool kernel) {
  const DeviceTrace& d = *rank_.device;
  const auto text = [&](absl::string_view name, uint32_t string) {
    if (string != 0) TextAttr(name, d.strings.Get(string));
  };
  text("kernel_backend", compiled.backend);
  text("kernel_file", compiled.file);
  text("kernel_hash", compiled.hash);
  text("kernel_kwargs", compiled.options);
  text("grid", compiled.grid);
  if (compiled.warps >= 0) IntAttr("num_warps", ValueField::kInt64, compiled.warps);
  if (compiled.stages >= 0) IntAttr("num_stages", ValueField::kInt64, compiled.stages);
  if (!kernel) return;
  const Work work = RankFacts::WorkOf(compiled);
  if (work.has_num_ops) IntAttr("num_ops", ValueField::kInt64, work.num_ops);
  if (work.has_tensor_bytes)
    IntAttr("tensor_size", ValueField::kUint64, static_cast<int64_t>(work.tensor_bytes));
}

void Emitter::CommAttrs(const CommPlan& plan, const CommCall& call) {
  if (plan.type == NodeType::kCollective)
    IntAttr("comm_type", ValueField::kInt64, static_cast<int64_t>(plan.collective));
  if (plan.has_bytes) IntAttr("comm_size", ValueField::kInt64, static_cast<int64_t>(plan.bytes));
  TextAttr("pg_name", plan.group);
  if (plan.root != kNoRank) IntAttr("root", ValueField::kInt32, plan.root);
  if (plan.type == NodeType::kSend) IntAttr("comm_dst", ValueField::kInt32, plan.peer);
  if (plan.type == NodeType::kRecv) IntAttr("comm_src", ValueField::kInt32, plan.peer);
  if (plan.type != NodeType::kCollective) IntAttr("comm_tag", ValueField::kInt32, plan.tag);
  if (plan.eager) IntAttr("eager", ValueField::kBool, 1);
  if (plan.transfer_ns >= 0) IntAttr("transfer_ns", ValueField::kInt64, plan.transfer_ns);
  if (!call.library.empty()) TextAttr("comm_library", call.library);
  if (!call.dtype.empty()) TextAttr("comm_dtype", call.dtype);
  if (call.out_bytes >= 0) IntAttr("comm_out_size", ValueField::kInt64, call.out_bytes);
  if (!call.in_split.empty()) ListAttr("in_split", call.in_split);
  if (!call.out_split.empty()) ListAttr("out_split", call.out_split);
}

// Of a kernel that communicates and is no call: readers that do not know comm_kind take it for computation.
void Emitter::KeptCommAttrs(const CommPlan& plan, const CommCall& call) {
  TextAttr("comm_kind", Name(call.op));
  if (!call.library.empty()) TextAttr("comm_library", call.library);
  if (!plan.group.empty()) TextAttr("pg_name", plan.group);
  if (call.in_bytes >= 0) IntAttr("comm_size", ValueField::kInt64, call.in_bytes);
}

// Writes start and duration in microseconds. Returns the start in nanoseconds.
int64_t Emitter::Times(const TimelineNode& node) {
  const int64_t start = facts_.StartOf(node);
  wire::AppendNumber(kNodeStart, static_cast<uint64_t>(start) / 1000, &w_);
  wire::AppendNumber(kNodeDuration, static_cast<uint64_t>(node.dur + 500) / 1000, &w_);
  return start;
}

absl::Status Emitter::OwnWorkNode(uint32_t i) {
  const TimelineNode& node = t_.nodes[i];
  wire::AppendText(kNodeName, kOwnWorkName, &w_);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(NodeType::kComp), &w_);
  const int64_t start = Times(node);
  IntAttr("is_cpu_op", ValueField::kBool, 1);
  IntAttr("tid", ValueField::kInt64, facts_.LaneOf(node, i));
  IntAttr("start_ns", ValueField::kInt64, start);
  IntAttr("duration_ns", ValueField::kInt64, node.dur);
  Deps(i);
  TextAttr("category", "between_calls");
  return writer_->AddFrame(w_);
}

absl::Status Emitter::Node(uint32_t i) {
  static constexpr absl::string_view kCategories[kEventKinds] = {
      "cpu_op", "user_annotation", "python_function", "runtime", "driver",
      "kernel", "gpu_memcpy",      "gpu_memset",      "sync"};
  const TimelineNode& node = t_.nodes[i];
  w_.clear();
  wire::AppendNumber(kNodeId, i + 1, &w_);
  if (node.IsOwnWork()) return OwnWorkNode(i);
  if (node.event == kNoRow) {
    wire::AppendText(kNodeName, kWindowNodeName, &w_);
    wire::AppendNumber(kNodeType, static_cast<uint64_t>(NodeType::kMetadata), &w_);
    IntAttr("is_cpu_op", ValueField::kBool, 1);
    return writer_->AddFrame(w_);
  }
  const DeviceTrace& d = *rank_.device;
  const Event& event = d.events[node.event];
  const CommPlan* comm = facts_.PlanOf(node);
  wire::AppendText(kNodeName, d.name_of(event), &w_);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(comm == nullptr ? NodeType::kComp : comm->type), &w_);
  const int64_t start = Times(node);
  IntAttr("is_cpu_op", ValueField::kBool, node.host ? 1 : 0);
  IntAttr(node.host ? "tid" : "stream", ValueField::kInt64, facts_.LaneOf(node, i));
  if (!node.host) IntAttr("device", ValueField::kInt32, d.streams[event.lane].device);
  IntAttr("start_ns", ValueField::kInt64, start);
  IntAttr("duration_ns", ValueField::kInt64, node.dur);
  Deps(i);
  TextAttr("category", kCategories[static_cast<size_t>(event.kind)]);
  if (node.part > 0) IntAttr("part", ValueField::kInt32, node.part);
  const uint32_t caller = t_.caller[node.event];
  if (caller != kNoRow && first_[caller] != kNoRow)
    IntAttr("parent", ValueField::kInt64, int64_t{first_[caller]} + 1);
  if (event.correlation >= 0 && !node.host) IntAttr("correlation", ValueField::kInt64, event.correlation);
  if (node.part == 0) Operands(node);
  if (comm != nullptr) {
    CommAttrs(*comm, t_.comms[node.comm]);
    return writer_->AddFrame(w_);
  }
  if (node.comm != kNoRow) KeptCommAttrs(comms_[node.comm], t_.comms[node.comm]);
  if (!node.host && event.extra != kNoRow && d.device[event.extra].bytes >= 0)
    IntAttr("tensor_size", ValueField::kUint64, d.device[event.extra].bytes);
  return writer_->AddFrame(w_);
}

absl::Status Emitter::Run() {
  first_.assign(t_.caller.size(), kNoRow);
  for (uint32_t i = static_cast<uint32_t>(t_.nodes.size()); i-- > 0;) {
    if (t_.nodes[i].event != kNoRow) first_[t_.nodes[i].event] = i;
  }
  RETURN_IF_ERROR(writer_->AddMetadata(facts_.Metadata(t_.steps)));
  RETURN_IF_ERROR(GroupNode());
  for (uint32_t i = 0; i < t_.nodes.size(); ++i) {
    RETURN_IF_ERROR(Node(i));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status EmitRank(const CaptureRank& rank, uint32_t index, const Joined& joined, EtWriter* writer) {
  return Emitter(rank, index, joined, writer).Run();
}

}  // namespace chakra::pytorch
