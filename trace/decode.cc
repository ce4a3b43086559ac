#include "trace/decode.h"

#include <algorithm>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

constexpr int64_t kMaxPicos = std::numeric_limits<int64_t>::max();

absl::string_view AsText(const uint8_t* p, size_t n) { return {reinterpret_cast<const char*>(p), n}; }

bool LooksLikeText(absl::string_view s) {
  s = s.substr(0, 64);
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
  });
}

std::string LooksLike(absl::string_view s) {
  static constexpr struct {
    absl::string_view magic, name;
  } kKnown[] = {{"PK\x03\x04", "a zip archive"},
                {"\x7f"
                 "ELF",
                 "an ELF file"},
                {"BZh", "bzip2"},
                {"\xfd"
                 "7zXZ",
                 "xz"},
                {"\x04\"M\x18", "lz4"},
                {"SQLite format 3", "an SQLite database"},
                {"\x89PNG", "a PNG image"}};
  for (const auto& k : kKnown) {
    if (s.substr(0, k.magic.size()) == k.magic) return absl::StrCat("; it looks like ", k.name);
  }
  if (LooksLikeText(s)) {
    return absl::StrCat("; it looks like text: \"", absl::CEscape(s.substr(0, 32)), "\"");
  }
  return "";
}

// ReadAttribute() for the shape that nearly all have: a short name, then one
// value (int32, int64, uint32, uint64, bool, string or string list) that fills
// the rest. False, with anything in `out`, for every other shape.
inline bool ReadPlainAttribute(wire::Cursor c, Attribute* out) {
  if (c.left() < 5 || c.p[0] != 0x0a || c.p[1] >= 0x80 || size_t{c.p[1]} + 5 > c.left()) return false;
  out->name = AsText(c.p + 2, c.p[1]);
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

// Whether `frame` holds only well-formed messages in field 2, as a
// GlobalMetadata without a version does. A Node without an id begins alike.
bool OnlyAttributes(wire::Cursor frame) {
  wire::Field f;
  while (!frame.done()) {
    if (wire::ReadField(&frame, &f) != nullptr || f.number != 2 || f.type != wire::kBytes) return false;
    Attribute a;
    const uint8_t* at;
    if (ReadAttribute(f.message(), &a, &at) != nullptr || a.name.empty()) return false;
  }
  return true;
}

// Fields that schema 0.0.1 has and 0.0.4 has not.
bool LooksLikeOldSchema(wire::Cursor frame) {
  wire::Field f;
  while (!frame.done()) {
    if (wire::ReadField(&frame, &f) != nullptr) return false;
    if (f.number >= 11 && f.number <= 20) return true;
    if (f.number >= 8 && f.number <= 10 && f.type == wire::kVarint) return true;
  }
  return false;
}

}  // namespace

void Decoder::Reset(absl::string_view content, absl::string_view file, int rank, const ReadOptions& options) {
  status_ = absl::OkStatus();
  file_ = file;
  rank_ = rank;
  options_ = options;
  base_ = reinterpret_cast<const uint8_t*>(content.data());
  end_ = base_ + content.size();
  for (auto* v : {&g_.name, &g_.payload, &g_.shapes, &g_.types, &g_.dep_begin, &g_.dep}) v->clear();
  g_.id.clear();
  g_.type.clear();
  g_.flags.clear();
  g_.start.clear();
  g_.duration.clear();
  g_.lane.clear();
  g_.comm.clear();
  g_.work.clear();
  g_.strings.Clear();
  for (auto* v : {&offset_, &start_ns_, &data_, &ctrl_, &data_begin_, &ctrl_begin_}) v->clear();
  any_lane_ = false;
  group_nodes_.clear();
  group_index_.clear();
  big_lanes_.clear();
  out_ = RankTrace();
  out_.rank = rank;
  out_.file = std::string(file);
  out_.group_names.push_back("");
  raw_ = nullptr;
  if (options.keep_raw) {
    raw_ = std::make_shared<RawFrames>();
    raw_->begin.push_back(0);
  }
}

std::string Decoder::Subject() const { return absl::StrCat(file_, ": rank ", rank_); }

bool Decoder::FailFile(uint64_t offset, absl::string_view what) {
  status_ = absl::InvalidArgumentError(absl::StrCat(Subject(), ", byte ", offset, ": ", what));
  return false;
}

