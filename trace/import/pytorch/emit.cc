#include "trace/import/pytorch/emit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/base/wire.h"
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
      : rank_(rank), t_(rank.timeline), joined_(joined), comms_(joined.comms[index]), writer_(writer) {
    window_ = joined.window_begin_ns - joined.clock_offset_ns[index] -
              (rank.device == nullptr ? 0 : rank.device->base_ns);
  }

  absl::Status Run();

 private:
  void BeginAttr(absl::string_view name, size_t value);
  void IntAttr(absl::string_view name, ValueField kind, int64_t v);
  void TextAttr(absl::string_view name, absl::string_view v);
  void ListAttr(absl::string_view name, const std::vector<int64_t>& v);
  std::string DeviceName() const;
  absl::Status Metadata();
  absl::Status GroupNode();
  absl::Status Node(uint32_t i);
  absl::Status OwnWorkNode(uint32_t i);
  int64_t Times(const TimelineNode& node);
  void Deps(uint32_t i);
  void Operands(const TimelineNode& node);
  void TextOperands(absl::string_view shapes, absl::string_view types);
  bool ToldOperands(const TimelineNode& node);
  void CommAttrs(const CommPlan& plan, const CommCall& call);
  void KeptCommAttrs(const CommPlan& plan, const CommCall& call);
  void NumberLanes();

  const CaptureRank& rank_;
  const Timeline& t_;
  const Joined& joined_;
  const std::vector<CommPlan>& comms_;
  EtWriter* writer_;
  int64_t window_ = 0;  // ns since the device trace's base, where start_ns is 0
  std::string w_, inner_;
  std::vector<int64_t> tid_, stream_;  // by lane
  std::vector<uint32_t> first_;        // by event: its first node, or kNoRow
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

// Lanes get the numbers of the capture where these are distinct.
void Emitter::NumberLanes() {
  std::set<int64_t> taken;
  if (rank_.device == nullptr) return;
  for (size_t i = 0; i < rank_.device->threads.size(); ++i) {
    int64_t tid = 0;
    if (!absl::SimpleAtoi(rank_.device->threads[i].tid, &tid) || tid < 0 || !taken.insert(tid).second) {
      tid = static_cast<int64_t>(1000000000 + i);
      taken.insert(tid);
    }
    tid_.push_back(tid);
  }
  taken.clear();
  for (size_t i = 0; i < t_.lanes.size(); ++i) {
    int64_t stream = rank_.device->streams[t_.lanes[i].stream].stream;
    if (stream < 0 || stream >= 1000000000 || t_.lanes[i].copy > 0 || !taken.insert(stream).second) {
      stream = static_cast<int64_t>(1000000000 + i);
      taken.insert(stream);
    }
    stream_.push_back(stream);
  }
}

// The name that all devices of the rank's file have; "" if it names none, or several.
std::string Emitter::DeviceName() const {
  if (rank_.device == nullptr || rank_.device->devices.empty()) return "";
  const std::string& name = rank_.device->devices[0];
  for (const std::string& other : rank_.device->devices) {
    if (other != name) return "";
  }
  return name;
}

absl::Status Emitter::Metadata() {
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  const auto text = [&](const char* name, const std::string& value) {
    ChakraProtoMsg::AttributeProto* a = metadata.add_attr();
    a->set_name(name);
    a->set_string_val(value);
  };
  text("schema", rank_.host != nullptr ? rank_.host->schema : rank_.device->schema);
  text("capture", "pytorch");
  ChakraProtoMsg::AttributeProto* rank = metadata.add_attr();
  rank->set_name("rank");
  rank->set_int64_val(rank_.rank);
  ChakraProtoMsg::AttributeProto* window = metadata.add_attr();
  window->set_name("window_end_ns");
  window->set_int64_val(t_.window_end - window_);
  if (const std::string device = DeviceName(); !device.empty()) text("device", device);
  ChakraProtoMsg::AttributeProto *names = metadata.add_attr(), *first = metadata.add_attr(),
                                 *last = metadata.add_attr();
  names->set_name("step_names");
  first->set_name("step_first_nodes");
  last->set_name("step_last_nodes");
  names->mutable_string_list();
  first->mutable_uint64_list();
  last->mutable_uint64_list();
  for (const TimelineStep& step : t_.steps) {
    names->mutable_string_list()->add_values(step.name);
    first->mutable_uint64_list()->add_values(step.first + 1);
    last->mutable_uint64_list()->add_values(step.last + 1);
  }
  return writer_->AddMetadata(metadata);
}

