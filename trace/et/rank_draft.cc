#include "trace/et/rank_draft.h"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "trace/base/status_macros.h"
#include "trace/base/wire.h"

namespace chakra {
namespace {

using wire::AppendVarint;
using wire::VarintSize;

bool HoldsText(const FrameField& field) {
  return field.kind == ValueField::kString || field.kind == ValueField::kInt64List;
}

class FrameMaker {
 public:
  explicit FrameMaker(const RankDraft& rank);

  // Returns the frame of the next row; valid until the next call.
  absl::string_view Next();

 private:
  void Add(SideTable::Frames::Reader* from);
  void AddField(size_t field, SideTable::Frames::Reader* from);
  void AddComm(size_t field);
  void AddOperands();
  void AddDeps(bool down);
  void AddDepDelays(size_t field);
  void AddDepUnexplained(size_t field);
  void AddDepReleases(size_t field);
  void AddNumber(size_t field, int64_t v);
  void AddText(size_t field, absl::string_view text);
  void AddList(size_t field, absl::string_view packed);

  // Values of the current row.
  int64_t Lane() const;
  int64_t StartNs() const { return g_.start.empty() ? 0 : g_.start[row_].picos() / 1000; }
  int64_t DurationNs() const { return g_.duration[row_].picos() / 1000; }
  absl::string_view Text(const std::vector<uint32_t>& column) const {
    return column.empty() ? "" : g_.strings.Get(column[row_]);
  }

