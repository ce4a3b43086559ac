#include "trace/et/like_rank.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/base/wire.h"
#include "trace/model/attribute.h"
#include "trace/model/node_fields.h"

namespace chakra {
namespace {

bool NamesGroup(AttributeKey key) {
  return key == AttributeKey::kGroupName || key == AttributeKey::kCommGroup;
}

bool NamesRank(AttributeKey key) {
  return key == AttributeKey::kCommSrc || key == AttributeKey::kCommDst || key == AttributeKey::kRoot;
}

// Whether `f` is a nonnegative integer whose varint is its value (not zigzag).
bool PlainVarint(const wire::Field& f) {
  return f.type == wire::kVarint && f.number <= 13 && f.bits <= std::numeric_limits<int32_t>::max();
}

// Returns the end of a field that is a text or a varint.
const uint8_t* EndOf(const wire::Field& f) {
  if (f.type == wire::kBytes) return f.p + f.bits;
  wire::Cursor c = {f.at, f.at + 20};
  uint64_t tag = 0, value = 0;
  wire::ReadVarint(&c, &tag);
  wire::ReadVarint(&c, &value);
  return c.p;
}

}  // namespace

absl::StatusOr<LikeRank> LikeRank::Make(const RankTrace& of) {
  LikeRank like;
  like.raw_ = of.raw.get();
  for (size_t frame = 1; frame + 1 < of.raw->begin.size(); ++frame) {
    RETURN_IF_ERROR(like.FindValues(of, frame));
  }
  return like;
}

absl::Status LikeRank::FindValues(const RankTrace& of, size_t frame) {
  const wire::Cursor whole = wire::CursorOf(raw_->frame(frame));
  const auto at = [&](const uint8_t* p) { return static_cast<uint64_t>(p - whole.p); };
  const NodeType type = of.graph->type[frame - 1];
  const bool communicates =
      type == NodeType::kSend || type == NodeType::kRecv || type == NodeType::kCollective;
  wire::Field f;
  for (wire::Cursor c = whole; !c.done();) {
    if (wire::ReadField(&c, &f) != nullptr) break;  // cannot happen: the decoder has read this frame
    if (f.number != kNodeAttr || f.type != wire::kBytes) continue;
    Attribute a;
    const uint8_t* wrong = nullptr;
    if (ReadAttribute(f.message(), &a, &wrong) != nullptr) continue;
    const AttributeKey key = FindAttributeKey(a.name);
    const bool group = NamesGroup(key);
    if (!group && !(communicates && NamesRank(key))) continue;
    if (group ? a.value.number != 29 : !PlainVarint(a.value)) {
      return absl::InvalidArgumentError(
          absl::StrCat(of.file, ": rank ", of.rank, ", node ", of.graph->id[frame - 1], ", attribute ",
                       a.name, ": other ranks share this file, which needs ",
                       group ? "string_val" : "a rank as an integer, such as int32_val,", " here; found ",
                       ValueKind(a.value.number)));
    }
    Value& v = values_.emplace_back();
    v.frame = frame;
    v.field = at(f.at);
    v.message = at(f.p);
    v.message_end = at(f.p) + f.bits;
    v.value = at(a.value.at);
    v.group = group;
    v.value_end = at(EndOf(a.value));
    if (!group) v.rank = static_cast<int>(a.value.bits);
  }
  return absl::OkStatus();
}

void LikeRank::AppendAttribute(absl::string_view frame, const Value& v, const RankIndex& index, int rank,
                               std::string* out) const {
  wire::Cursor c = wire::CursorOf(frame.substr(v.value, v.value_end - v.value));
  wire::Field old;
  wire::ReadField(&c, &old);
  std::string message(frame.substr(v.message, v.value - v.message));
  if (v.group) {
    wire::AppendText(old.number, old.bits == 0 ? "" : index.GroupFor(rank, old.text()), &message);
  } else {
    wire::AppendNumber(old.number, static_cast<uint64_t>(index.RankFor(rank, v.rank)), &message);
  }
  message.append(frame.data() + v.value_end, v.message_end - v.value_end);
  wire::AppendText(kNodeAttr, message, out);
}

void LikeRank::AppendFrames(const RankIndex& index, int rank, std::string* out) const {
  size_t next = 0;
  std::string body;
  for (size_t i = raw_->has_metadata ? 0 : 1; i + 1 < raw_->begin.size(); ++i) {
    const absl::string_view frame = raw_->frame(i);
    body.clear();
    uint64_t done = 0;
    for (; next < values_.size() && values_[next].frame == i; ++next) {
      const Value& v = values_[next];
      body.append(frame.data() + done, v.field - done);
      AppendAttribute(frame, v, index, rank, &body);
      done = v.message_end;
    }
    body.append(frame.data() + done, frame.size() - done);
    wire::AppendVarint(body.size(), out);
    out->append(body);
  }
}

}  // namespace chakra