// Writes node 0, the process groups, in the form that PyTorch writes.
absl::Status Emitter::GroupNode() {
  w_.clear();
  wire::AppendText(kNodeName, "## process_group:init ##", &w_);
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
    // The root is the begin of the window of all ranks; this rank's window may begin later.
    const int64_t late = edge.from == 0 ? t_.window_begin - window_ : 0;
    delays_.push_back(edge.delay_ns + late);
    delayed = delayed || delays_.back() > 0;
    unexplained_.push_back(edge.unexplained_ns);
    unexplained = unexplained || edge.unexplained_ns > 0;
    releases_.push_back(std::llround(edge.share * kReleaseAtEnd));
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
  uint32_t row = node.event;
  if (const Event& own = d.events[row]; !node.host && own.extra != kNoRow) {
    if (const uint32_t captured = d.device[own.extra].graph_op; captured != kNoRow) {
      const GraphOp& op = d.graph_ops[captured];
      TextAttr("op", d.strings.Get(op.name));
      return TextOperands(d.strings.Get(op.shapes), d.strings.Get(op.types));
    }
  }
  while (row != kNoRow && d.events[row].kind != EventKind::kCpuOp) row = t_.caller[row];
  if (row == kNoRow) return;
  absl::string_view shapes, types;
  if (d.events[row].extra != kNoRow) {
    const OpExtra& extra = d.ops[d.events[row].extra];
    shapes = d.strings.Get(extra.shapes);
    types = d.strings.Get(extra.types);
  }
  if (rank_.host != nullptr && rank_.pairing.node_of_event[row] != kNoRow) {
    const HostNode& host = rank_.host->nodes[rank_.pairing.node_of_event[row]];
    if (shapes.empty()) shapes = rank_.host->strings.Get(host.in_shapes);
    if (types.empty()) types = rank_.host->strings.Get(host.in_types);
    if (node.host && host.rf_id != 0) IntAttr("rf_id", ValueField::kInt64, static_cast<int64_t>(host.rf_id));
  }
  if (!node.host) TextAttr("op", d.name_of(d.events[row]));
  TextOperands(shapes, types);
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
  const int64_t start = std::max<int64_t>(0, node.start - window_);
  wire::AppendNumber(kNodeStart, static_cast<uint64_t>(start) / 1000, &w_);
  wire::AppendNumber(kNodeDuration, static_cast<uint64_t>(node.dur + 500) / 1000, &w_);
  return start;
}

absl::Status Emitter::OwnWorkNode(uint32_t i) {
  const TimelineNode& node = t_.nodes[i];
  wire::AppendText(kNodeName, "[between calls]", &w_);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(NodeType::kComp), &w_);
  const int64_t start = Times(node);
  IntAttr("is_cpu_op", ValueField::kBool, 1);
  IntAttr("tid", ValueField::kInt64, tid_[static_cast<size_t>(node.lane)]);
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
    wire::AppendText(kNodeName, "[capture window]", &w_);
    wire::AppendNumber(kNodeType, static_cast<uint64_t>(NodeType::kMetadata), &w_);
    IntAttr("is_cpu_op", ValueField::kBool, 1);
    return writer_->AddFrame(w_);
  }
  const DeviceTrace& d = *rank_.device;
  const Event& event = d.events[node.event];
  const CommPlan* comm = node.comm == kNoRow ? nullptr : &comms_[node.comm];
  if (comm != nullptr && comm->type == NodeType::kComp) comm = nullptr;
  wire::AppendText(kNodeName, d.name_of(event), &w_);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(comm == nullptr ? NodeType::kComp : comm->type), &w_);
  const int64_t start = Times(node);
  IntAttr("is_cpu_op", ValueField::kBool, node.host ? 1 : 0);
  // A node that runs beside the others gets its own lane.
  const int64_t own = 1500000000 + int64_t{i};
  if (node.host) {
    IntAttr("tid", ValueField::kInt64, node.lane < 0 ? own : tid_[static_cast<size_t>(node.lane)]);
  } else {
    IntAttr("stream", ValueField::kInt64, node.lane < 0 ? own : stream_[static_cast<size_t>(node.lane)]);
  }
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
  NumberLanes();
  first_.assign(t_.caller.size(), kNoRow);
  for (uint32_t i = static_cast<uint32_t>(t_.nodes.size()); i-- > 0;) {
    if (t_.nodes[i].event != kNoRow) first_[t_.nodes[i].event] = i;
  }
  if (absl::Status s = Metadata(); !s.ok()) return s;
  if (absl::Status s = GroupNode(); !s.ok()) return s;
  for (uint32_t i = 0; i < t_.nodes.size(); ++i) {
    if (absl::Status s = Node(i); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status EmitRank(const CaptureRank& rank, uint32_t index, const Joined& joined, EtWriter* writer) {
  return Emitter(rank, index, joined, writer).Run();
}

}  // namespace chakra::pytorch