  const RankDraft& rank_;
  const GraphDraft& g_;
  // For each field that is an attribute: its encoded name and the tag of its value. A head and a varint
  // together have less than 128 bytes.
  std::vector<std::string> heads_;
  SideTable::Frames::Reader rows_, more_;
  uint32_t row_ = kNoRow;
  size_t unexplained_ = 0;  // index in g_.dep_unexplained of the first entry of this row or a later one
  std::string frame_, inner_;
};

FrameMaker::FrameMaker(const RankDraft& rank)
    : rank_(rank), g_(rank.graph), rows_(rank.side.rows), more_(rank.side.more) {
  for (const FrameField& field : kFrameFields) {
    std::string& head = heads_.emplace_back();
    wire::AppendText(kAttrName, field.name.substr(0, field.name.find(' ')), &head);
    wire::AppendTag(static_cast<uint32_t>(field.kind), HoldsText(field) ? wire::kBytes : wire::kVarint,
                    &head);
    if (head.size() > 64) std::abort();  // depends only on kFrameFields, not on input
  }
}

absl::string_view FrameMaker::Next() {
  ++row_;
  frame_.clear();
  Add(&rows_);
  return frame_;
}

void FrameMaker::Add(SideTable::Frames::Reader* from) {
  for (uint64_t left = from->Next(); left != 0; left &= left - 1)
    AddField(static_cast<size_t>(std::countr_zero(left)), from);
}

// Most fields are numbers, so a number is appended in one piece, not byte by byte.
void FrameMaker::AddNumber(size_t field, int64_t v) {
  constexpr uint32_t kTag = kNodeAttr << 3 | wire::kBytes;
  static_assert(kTag < 128);
  const std::string& head = heads_[field];
  char bytes[128];
  std::memcpy(bytes + 2, head.data(), head.size());
  char* end = bytes + 2 + head.size();
  auto bits = static_cast<uint64_t>(v);
  for (; bits >= 0x80; bits >>= 7) *end++ = static_cast<char>(bits | 0x80);
  *end++ = static_cast<char>(bits);
  bytes[0] = static_cast<char>(kTag);
  bytes[1] = static_cast<char>(end - bytes - 2);
  frame_.append(bytes, static_cast<size_t>(end - bytes));
}

void FrameMaker::AddText(size_t field, absl::string_view text) {
  const std::string& head = heads_[field];
  wire::AppendTag(kNodeAttr, wire::kBytes, &frame_);
  AppendVarint(head.size() + VarintSize(text.size()) + text.size(), &frame_);
  frame_.append(head);
  AppendVarint(text.size(), &frame_);
  frame_.append(text.data(), text.size());
}

// `packed`: the varints of the list.
void FrameMaker::AddList(size_t field, absl::string_view packed) {
  const std::string& head = heads_[field];
  const size_t list = 1 + VarintSize(packed.size()) + packed.size();
  wire::AppendTag(kNodeAttr, wire::kBytes, &frame_);
  AppendVarint(head.size() + VarintSize(list) + list, &frame_);
  frame_.append(head);
  AppendVarint(list, &frame_);
  wire::AppendText(kListValues, packed, &frame_);
}

void FrameMaker::AddOperands() {
  const absl::string_view shapes = Text(g_.shapes), types = Text(g_.types);
  if (shapes.empty() && types.empty()) return;
  inner_.clear();
  if (!shapes.empty()) wire::AppendText(kIoShapes, shapes, &inner_);
  if (!types.empty()) wire::AppendText(kIoTypes, types, &inner_);
  wire::AppendText(kNodeInputs, inner_, &frame_);
}

void FrameMaker::AddDeps(bool down) {
  const uint32_t begin = g_.dep_begin[row_], end = g_.dep_begin[row_ + 1];
  if (begin == end) return;
  inner_.clear();
  for (uint32_t i = begin; i < end; ++i)
    AppendVarint(g_.id[g_.dep[down ? end - 1 - (i - begin) : i]], &inner_);
  wire::AppendText(kNodeDataDeps, inner_, &frame_);
}

void FrameMaker::AddDepDelays(size_t field) {
  if (g_.dep_delay.empty()) return;
  bool any = false;
  inner_.clear();
  for (uint32_t e = g_.dep_begin[row_]; e < g_.dep_begin[row_ + 1]; ++e) {
    const int64_t ns = g_.dep_delay[e].picos() / 1000;
    any = any || ns > 0;
    AppendVarint(static_cast<uint64_t>(ns), &inner_);
  }
  if (any) AddList(field, inner_);
}

void FrameMaker::AddDepUnexplained(size_t field) {
  const auto& all = g_.dep_unexplained;
  const uint32_t begin = g_.dep_begin[row_], end = g_.dep_begin[row_ + 1];
  while (unexplained_ < all.size() && all[unexplained_].first < begin) ++unexplained_;
  if (unexplained_ == all.size() || all[unexplained_].first >= end) return;
  inner_.clear();
  for (uint32_t e = begin; e < end; ++e) {
    const bool has = unexplained_ < all.size() && all[unexplained_].first == e;
    AppendVarint(has ? static_cast<uint64_t>(all[unexplained_++].second.picos() / 1000) : 0, &inner_);
  }
  AddList(field, inner_);
}

void FrameMaker::AddDepReleases(size_t field) {
  if (g_.dep_release.empty()) return;
  bool any = false;
  inner_.clear();
  for (uint32_t e = g_.dep_begin[row_]; e < g_.dep_begin[row_ + 1]; ++e) {
    any = any || g_.dep_release[e] != kReleaseAtEnd;
    AppendVarint(static_cast<uint64_t>(g_.dep_release[e]), &inner_);
  }
  if (any) AddList(field, inner_);
}

int64_t FrameMaker::Lane() const {
  const int32_t lane = g_.lane[row_];
  return lane >= 0 ? lane : rank_.side.big_lanes[static_cast<size_t>(-1 - int64_t{lane})];
}

// Adds a field that only messages and collectives have.
void FrameMaker::AddComm(size_t field) {
  const Comm& comm = g_.comm[g_.payload[row_]];
  const Peer& peer = rank_.peers[g_.payload[row_]];
  const NodeType type = g_.type[row_];
  switch (field) {
    case PlaceOf("comm_type"):
      return type == NodeType::kCollective ? AddNumber(field, comm.type) : void();
    case PlaceOf("comm_size"):
    case PlaceOf("comm_size early"):
      return comm.has_bytes ? AddNumber(field, static_cast<int64_t>(comm.bytes)) : void();
    case PlaceOf("root"):
      return peer.root != kNoRank ? AddNumber(field, peer.root) : void();
    case PlaceOf("comm_dst"):
      return type == NodeType::kSend ? AddNumber(field, peer.dst) : void();
    case PlaceOf("comm_src"):
      return type == NodeType::kRecv ? AddNumber(field, peer.src) : void();
    case PlaceOf("comm_tag"):
      return type != NodeType::kCollective ? AddNumber(field, peer.tag) : void();
    case PlaceOf("eager"):
      return comm.eager ? AddNumber(field, 1) : void();
    case PlaceOf("transfer_ns"): {
      const Time transfer = g_.transfer_of(g_.payload[row_]);
      return transfer != Time::Never() ? AddNumber(field, transfer.picos() / 1000) : void();
    }
    default:
      return AddText(field, rank_.group_names[peer.group]);
  }
}

void FrameMaker::AddField(size_t field, SideTable::Frames::Reader* from) {
  switch (field) {
    case PlaceOf("id"):
      return wire::AppendNumber(kNodeId, g_.id[row_], &frame_);
    case PlaceOf("name"):
      return wire::AppendText(kNodeName, g_.name_of(row_), &frame_);
    case PlaceOf("type"):
      return wire::AppendNumber(kNodeType, static_cast<uint64_t>(g_.type[row_]), &frame_);
    case PlaceOf("micros"):
      wire::AppendNumber(kNodeStart, static_cast<uint64_t>(StartNs()) / 1000, &frame_);
      return wire::AppendNumber(kNodeDuration, static_cast<uint64_t>(DurationNs() + 500) / 1000, &frame_);
    case PlaceOf("values"):
      inner_.clear();
      wire::AppendText(kIoValues, rank_.side.strings.Get(from->Text()), &inner_);
      return wire::AppendText(kNodeInputs, inner_, &frame_);
    case PlaceOf("operands"):
      return AddOperands();
    case PlaceOf("data_deps"):
    case PlaceOf("data_deps down"):
      return AddDeps(field == PlaceOf("data_deps down"));
    case PlaceOf("is_cpu_op"):
      return AddNumber(field, g_.is_cpu(row_) ? 1 : 0);
    case PlaceOf("tid"):
    case PlaceOf("stream"):
    case PlaceOf("stream late"):
      return AddNumber(field, Lane());
    case PlaceOf("start_ns"):
      return AddNumber(field, StartNs());
    case PlaceOf("duration_ns"):
      return AddNumber(field, DurationNs());
    case PlaceOf("dep_delay_ns"):
      return AddDepDelays(field);
    case PlaceOf("dep_unexplained_ns"):
      return AddDepUnexplained(field);
    case PlaceOf("dep_release"):
      return AddDepReleases(field);
    case PlaceOf("kernel_hash"):
      return AddText(field, Text(g_.code));
    case PlaceOf("num_ops"):
      return AddNumber(field, g_.work[g_.payload[row_]].num_ops);
    case PlaceOf("tensor_size"):
    case PlaceOf("tensor_size moved"):
      return AddNumber(field, static_cast<int64_t>(g_.work[g_.payload[row_]].tensor_bytes));
    case PlaceOf("comm_kind"):
      return AddText(field, g_.kept_kind(row_));
    case PlaceOf("comm_type"):
    case PlaceOf("comm_size"):
    case PlaceOf("comm_size early"):
    case PlaceOf("pg_name"):
    case PlaceOf("pg_name early"):
    case PlaceOf("root"):
    case PlaceOf("comm_dst"):
    case PlaceOf("comm_src"):
    case PlaceOf("comm_tag"):
    case PlaceOf("eager"):
    case PlaceOf("transfer_ns"):
      return AddComm(field);
    case PlaceOf("more"):
      return Add(&more_);
    default:
      break;
  }
  if (!HoldsText(kFrameFields[field])) return AddNumber(field, from->Number(field));
  const absl::string_view text = rank_.side.strings.Get(from->Text());
  return kFrameFields[field].kind == ValueField::kString ? AddText(field, text) : AddList(field, text);
}

}  // namespace

absl::Status WriteFrames(const RankDraft& rank, EtWriter* writer) {
  RETURN_IF_ERROR(writer->AddFrame(rank.metadata));
  FrameMaker frames(rank);
  for (uint32_t row = 0; row < rank.graph.size(); ++row) {
    RETURN_IF_ERROR(writer->AddFrame(frames.Next()));
  }
  return absl::OkStatus();
}

std::shared_ptr<const RawFrames> FramesOf(const RankDraft& rank) {
  auto raw = std::make_shared<RawFrames>();
  raw->begin = {0, rank.metadata.size()};
  raw->bytes = rank.metadata;
  FrameMaker frames(rank);
  for (uint32_t row = 0; row < rank.graph.size(); ++row) {
    const absl::string_view frame = frames.Next();
    raw->bytes.append(frame.data(), frame.size());
    raw->begin.push_back(raw->bytes.size());
  }
  return raw;
}

}  // namespace chakra