bool Decoder::Fail(const uint8_t* at, const Node* node, absl::string_view field, absl::string_view what) {
  std::string who;
  if (node != nullptr) {
    who = node->has_id || node->name.empty() ? absl::StrCat(", node ", node->id)
                                             : absl::StrCat(", node in frame ", g_.id.size() + 1);
    if (!node->name.empty()) absl::StrAppend(&who, " (\"", node->name, "\")");
  }
  status_ = absl::InvalidArgumentError(
      absl::StrCat(Subject(), who, ", field ", field, ", byte ", Offset(at), ": ", what));
  return false;
}

void Decoder::Note(absl::string_view kind, uint64_t node, absl::string_view detail) {
  for (Repair& r : out_.repairs) {
    if (r.kind == kind) {
      ++r.count;
      return;
    }
  }
  out_.repairs.push_back(
      {std::string(kind), out_.file, rank_, /*count=*/1, node, absl::StrCat("first: ", detail)});
}

uint32_t Decoder::GroupIndex(absl::string_view name) {
  if (name.empty()) return 0;
  const auto [it, added] = group_index_.try_emplace(name, out_.group_names.size());
  if (added) out_.group_names.push_back(std::string(name));
  return it->second;
}

// Thread numbers of the system may exceed 32 bits: these get negative lanes in
// order of appearance.
int32_t Decoder::LaneOf(__int128 v) {
  if (v >= 0 && v <= std::numeric_limits<int32_t>::max()) return static_cast<int32_t>(v);
  const auto next = static_cast<int32_t>(-1 - static_cast<int64_t>(big_lanes_.size()));
  return big_lanes_.try_emplace(static_cast<uint64_t>(v), next).first->second;
}

bool Decoder::ReadFrameLength(wire::Cursor* c, wire::Cursor* frame, bool* truncated) {
  const uint8_t* at = c->p;
  const auto total = static_cast<uint64_t>(end_ - base_);
  uint64_t length = 0;
  const bool whole = wire::ReadVarint(c, &length);
  *truncated = false;
  if ((!whole && end_ - at >= 5) || (whole && (c->p - at > 5 || length > 0xffffffff))) {
    return FailFile(Offset(at), "expected the length of a frame, a varint of at most 5 bytes and 32 bits");
  }
  if (whole && length <= c->left()) {
    *frame = {c->p, c->p + length};
    c->p += length;
    return true;
  }
  *truncated = true;
  const uint64_t need = whole ? Offset(c->p) + length : total + 1;
  const std::string what =
      absl::StrCat("truncated at byte ", total, " of ", whole ? "" : "at least ", need, ": ",
                   whole ? absl::StrCat("the frame at byte ", Offset(at), " holds ", length, " bytes, ",
                                        c->left(), " are left")
                         : absl::StrCat("the length of the frame at byte ", Offset(at), " does not end"));
  const std::string node = absl::StrCat("node in frame ", g_.id.size() + 1);
  if (options_.allow_truncated && at != base_) {
    Note("truncated", g_.id.empty() ? 0 : g_.id.back(), absl::StrCat(what, "; the partial node is dropped"));
    c->p = c->end;
    return true;
  }
  if (at == base_)
    return FailFile(0, absl::StrCat("not a Chakra trace, or ", what, LooksLike(AsText(base_, total))));
  status_ =
      absl::InvalidArgumentError(absl::StrCat(Subject(), ", ", node, ", byte ", Offset(at), ": ", what));
  return false;
}

bool Decoder::CheckSchema(wire::Cursor frames) {
  while (!frames.done()) {
    const uint8_t* at = frames.p;
    uint64_t length = 0;
    if (!wire::ReadVarint(&frames, &length) || length > frames.left()) return true;  // said later
    if (LooksLikeOldSchema({frames.p, frames.p + length})) {
      return FailFile(Offset(at),
                      "schema 0.0.1 is not supported; convert with the tool that wrote it (STAGE: its 0.0.4 "
                      "backend); expected schema 0.0.4 or 1.0.0");
    }
    frames.p += length;
  }
  return true;
}

