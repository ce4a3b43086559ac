// The middle step of decoding: turns a node frame into a row of the columns.
#include <cstring>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/et/decode.h"
#include "trace/model/any_order.h"
#include "trace/model/device_copy.h"
#include "trace/model/node_fields.h"

namespace chakra {
namespace {

// A fast version of ReadAttribute() for the form of nearly all attributes: a short name, followed by one
// value (int32, int64, uint32, uint64, bool, string or string list) that fills the rest. Returns false for
// any other form; `out` is then unspecified.
inline bool ReadPlainAttribute(wire::Cursor c, Attribute* out) {
  if (c.left() < 5 || c.p[0] != 0x0a || c.p[1] >= 0x80 || size_t{c.p[1]} + 4 > c.left()) return false;
  out->name = absl::string_view(reinterpret_cast<const char*>(c.p + 2), c.p[1]);
  c.p += 2 + c.p[1];
  out->value.at = c.p;
  uint32_t tag = *c.p++;
  if (tag >= 0x80) tag = (tag & 0x7f) | uint32_t{*c.p++} << 7;
  out->value.number = tag >> 3;
  out->value.type = tag & 7;
  constexpr uint32_t kVarints = 1u << 7 | 1u << 9 | 1u << 11 | 1u << 13 | 1u << 27;
  constexpr uint32_t kTexts = 1u << 29 | 1u << 30;
  if (tag >= 31 << 3 || !wire::ReadVarint(&c, &out->value.bits)) return false;
  const uint32_t bit = 1u << out->value.number;
  if (out->value.type == wire::kVarint) return (kVarints & bit) != 0 && c.done();
  out->value.p = c.p;
  return out->value.type == wire::kBytes && (kTexts & bit) != 0 && out->value.bits == c.left();
}

// The valid values of an integer attribute.
struct Range {
  __int128 low, high;
};
Range RangeOf(AttributeKey key) {
  using K = AttributeKey;
  constexpr __int128 kMin32 = std::numeric_limits<int32_t>::min();
  constexpr __int128 kMax32 = std::numeric_limits<int32_t>::max();
  constexpr __int128 kMin64 = std::numeric_limits<int64_t>::min();
  constexpr __int128 kMaxU64 = std::numeric_limits<uint64_t>::max();
  switch (key) {
    case K::kNumOps:
      return {0, kMaxPicos};
    case K::kDurationNs:
    case K::kTransferNs:
      return {0, kMaxPicos / 1000};
    case K::kCommSrc:
    case K::kCommDst:
    case K::kRoot:
      return {-1, kMax32};  // -1: none
    case K::kCommTag:
    case K::kCommPriority:
      return {kMin32, kMax32};
    case K::kTid:
    case K::kStream:
    case K::kIsCpuOp:
    case K::kAnyOrder:
    case K::kEager:
    case K::kCommType:
      return {kMin64, kMaxU64};
    default:
      return {0, kMaxU64};
  }
}

}  // namespace

uint32_t Decoder::GroupIndex(absl::string_view name) {
  if (name.empty()) return 0;
  const auto [it, added] = group_index_.try_emplace(name, out_.group_names.size());
  if (added) out_.group_names.push_back(std::string(name));
  return it->second;
}

// Returns the lane for a thread or stream id. Thread ids of the system may need more than 31 bits; each such
// id gets a negative lane, in order of first use.
int32_t Decoder::LaneOf(__int128 v) {
  if (v >= 0 && v <= std::numeric_limits<int32_t>::max()) return static_cast<int32_t>(v);
  const auto next = static_cast<int32_t>(-1 - static_cast<int64_t>(big_lanes_.size()));
  return big_lanes_.try_emplace(static_cast<uint64_t>(v), next).first->second;
}

bool Decoder::ReadNode(wire::Cursor frame) {
  const uint8_t* begin = frame.p;
  data_begin_.push_back(data_.size());
  ctrl_begin_.push_back(ctrl_.size());
  Node node;
  wire::Field f;
  while (!frame.done()) {
    const uint8_t* at = frame.p;
    if (const char* wrong = wire::ReadField(&frame, &f)) {
      return Fail(at, &node, f.number == 0 ? "0" : absl::StrCat(f.number),
                  absl::StrCat("a damaged message: ", wrong));
    }
    if (!ReadNodeField(f, &node)) return false;
  }
  if (raw_ != nullptr) {
    raw_->bytes.append(reinterpret_cast<const char*>(begin), static_cast<size_t>(frame.p - begin));
    raw_->begin.push_back(raw_->bytes.size());
  }
  if (!AddDelayCauses(node)) return false;
  AddNode(node, Offset(begin));
  return true;
}

bool Decoder::ReadNodeField(const wire::Field& f, Node* node) {
  static constexpr absl::string_view kNames[] = {
      "",       "id",      "name", "type", "ctrl_deps", "data_deps", "start_time_micros", "duration_micros",
      "inputs", "outputs", "attr"};
  static constexpr uint32_t kWire[] = {0, 0, 2, 0, 9, 9, 0, 0, 2, 2, 2};  // 9: checked by ReadDeps()
  if (f.number > 10) return true;
  if (kWire[f.number] != 9 && kWire[f.number] != f.type) {
    return Fail(f.at, node, kNames[f.number],
                absl::StrCat("wire type ", f.type, ", expected ", kWire[f.number]));
  }
  constexpr uint64_t kMaxMicros = static_cast<uint64_t>(kMaxPicos) / 1000000;
  switch (f.number) {
    case 1:
      node->id = f.bits;
      node->has_id = true;
      return true;
    case 2:
      node->name = f.text();
      node->name_hash = g_.strings.Prefetch(node->name);
      return true;
    case 3:
      if (f.bits >= kNodeTypes) {
        return Fail(f.at, node, "type", absl::StrCat("unknown node type ", f.bits, ", expected 0 to 7"));
      }
      node->type = static_cast<NodeType>(f.bits);
      return true;
    case 4:
      return ReadDeps(f, &ctrl_, *node);
    case 5:
      return ReadDeps(f, &data_, *node);
    case 6:
      if (f.bits > std::numeric_limits<uint64_t>::max() / 1000) {
        return Fail(f.at, node, kNames[6], absl::StrCat(f.bits, " us do not fit in 64 bits of nanoseconds"));
      }
      if (!node->fine_start) node->start_ns = f.bits * 1000;
      return true;
    case 7:
      if (f.bits > kMaxMicros) {
        return Fail(f.at, node, kNames[7], absl::StrCat(f.bits, " us, expected at most ", kMaxMicros));
      }
      if (!node->fine_duration) node->duration_ps = static_cast<int64_t>(f.bits) * 1000000;
      return true;
    case 8:
      return ReadInputs(f, node);
    case 10:
      return ReadNodeAttribute(f, node);
    default:
      return true;
  }
}

bool Decoder::ReadDeps(const wire::Field& f, std::vector<uint64_t>* deps, const Node& node) {
  if (f.type == wire::kVarint) {
    deps->push_back(f.bits);
    return true;
  }
  const absl::string_view name = f.number == 4 ? "ctrl_deps" : "data_deps";
  if (f.type != wire::kBytes) {
    return Fail(f.at, &node, name, absl::StrCat("wire type ", f.type, ", expected 0 or 2"));
  }
  wire::Cursor c = f.message();
  while (!c.done()) {
    uint64_t id;
    if (!wire::ReadVarint(&c, &id)) return Fail(c.p, &node, name, "a varint that does not end");
    deps->push_back(id);
  }
  return true;
}

bool Decoder::ReadInputs(const wire::Field& f, Node* node) {
  wire::Cursor c = f.message();
  wire::Field in;
  while (!c.done()) {
    const uint8_t* at = c.p;
    const char* wrong = wire::ReadField(&c, &in);
    if (wrong == nullptr && in.number <= 3 && in.type != wire::kBytes) wrong = "the wrong wire type";
    if (wrong != nullptr) return Fail(at, node, "inputs", absl::StrCat("a damaged IOInfo: ", wrong));
    if (in.number == 1) node->values = in.text();
    if (in.number == 2) node->shapes = in.text();
    if (in.number == 3) node->types = in.text();
  }
  return true;
}

bool Decoder::ReadNodeAttribute(const wire::Field& f, Node* node) {
  Attribute a;
  const uint8_t* at = f.p;
  plain_attribute_ = ReadPlainAttribute(f.message(), &a);
  if (!plain_attribute_) {
    a = Attribute();
    if (const char* wrong = ReadAttribute(f.message(), &a, &at)) {
      return Fail(at, node, absl::StrCat("attribute ", a.name), wrong);
    }
  }
  const AttributeKey key = FindAttributeKey(a.name);
  if (key == AttributeKey::kOther) return true;
  if (a.value.at == nullptr) a.value.at = f.at;
  if (key == AttributeKey::kGroupName || key == AttributeKey::kCommGroup) return SetGroup(key, a, node);
  if (key == AttributeKey::kDepDelays || key == AttributeKey::kDepUnexplained) return SetDelays(key, a, node);
  if (key == AttributeKey::kDepRelease) return SetReleases(a, node);
  if (key == AttributeKey::kDepKinds) return SetKinds(a, node);
  if (key == AttributeKey::kCommKind) return SetCommKind(a, node);
  if (key == AttributeKey::kKernelHash) return SetCode(a, node);
  if (key == AttributeKey::kTimeFactor) return SetTimeFactor(a, node);
  if (key == AttributeKey::kCategory) {
    const bool text = a.value.number == static_cast<uint32_t>(ValueField::kString);
    if (text && IsCopyCategory(a.value.text())) node->flags |= kDeviceCopy;
    return true;
  }
  if (key != AttributeKey::kInvolvedDims) return SetPlainNumber(key, a, node) || SetNumber(key, a, node);
  if (ToMask(a, &node->comm.involved_dims, &node->comm.dims_count)) return true;
  return Fail(
      a.value.at, node, absl::StrCat("attribute ", a.name),
      absl::StrCat("expected a list of at most 32 bools or integers, found ", ValueKind(a.value.number)));
}

bool Decoder::SetGroup(AttributeKey key, const Attribute& a, Node* node) {
  std::string text;
  if (!ToText(a, &text)) {
    return Fail(a.value.at, node, absl::StrCat("attribute ", a.name),
                absl::StrCat("expected text or an integer, found ", ValueKind(a.value.number)));
  }
  if (key == AttributeKey::kGroupName) {
    node->has_group = true;
  } else if (node->has_group) {
    return true;  // pg_name takes precedence
  }
  node->peer.group = GroupIndex(text);
  NoteVarying(VaryingValue::kGroup, a);
  return true;
}

void Decoder::NoteVarying(VaryingValue::Kind kind, const Attribute& a) {
  const bool text = a.value.type == wire::kBytes;
  // Values that are not recorded must be equal in both files. Every group must be recorded, because each file
  // has its own list of group names.
  if (!plain_attribute_ || (kind == VaryingValue::kGroup) != text) {
    all_noted_ = all_noted_ && kind != VaryingValue::kGroup;
    return;
  }
  // Plain integers have field numbers of at most 13, so that their tags have one byte; negative values are
  // not recorded.
  if (!text && (a.value.number > 13 || a.value.bits > std::numeric_limits<int32_t>::max())) return;
  const uint8_t* begin = text ? a.value.p : a.value.at + 1;
  const uint8_t* end = begin + a.value.bits;
  if (!text) {
    end = begin;
    while ((*end++ & 0x80) != 0) continue;
  }
  varying_.push_back({Offset(begin), Offset(end), kNoRow, kind});
}

bool Decoder::SetCommKind(const Attribute& a, Node* node) {
  std::string text;
  if (!ToText(a, &text) || text.empty()) {
    return Fail(a.value.at, node, "attribute comm_kind",
                absl::StrCat("expected text, found ",
                             a.value.number == 29 ? "an empty one" : ValueKind(a.value.number)));
  }
  node->work.comm_kind = g_.strings.Intern(text);
  return true;
}

bool Decoder::SetCode(const Attribute& a, Node* node) {
  if (a.value.number != static_cast<uint32_t>(ValueField::kString)) {
    return Fail(a.value.at, node, "attribute kernel_hash",
                absl::StrCat("expected text, found ", ValueKind(a.value.number)));
  }
  node->code = a.value.text();
  return true;
}

bool Decoder::SetTimeFactor(const Attribute& a, Node* node) {
  double factor = -1;
  const bool real = a.value.number == static_cast<uint32_t>(ValueField::kDouble);
  if (real) std::memcpy(&factor, &a.value.bits, sizeof factor);
  if (!(factor >= 0 && factor <= kMostTimeFactor)) {
    return Fail(a.value.at, node, "attribute time_factor",
                absl::StrCat("expected a double from 0 to ", kMostTimeFactor, ", found ",
                             real ? absl::StrCat(factor) : ValueKind(a.value.number)));
  }
  node->time_factor = factor;
  return true;
}

// A fast path for the three attributes that nearly every node has. Returns false unless the value is a
// nonnegative int64 or uint64.
bool Decoder::SetPlainNumber(AttributeKey key, const Attribute& a, Node* node) {
  if ((a.value.number != 9 && a.value.number != 13) || a.value.bits > static_cast<uint64_t>(kMaxPicos)) {
    return false;
  }
  switch (key) {
    case AttributeKey::kNumOps:
      node->work.num_ops = static_cast<int64_t>(a.value.bits);
      node->work.has_num_ops = true;
      return true;
    case AttributeKey::kTensorSize:
      node->work.tensor_bytes = a.value.bits;
      node->work.has_tensor_bytes = true;
      return true;
    case AttributeKey::kCommSize:
      node->comm.bytes = a.value.bits;
      node->comm.has_bytes = true;
      return true;
    default:
      return false;
  }
}

bool Decoder::SetNumber(AttributeKey key, const Attribute& a, Node* node) {
  __int128 v = 0;
  if (!ToInteger(a, &v)) {
    std::string found = ValueKind(a.value.number);
    if (a.value.number == 29)
      absl::StrAppend(&found, " \"", absl::CEscape(a.value.text().substr(0, 32)), "\"");
    return Fail(a.value.at, node, absl::StrCat("attribute ", a.name),
                absl::StrCat("expected an integer, a bool, an integral real or decimal text, found ", found));
  }
  const Range range = RangeOf(key);
  if (v < range.low || v > range.high) {
    return Fail(a.value.at, node, absl::StrCat("attribute ", a.name),
                absl::StrCat("the value is out of range, expected ", static_cast<int64_t>(range.low), " to ",
                             static_cast<uint64_t>(range.high)));
  }
  StoreNumber(key, v, a, node);
  return true;
}

// Precondition: v is in the range of `key`.
void Decoder::StoreNumber(AttributeKey key, __int128 v, const Attribute& a, Node* node) {
  using K = AttributeKey;
  switch (key) {
    case K::kIsCpuOp:
      node->flags = static_cast<uint8_t>((node->flags & ~kIsCpuOp) | kHasCpuAttr | (v != 0 ? kIsCpuOp : 0));
      break;
    case K::kNumOps:
      node->work.num_ops = static_cast<int64_t>(v);
      node->work.has_num_ops = true;
      break;
    case K::kTensorSize:
      node->work.tensor_bytes = static_cast<uint64_t>(v);
      node->work.has_tensor_bytes = true;
      break;
    case K::kCommType:
      node->comm.type = v < 0 || v > 0xfe ? 0xfe : static_cast<uint8_t>(v);
      break;
    case K::kCommSize:
      node->comm.bytes = static_cast<uint64_t>(v);
      node->comm.has_bytes = true;
      break;
    case K::kCommSrc:
      node->peer.src = static_cast<int32_t>(v);
      NoteVarying(VaryingValue::kSource, a);
      break;
    case K::kCommDst:
      node->peer.dst = static_cast<int32_t>(v);
      NoteVarying(VaryingValue::kDestination, a);
      break;
    case K::kCommTag:
      node->peer.tag = static_cast<int32_t>(v);
      NoteVarying(VaryingValue::kTag, a);
      break;
    case K::kCommPriority:
      node->comm.priority = static_cast<int32_t>(v);
      break;
    case K::kRoot:
      node->peer.root = static_cast<int32_t>(v);
      break;
    case K::kStream:
      node->stream = LaneOf(v);
      node->has_stream = true;
      break;
    case K::kTid:
      node->tid = LaneOf(v);
      node->has_tid = true;
      break;
    case K::kDurationNs:
      node->duration_ps = static_cast<int64_t>(v) * 1000;
      node->fine_duration = true;
      break;
    case K::kAnyOrder:
      node->flags = static_cast<uint8_t>((node->flags & ~kAnyOrder) | (v != 0 ? kAnyOrder : 0));
      break;
    case K::kEager:
      node->comm.eager = v != 0;
      break;
    case K::kTransferNs:
      node->transfer = Time::Picos(static_cast<int64_t>(v) * 1000);
      break;
    case K::kStartNs:
      node->start_ns = static_cast<uint64_t>(v);
      node->fine_start = true;
      break;
    default:
      break;
  }
}

void Decoder::AddNode(const Node& node, uint64_t offset) {
  NodeType type = node.type;
  const bool cpu = (node.flags & kIsCpuOp) != 0;
  if (type == NodeType::kCollective && cpu && node.comm.type == 0xff) {
    type = NodeType::kComp;  // older converters wrote c10d wrappers on the host as collectives
    Note("host_collective_wrapper", node.id,
         absl::StrCat("node ", node.id, " (\"", node.name,
                      "\") is a COMM_COLL_NODE on the host without comm_type"));
  }
  offset_.push_back(offset);
  g_.id.push_back(node.id);
  g_.name.push_back(g_.strings.Intern(node.name, node.name_hash));
  g_.type.push_back(type);
  const bool kept = type == NodeType::kComp && node.work.comm_kind != 0;
  g_.flags.push_back(kept ? node.flags | kKeptComm : node.flags);
  start_ns_.push_back(node.start_ns);
  g_.duration.push_back(Time::Picos(node.duration_ps));
  const bool by_stream = !cpu && node.has_stream;
  const int32_t lane = by_stream ? node.stream : node.has_tid ? node.tid : kNoLane;
  g_.lane.push_back(lane);
  g_.shapes.push_back(g_.strings.Intern(node.shapes));
  g_.types.push_back(g_.strings.Intern(node.types));
  if (!node.code.empty() || !g_.code.empty()) {  // few traces have kernel hashes
    g_.code.resize(g_.id.size() - 1);
    g_.code.push_back(g_.strings.Intern(node.code));
  }
  if (node.time_factor != 1 || !g_.factor.empty()) {  // few traces have time factors
    g_.factor.resize(g_.id.size() - 1);
    g_.factor.push_back(
        node.time_factor == 1 ? 0 : g_.strings.Intern(absl::StrFormat("%.17g", node.time_factor)));
  }
  uint32_t payload = kNoRow;
  if (type >= NodeType::kSend) {
    payload = static_cast<uint32_t>(g_.comm.size());
    g_.comm.push_back(node.comm);
    g_.transfer.push_back(node.transfer);
    const auto peer = static_cast<uint32_t>(peers_.size());
    for (size_t i = varying_before_; i < varying_.size(); ++i) varying_[i].peer = peer;
    peers_.push_back(node.peer);
    Comm& comm = g_.comm.back();
    // Chakra's own generator writes the size of a message as tensor_size.
    if (type != NodeType::kCollective && !comm.has_bytes && node.work.has_tensor_bytes) {
      comm.bytes = node.work.tensor_bytes;
      comm.has_bytes = true;
    }
  } else if (type >= NodeType::kMemLoad && (kept || node.work.has_num_ops || node.work.has_tensor_bytes)) {
    payload = static_cast<uint32_t>(g_.work.size());
    g_.work.push_back(node.work);
  }
  g_.payload.push_back(payload);
  varying_before_ = varying_.size();
  if (type == NodeType::kMetadata && node.name.find("process_group:init") != node.name.npos) {
    group_nodes_.push_back({node.id, std::string(node.values)});
  }
}

}  // namespace chakra
