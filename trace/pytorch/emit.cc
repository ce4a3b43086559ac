#include "trace/pytorch/emit.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"

namespace chakra::pytorch {
namespace {

// Appends protobuf's wire format; a capture has millions of nodes.
class Wire {
 public:
  void Clear() { out_.clear(); }
  absl::string_view view() const { return out_; }
  void Varint(uint64_t v) {
    while (v >= 0x80) {
      out_.push_back(static_cast<char>(v | 0x80));
      v >>= 7;
    }
    out_.push_back(static_cast<char>(v));
  }
  void Number(uint32_t field, uint64_t v) {
    Varint(field << 3);
    Varint(v);
  }
  void Text(uint32_t field, absl::string_view s) {
    Varint(field << 3 | 2);
    Varint(s.size());
    out_.append(s.data(), s.size());
  }

 private:
  std::string out_;
};

size_t VarintSize(uint64_t v) {
  size_t n = 1;
  while (v >= 0x80) {
    v >>= 7;
    ++n;
  }
  return n;
}

// Fields of Node, and value fields of AttributeProto (proto/et_def.proto).
enum : uint32_t {
  kId = 1,
  kName = 2,
  kType = 3,
  kDataDeps = 5,
  kStartMicros = 6,
  kDurationMicros = 7,
  kInputs = 8,
  kAttr = 10
};
enum : uint32_t { kInt32 = 7, kInt64 = 9, kInt64List = 10, kUint64 = 13, kBool = 27, kString = 29 };

class Emitter {
 public:
  Emitter(const CaptureRank& rank, uint32_t index, const Joined& joined, EtWriter* writer)
      : rank_(rank), t_(rank.timeline), joined_(joined), comms_(joined.comms[index]), writer_(writer) {
    window_ = joined.window_begin_ns - joined.clock_offset_ns[index] -
              (rank.device == nullptr ? 0 : rank.device->base_ns);
  }

  absl::Status Run();

 private:
  void IntAttr(absl::string_view name, uint32_t kind, int64_t v);
  void TextAttr(absl::string_view name, absl::string_view v);
  void ListAttr(absl::string_view name, const std::vector<int64_t>& v);
  absl::Status Metadata();
  absl::Status GroupNode();
  absl::Status Node(uint32_t i);
  void Deps(uint32_t i);
  void Operands(const TimelineNode& node);
  void CommAttrs(const CommPlan& plan, const CommCall& call);
  void NumberLanes();