bool Decoder::ReadFirst(wire::Cursor frame) {
  wire::Cursor c = frame;
  wire::Field f = {};
  bool metadata = frame.done();
  const char* wrong = metadata ? nullptr : wire::ReadField(&c, &f);
  if (wrong == nullptr && !metadata) {
    metadata = (f.number == 1 && f.type == wire::kBytes) || OnlyAttributes(frame);
    while (wrong == nullptr && !c.done()) wrong = wire::ReadField(&c, &f);
  }
  if (wrong != nullptr) {
    return FailFile(Offset(f.at),
                    absl::StrCat("not a Chakra trace: the first frame is no message (", wrong, ")",
                                 LooksLike(AsText(base_, static_cast<size_t>(end_ - base_)))));
  }
  if (raw_ != nullptr) {
    raw_->has_metadata = metadata;
    if (metadata) raw_->bytes.append(AsText(frame.p, frame.left()).data(), frame.left());
    raw_->begin.push_back(raw_->bytes.size());
  }
  if (metadata) {
    out_.metadata = std::string(AsText(frame.p, frame.left()));
    return true;
  }
  if (!CheckSchema({base_, end_})) return false;
  Note("missing_metadata", 0, "the first frame is a node");
  if (ReadNode(frame)) return true;
  status_ = absl::InvalidArgumentError(absl::StrCat(status_.message(), "; this may be no Chakra trace"));
  return false;
}

bool Decoder::ReadFrames() {
  if (base_ == end_) return FailFile(0, "the file is empty, expected a Chakra trace");
  wire::Cursor c = {base_, end_};
  wire::Cursor frame = {nullptr, nullptr};
  bool truncated = false;
  if (!ReadFrameLength(&c, &frame, &truncated) || !ReadFirst(frame)) return false;
  while (!c.done()) {
    if (!ReadFrameLength(&c, &frame, &truncated)) return false;
    if (!truncated && !ReadNode(frame)) return false;
    if (g_.id.size() >= kNoRow - 1) return FailFile(Offset(c.p), "more than 2^32 - 2 nodes");
  }
  if (g_.id.empty()) Note("no_nodes", 0, "metadata and nothing else");
  return true;
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
  AddNode(node, Offset(begin));
  return true;
}

bool Decoder::ReadNodeField(const wire::Field& f, Node* node) {
  static constexpr absl::string_view kNames[] = {
      "",       "id",      "name", "type", "ctrl_deps", "data_deps", "start_time_micros", "duration_micros",
      "inputs", "outputs", "attr"};
  static constexpr uint32_t kWire[] = {0, 0, 2, 0, 9, 9, 0, 0, 2, 2, 2};  // 9: checked by ReadDeps
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
  if (!ReadPlainAttribute(f.message(), &a)) {
    a = Attribute();
    if (const char* wrong = ReadAttribute(f.message(), &a, &at)) {
      return Fail(at, node, absl::StrCat("attribute ", a.name), wrong);
    }
  }
  const AttributeKey key = FindAttributeKey(a.name);
  if (key == AttributeKey::kOther) return true;
  if (a.value.at == nullptr) a.value.at = f.at;
  if (key == AttributeKey::kGroupName || key == AttributeKey::kCommGroup) return SetGroup(key, a, node);
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
    return true;  // pg_name wins
  }
  node->peer.group = GroupIndex(text);
  return true;
}

// The three that nearly every node has, as int64 or uint64 and not negative.
// False when this is no such case.
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
  using K = AttributeKey;
  __int128 v = 0;
  if (!ToInteger(a, &v)) {
    std::string found = ValueKind(a.value.number);
    if (a.value.number == 29)
      absl::StrAppend(&found, " \"", absl::CEscape(a.value.text().substr(0, 32)), "\"");
    return Fail(a.value.at, node, absl::StrCat("attribute ", a.name),
                absl::StrCat("expected an integer, a bool, an integral real or decimal text, found ", found));
  }
  constexpr auto kMax32 = std::numeric_limits<int32_t>::max();
  __int128 low = 0;
  __int128 high = std::numeric_limits<uint64_t>::max();
  if (key == K::kNumOps) high = kMaxPicos;
  if (key == K::kDurationNs) high = kMaxPicos / 1000;
  if (key == K::kCommSrc || key == K::kCommDst || key == K::kRoot) {
    low = -1;  // none
    high = kMax32;
  }
  if (key == K::kCommTag || key == K::kCommPriority) {
    low = std::numeric_limits<int32_t>::min();
    high = kMax32;
  }
  if (key == K::kTid || key == K::kStream || key == K::kIsCpuOp || key == K::kCommType) {
    low = std::numeric_limits<int64_t>::min();
  }
  if (v < low || v > high) {
    return Fail(a.value.at, node, absl::StrCat("attribute ", a.name),
                absl::StrCat("the value is out of range, expected ", static_cast<int64_t>(low), " to ",
                             static_cast<uint64_t>(high)));
  }
  switch (key) {
    case K::kIsCpuOp:
      node->flags = kHasCpuAttr | (v != 0 ? kIsCpuOp : 0);
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
      break;
    case K::kCommDst:
      node->peer.dst = static_cast<int32_t>(v);
      break;
    case K::kCommTag:
      node->peer.tag = static_cast<int32_t>(v);
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
    case K::kStartNs:
      node->start_ns = static_cast<uint64_t>(v);
      node->fine_start = true;
      break;
    default:
      break;
  }
  return true;
}

