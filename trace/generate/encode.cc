#include "trace/generate/encode.h"

#include <array>

#include "absl/strings/string_view.h"
#include "proto/et_def.pb.h"
#include "trace/base/status_macros.h"
#include "trace/base/wire.h"

namespace chakra::generate {
namespace {

namespace et = ChakraProtoMsg;

void AppendAttribute(absl::string_view name, uint32_t field, uint64_t value, std::string* out) {
  const size_t size = 1 + wire::VarintSize(name.size()) + name.size() +
                      wire::VarintSize(field << 3 | wire::kVarint) + wire::VarintSize(value);
  wire::AppendTag(et::Node::kAttrFieldNumber, wire::kBytes, out);
  wire::AppendVarint(size, out);
  wire::AppendText(et::AttributeProto::kNameFieldNumber, name, out);
  wire::AppendNumber(field, value, out);
}

void AppendInt64(absl::string_view name, int64_t value, std::string* out) {
  AppendAttribute(name, et::AttributeProto::kInt64ValFieldNumber, static_cast<uint64_t>(value), out);
}
void AppendUint64(absl::string_view name, int64_t value, std::string* out) {
  AppendAttribute(name, et::AttributeProto::kUint64ValFieldNumber, static_cast<uint64_t>(value), out);
}
// A negative number has ten bytes, as in protobuf.
void AppendInt32(absl::string_view name, int32_t value, std::string* out) {
  AppendAttribute(name, et::AttributeProto::kInt32ValFieldNumber,
                  static_cast<uint64_t>(static_cast<int64_t>(value)), out);
}

void AppendTextAttribute(absl::string_view name, absl::string_view value, std::string* out) {
  const uint32_t field = et::AttributeProto::kStringValFieldNumber;
  const size_t size = 1 + wire::VarintSize(name.size()) + name.size() +
                      wire::VarintSize(field << 3 | wire::kBytes) + wire::VarintSize(value.size()) +
                      value.size();
  wire::AppendTag(et::Node::kAttrFieldNumber, wire::kBytes, out);
  wire::AppendVarint(size, out);
  wire::AppendText(et::AttributeProto::kNameFieldNumber, name, out);
  wire::AppendText(field, value, out);
}

std::string NameAndType(absl::string_view name, NodeType type) {
  std::string out;
  if (!name.empty()) wire::AppendText(et::Node::kNameFieldNumber, name, &out);
  wire::AppendNumber(et::Node::kTypeFieldNumber, static_cast<uint64_t>(type), &out);
  return out;
}

// The attributes that say where the node runs.
std::string StreamAttributes(Stream stream) {
  std::string out;
  const bool host = stream == Stream::kHost;
  AppendAttribute("is_cpu_op", et::AttributeProto::kBoolValFieldNumber, host ? 1 : 0, &out);
  AppendInt64(host ? "tid" : "stream", static_cast<int64_t>(stream), &out);
  return out;
}

std::string Inputs(const Operator& op) {
  std::string inputs, out;
  if (!op.shapes.empty()) wire::AppendText(et::IOInfo::kShapesFieldNumber, op.shapes, &inputs);
  if (!op.types.empty()) wire::AppendText(et::IOInfo::kTypesFieldNumber, op.types, &inputs);
  if (!inputs.empty()) wire::AppendText(et::Node::kInputsFieldNumber, inputs, &out);
  return out;
}

void AppendDependencies(const uint32_t* begin, const uint32_t* end, std::string* out) {
  if (begin == end) return;
  size_t size = 0;
  for (const uint32_t* d = begin; d < end; ++d) size += wire::VarintSize(*d);
  wire::AppendTag(et::Node::kDataDepsFieldNumber, wire::kBytes, out);
  wire::AppendVarint(size, out);
  for (const uint32_t* d = begin; d < end; ++d) wire::AppendVarint(*d, out);
}

}  // namespace

Peer EndsOf(const Layout& layout, int rank, const StepNode& n) {
  const int other = layout.OtherEnd(n.peer, n.stage, rank);
  const bool send = n.type == NodeType::kSend;
  Peer ends;
  ends.src = send ? rank : other;
  ends.dst = send ? other : rank;
  ends.tag = n.tag;
  return ends;
}

// What a rank's nodes have of their own.
class StageEncoder::Rank {
 public:
  Rank(const StageEncoder& encoder, const Layout& layout, int rank)
      : e_(encoder), layout_(layout), rank_(rank) {}