  const CaptureRank& rank_;
  const Timeline& t_;
  const Joined& joined_;
  const std::vector<CommPlan>& comms_;
  EtWriter* writer_;
  int64_t window_ = 0;  // ns since the device trace's base: 0 of start_ns
  Wire w_, inner_;
  std::vector<int64_t> tid_, stream_;  // by lane
  std::vector<uint32_t> first_;        // by event: its first node, or kNoRow
  std::vector<int64_t> delays_;
  std::string kinds_;
};

void Emitter::IntAttr(absl::string_view name, uint32_t kind, int64_t v) {
  const auto bits = static_cast<uint64_t>(v);
  w_.Varint(kAttr << 3 | 2);
  w_.Varint(1 + VarintSize(name.size()) + name.size() + VarintSize(kind << 3) + VarintSize(bits));
  w_.Text(1, name);
  w_.Number(kind, bits);
}

void Emitter::TextAttr(absl::string_view name, absl::string_view v) {
  w_.Varint(kAttr << 3 | 2);
  w_.Varint(1 + VarintSize(name.size()) + name.size() + VarintSize(kString << 3) + VarintSize(v.size()) +
            v.size());
  w_.Text(1, name);
  w_.Text(kString, v);
}

void Emitter::ListAttr(absl::string_view name, const std::vector<int64_t>& v) {
  size_t packed = 0;
  for (const int64_t x : v) packed += VarintSize(static_cast<uint64_t>(x));
  const size_t list = 1 + VarintSize(packed) + packed;
  w_.Varint(kAttr << 3 | 2);
  w_.Varint(1 + VarintSize(name.size()) + name.size() + VarintSize(kInt64List << 3) + VarintSize(list) +
            list);
  w_.Text(1, name);
  w_.Varint(kInt64List << 3 | 2);
  w_.Varint(list);
  w_.Varint(1 << 3 | 2);
  w_.Varint(packed);
  for (const int64_t x : v) w_.Varint(static_cast<uint64_t>(x));
}

// Lanes get the numbers that the capture gave them, where these are distinct.
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

absl::Status Emitter::Metadata() {
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  const auto text = [&](const char* name, const std::string& value) {
    ChakraProtoMsg::AttributeProto* a = metadata.add_attr();
    a->set_name(name);
    a->set_string_val(value);
  };
  text("schema", rank_.host != nullptr ? rank_.host->schema : "kineto");
  text("capture", "pytorch");
  ChakraProtoMsg::AttributeProto* rank = metadata.add_attr();
  rank->set_name("rank");
  rank->set_int64_val(rank_.rank);
  ChakraProtoMsg::AttributeProto* window = metadata.add_attr();
  window->set_name("window_end_ns");
  window->set_int64_val(t_.window_end - window_);
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

// Node 0, in the form that PyTorch writes: who is in which group.
absl::Status Emitter::GroupNode() {
  std::string json = "[";
  for (const auto& [name, members] : joined_.groups) {
    std::string quoted;
    for (const char c : name) {
      if (c == '"' || c == '\\') quoted.push_back('\\');
      quoted.push_back(c);
    }
    absl::StrAppend(&json, json.size() > 1 ? "," : "", "{\"pg_name\":\"", quoted,
                    "\",\"group_size\":", members.size(), ",\"ranks\":[");
    for (size_t i = 0; i < members.size(); ++i) absl::StrAppend(&json, i > 0 ? "," : "", members[i]);
    json += "]}";
  }
  json += "]";
  w_.Clear();
  w_.Text(kName, "## process_group:init ##");
  w_.Number(kType, static_cast<uint64_t>(NodeType::kMetadata));
  inner_.Clear();
  inner_.Text(1, json);
  w_.Text(kInputs, inner_.view());
  IntAttr("is_cpu_op", kBool, 1);
  return writer_->AddFrame(w_.view());
}

void Emitter::Deps(uint32_t i) {
  const uint64_t begin = t_.edge_begin[i], end = t_.edge_begin[i + 1];
  delays_.clear();
  kinds_.clear();
  size_t packed = 0;
  bool delayed = false;
  for (uint64_t e = begin; e < end; ++e) {
    const TimelineEdge& edge = t_.edges[e];
    packed += VarintSize(edge.from + 1);
    // The root stands for the window of all ranks; this rank's may begin later.
    const int64_t late = edge.from == 0 ? t_.window_begin - window_ : 0;
    delays_.push_back(edge.delay_ns + late);
    delayed = delayed || delays_.back() > 0;
    if (e > begin) kinds_.push_back(',');
    const absl::string_view kind = Name(edge.kind);
    kinds_.append(kind.data(), kind.size());
  }
  if (begin == end) return;
  w_.Varint(kDataDeps << 3 | 2);
  w_.Varint(packed);
  for (uint64_t e = begin; e < end; ++e) w_.Varint(t_.edges[e].from + 1);
  TextAttr("dep_kinds", kinds_);
  if (delayed) ListAttr("dep_delay_ns", delays_);
}

// Shapes and types of the operator; of a device operation, of its operator.
void Emitter::Operands(const TimelineNode& node) {
  const DeviceTrace& d = *rank_.device;
  uint32_t row = node.event;
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
    if (node.host && host.rf_id != 0) IntAttr("rf_id", kInt64, static_cast<int64_t>(host.rf_id));
  }
  if (!node.host) TextAttr("op", d.name_of(d.events[row]));
  if (shapes.empty() && types.empty()) return;
  inner_.Clear();
  if (!shapes.empty()) inner_.Text(2, shapes);
  if (!types.empty()) inner_.Text(3, types);
  w_.Text(kInputs, inner_.view());
}

void Emitter::CommAttrs(const CommPlan& plan, const CommCall& call) {
  if (plan.type == NodeType::kCollective) IntAttr("comm_type", kInt64, static_cast<int64_t>(plan.collective));
  if (plan.has_bytes) IntAttr("comm_size", kInt64, static_cast<int64_t>(plan.bytes));
  TextAttr("pg_name", plan.group);
  if (plan.root != kNoRank) IntAttr("root", kInt32, plan.root);
  if (plan.type == NodeType::kSend) IntAttr("comm_dst", kInt32, plan.peer);
  if (plan.type == NodeType::kRecv) IntAttr("comm_src", kInt32, plan.peer);
  if (plan.type != NodeType::kCollective) IntAttr("comm_tag", kInt32, plan.tag);
  if (plan.eager) IntAttr("eager", kBool, 1);
  if (plan.transfer_ns >= 0) IntAttr("transfer_ns", kInt64, plan.transfer_ns);
  if (!call.dtype.empty()) TextAttr("comm_dtype", call.dtype);
  if (call.out_bytes >= 0) IntAttr("comm_out_size", kInt64, call.out_bytes);
  if (!call.in_split.empty()) ListAttr("in_split", call.in_split);
  if (!call.out_split.empty()) ListAttr("out_split", call.out_split);
}

absl::Status Emitter::Node(uint32_t i) {
  static constexpr absl::string_view kCategories[kEventKinds] = {
      "cpu_op", "user_annotation", "python_function", "runtime", "driver",
      "kernel", "gpu_memcpy",      "gpu_memset",      "sync"};
  const TimelineNode& node = t_.nodes[i];
  w_.Clear();
  w_.Number(kId, i + 1);
  if (node.event == kNoRow) {
    w_.Text(kName, "[capture window]");
    w_.Number(kType, static_cast<uint64_t>(NodeType::kMetadata));
    IntAttr("is_cpu_op", kBool, 1);
    return writer_->AddFrame(w_.view());
  }
  const DeviceTrace& d = *rank_.device;
  const Event& event = d.events[node.event];
  const CommPlan* comm = node.comm == kNoRow ? nullptr : &comms_[node.comm];
  if (comm != nullptr && comm->type == NodeType::kComp) comm = nullptr;
  w_.Text(kName, d.name_of(event));
  w_.Number(kType, static_cast<uint64_t>(comm == nullptr ? NodeType::kComp : comm->type));
  const auto start = static_cast<uint64_t>(std::max<int64_t>(0, node.start - window_));
  w_.Number(kStartMicros, start / 1000);
  w_.Number(kDurationMicros, static_cast<uint64_t>(node.dur + 500) / 1000);
  IntAttr("is_cpu_op", kBool, node.host ? 1 : 0);
  // What runs beside the others has a lane to itself.
  const int64_t own = 1500000000 + int64_t{i};
  if (node.host) {
    IntAttr("tid", kInt64, node.lane < 0 ? own : tid_[static_cast<size_t>(node.lane)]);
  } else {
    IntAttr("stream", kInt64, node.lane < 0 ? own : stream_[static_cast<size_t>(node.lane)]);
  }
  if (!node.host) IntAttr("device", kInt32, d.streams[event.lane].device);
  IntAttr("start_ns", kInt64, static_cast<int64_t>(start));
  IntAttr("duration_ns", kInt64, node.dur);
  Deps(i);
  TextAttr("category", kCategories[static_cast<size_t>(event.kind)]);
  if (node.part > 0) IntAttr("part", kInt32, node.part);
  const uint32_t caller = t_.caller[node.event];
  if (caller != kNoRow && first_[caller] != kNoRow) IntAttr("parent", kInt64, int64_t{first_[caller]} + 1);
  if (event.correlation >= 0 && !node.host) IntAttr("correlation", kInt64, event.correlation);
  if (node.part == 0) Operands(node);
  if (comm != nullptr) {
    CommAttrs(*comm, t_.comms[node.comm]);
  } else if (!node.host && event.extra != kNoRow && d.device[event.extra].bytes >= 0) {
    IntAttr("tensor_size", kUint64, d.device[event.extra].bytes);
  }
  return writer_->AddFrame(w_.view());
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