void Decoder::AddNode(const Node& node, uint64_t offset) {
  NodeType type = node.type;
  const bool cpu = (node.flags & kIsCpuOp) != 0;
  if (type == NodeType::kCollective && cpu && node.comm.type == 0xff) {
    type = NodeType::kComp;  // what older converters made of the c10d wrappers on the host
    Note("host_collective_wrapper", node.id,
         absl::StrCat("node ", node.id, " (\"", node.name,
                      "\") is a COMM_COLL_NODE on the host without comm_type"));
  }
  offset_.push_back(offset);
  g_.id.push_back(node.id);
  g_.name.push_back(g_.strings.Intern(node.name, node.name_hash));
  g_.type.push_back(type);
  g_.flags.push_back(node.flags);
  start_ns_.push_back(node.start_ns);
  g_.duration.push_back(Time::Picos(node.duration_ps));
  const bool by_stream = !cpu && node.has_stream;
  const int32_t lane = by_stream ? node.stream : node.has_tid ? node.tid : kNoLane;
  any_lane_ |= lane != kNoLane;
  g_.lane.push_back(lane);
  g_.shapes.push_back(g_.strings.Intern(node.shapes));
  g_.types.push_back(g_.strings.Intern(node.types));
  uint32_t payload = kNoRow;
  if (type >= NodeType::kSend) {
    payload = static_cast<uint32_t>(g_.comm.size());
    g_.comm.push_back(node.comm);
    out_.peers.push_back(node.peer);
    Comm& comm = g_.comm.back();
    // Chakra's own generator gives the size of a message as tensor_size.
    if (type != NodeType::kCollective && !comm.has_bytes && node.work.has_tensor_bytes) {
      comm.bytes = node.work.tensor_bytes;
      comm.has_bytes = true;
    }
  } else if (type >= NodeType::kMemLoad && (node.work.has_num_ops || node.work.has_tensor_bytes)) {
    payload = static_cast<uint32_t>(g_.work.size());
    g_.work.push_back(node.work);
  }
  g_.payload.push_back(payload);
  if (type == NodeType::kMetadata && node.name.find("process_group:init") != node.name.npos) {
    group_nodes_.push_back({node.id, std::string(node.values)});
  }
}

absl::StatusOr<RankTrace> Decoder::Decode(absl::string_view content, absl::string_view file, int rank,
                                          const ReadOptions& options) {
  Reset(content, file, rank, options);
  if (!ReadFrames()) return status_;
  data_begin_.push_back(data_.size());
  ctrl_begin_.push_back(ctrl_.size());
  if (!IndexIds() || !ResolveDeps(true) || !ConvertStarts()) return status_;
  DropEmptyColumns();
  if (options.strict && !out_.repairs.empty()) {
    const Repair& r = out_.repairs.front();
    return absl::InvalidArgumentError(absl::StrCat(Subject(), ", node ", r.first_node, ": ", r.kind, ", ",
                                                   r.count, " times; ", r.detail,
                                                   " (an error because strict)"));
  }
  absl::StatusOr<std::shared_ptr<const Graph>> graph = FinishDeps();
  if (!graph.ok()) return graph.status();
  out_.graph = *std::move(graph);
  out_.raw = std::move(raw_);
  out_.peers.shrink_to_fit();
  return std::move(out_);
}

int64_t FindNodeFrame(absl::string_view content, uint64_t id) {
  const auto* base = reinterpret_cast<const uint8_t*>(content.data());
  wire::Cursor c = {base, base + content.size()};
  for (bool first = true; !c.done(); first = false) {
    uint64_t length = 0;
    if (!wire::ReadVarint(&c, &length) || length > c.left()) return -1;
    wire::Cursor frame = {c.p, c.p + length};
    c.p += length;
    const int64_t at = frame.p - base;
    uint64_t found = 0;
    bool node = !first;
    wire::Field f;
    while (!frame.done()) {
      if (wire::ReadField(&frame, &f) != nullptr) return -1;
      if (f.number != 1) continue;
      if (f.type == wire::kVarint) {
        node = true;
        found = f.bits;
      } else {
        node = false;
      }
    }
    if (node && found == id) return at;
  }
  return -1;
}

}  // namespace chakra