  void Append(uint32_t id, std::string* out) {
    const StepNode& n = e_.stage_.nodes[id];
    const Parts* const computes = n.type == NodeType::kComp ? &e_.operators_[n.op] : nullptr;
    if (id > 0) wire::AppendNumber(et::Node::kIdFieldNumber, id, out);
    out->append(computes != nullptr ? computes->name : NameAndType(NameOf(n), n.type));
    AppendDependencies(e_.stage_.deps.data() + n.dep_begin, e_.stage_.deps.data() + n.dep_end, out);
    if (computes != nullptr) out->append(computes->inputs);
    out->append(e_.streams_[static_cast<size_t>(n.stream)]);
    module_.clear();
    AppendSpot(n.spot, &module_);
    AppendTextAttribute("module", module_, out);
    if (computes != nullptr) {
      out->append(computes->rest);
    } else {
      AppendTransfer(n, out);
    }
  }

 private:
  static absl::string_view NameOf(const StepNode& n) {
    if (n.type == NodeType::kCollective) return Name(n.collective);
    if (n.type == NodeType::kMemStore) return "Memcpy DtoH (Device -> Pinned)";
    if (n.type == NodeType::kMemLoad) return "Memcpy HtoD (Pinned -> Device)";
    return n.type == NodeType::kSend ? "send" : "receive";
  }

  // The last attributes of a collective, a copy or a message.
  void AppendTransfer(const StepNode& n, std::string* out) {
    if (IsCopy(n)) return AppendUint64("tensor_size", n.bytes, out);
    if (n.type == NodeType::kCollective) AppendInt64("comm_type", static_cast<int64_t>(n.collective), out);
    AppendInt64("comm_size", n.bytes, out);
    if (n.type == NodeType::kCollective) return AppendTextAttribute("pg_name", GroupOf(n.group), out);
    const Peer ends = EndsOf(layout_, rank_, n);
    AppendInt32("comm_src", ends.src, out);
    AppendInt32("comm_dst", ends.dst, out);
    AppendInt32("comm_tag", ends.tag, out);
  }

  const std::string& GroupOf(GroupKind kind) {
    std::string& name = groups_[static_cast<size_t>(kind)];
    if (name.empty()) name = layout_.NameOf(kind, rank_);
    return name;
  }

  const StageEncoder& e_;
  const Layout& layout_;
  const int rank_;
  std::array<std::string, kGroupKinds> groups_;
  std::string module_;
};

StageEncoder::StageEncoder(const StageGraph& stage) : stage_(stage) {
  for (int s = 0; s < kStreams; ++s) streams_.push_back(StreamAttributes(static_cast<Stream>(s)));
  operators_.resize(stage.operators.size());
  for (const StepNode& n : stage.nodes) {
    if (n.type != NodeType::kComp) continue;
    Parts& parts = operators_[n.op];
    if (!parts.name.empty()) continue;
    const Operator& op = stage.operators[n.op];
    parts.name = NameAndType(op.name, n.type);
    if (n.stream == Stream::kHost) {
      AppendInt64("duration_ns", op.duration_ns, &parts.rest);
      continue;
    }
    parts.inputs = Inputs(op);
    AppendInt64("num_ops", op.operations, &parts.rest);
    AppendUint64("tensor_size", op.bytes, &parts.rest);
  }
}

absl::Status StageEncoder::Write(const Layout& layout, int rank, EtWriter* out) const {
  Rank of_rank(*this, layout, rank);
  std::string node;
  for (uint32_t id = 0; id < stage_.nodes.size(); ++id) {
    node.clear();
    of_rank.Append(id, &node);
    RETURN_IF_ERROR(out->AddFrame(node));
  }
  return absl::OkStatus();
}

}  // namespace chakra::generate
