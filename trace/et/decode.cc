#include "trace/et/decode.h"

#include <bit>
#include <limits>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/et/read_options.h"
#include "trace/io/sniff.h"

namespace chakra {
namespace {

constexpr size_t kCheckIdsFrom = size_t{1} << 22;

absl::string_view AsText(const uint8_t* p, size_t n) { return {reinterpret_cast<const char*>(p), n}; }

// Whether `frame` consists only of well-formed attributes in field 2, like a GlobalMetadata without a
// version. A Node without an id begins with the same bytes.
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

// Whether `frame` has fields of schema 0.0.1 that 0.0.4 lacks.
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
  ClearDraft(&g_);
  peers_.clear();
  for (auto* v : {&offset_, &start_ns_, &data_, &ctrl_, &data_begin_, &ctrl_begin_}) v->clear();
  delays_ = unexplained_ = releases_ = ValuesOfRows();
  causes_.clear();
  varying_.clear();
  varying_before_ = 0;
  all_noted_ = true;
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
    raw_->bytes.reserve(content.size());
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
    if (!wire::ReadVarint(&frames, &length) || length > frames.left())
      return true;  // the caller's loop reports the error
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
                    absl::StrCat("not a Chakra trace: the first frame is not a message (", wrong, ")",
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
  status_ = absl::InvalidArgumentError(absl::StrCat(status_.message(), "; this may not be a Chakra trace"));
  return false;
}

bool Decoder::ReadFrames() {
  if (base_ == end_)
    return FailFile(0, "the file is empty, expected a Chakra trace or a capture; copy or record it again");
  if (LooksLikeAppleDouble(AsText(base_, static_cast<size_t>(end_ - base_)))) {
    return FailFile(
        0,
        "an AppleDouble file, in which macOS keeps the attributes of another file (as \"._NAME\"), "
        "expected that file, a Chakra trace");
  }
  wire::Cursor c = {base_, end_};
  wire::Cursor frame = {nullptr, nullptr};
  bool truncated = false;
  if (!ReadFrameLength(&c, &frame, &truncated) || !ReadFirst(frame)) return false;
  while (!c.done()) {
    if (!ReadFrameLength(&c, &frame, &truncated)) return false;
    if (!truncated && !ReadNode(frame)) return false;
    // A frame without an id may be one byte, but fills a row of every column. Find duplicate ids early,
    // before memory runs out.
    if (g_.id.size() >= kCheckIdsFrom && std::has_single_bit(g_.id.size()) && !IndexIds()) return false;
    if (g_.id.size() >= kNoRow - 1) return FailFile(Offset(c.p), "more than 2^32 - 2 nodes");
  }
  if (g_.id.empty()) Note("no_nodes", 0, "metadata, but no node");
  return true;
}

absl::StatusOr<RankTrace> Decoder::Decode(absl::string_view content, absl::string_view file, int rank,
                                          const ReadOptions& options) {
  Reset(content, file, rank, options);
  if (const DecodedRank* like = options.keep_raw ? nullptr : alike_.Find(content); like != nullptr) {
    if (TakeAlike(*like, content)) return std::move(out_);
    Reset(content, file, rank, options);
  }
  if (!ReadFrames()) return status_;
  data_begin_.push_back(data_.size());
  ctrl_begin_.push_back(ctrl_.size());
  if (!IndexIds() || !ResolveDeps(true) || !ConvertStarts()) return status_;
  DropEmptyColumns(&g_);
  if (options.strict && !out_.repairs.empty()) {
    const Repair& r = out_.repairs.front();
    return absl::InvalidArgumentError(absl::StrCat(Subject(), ", node ", r.first_node, ": ", r.kind, ", ",
                                                   r.count, " times; ", r.detail,
                                                   " (an error because strict)"));
  }
  ASSIGN_OR_RETURN(out_.graph, FinishDeps());
  out_.raw = std::move(raw_);
  out_.peers = pool_->columns().Share(peers_);
  if (!options.keep_raw) KeepForOthers(content);
  return std::move(out_);
}

bool Decoder::TakeAlike(const DecodedRank& like, absl::string_view content) {
  peers_ = like.peers;
  for (const VaryingValue& v : like.varying) {
    const absl::string_view bytes = content.substr(v.begin, v.end - v.begin);
    if (v.kind == VaryingValue::kGroup) {
      const uint32_t group = GroupIndex(bytes);
      if (v.peer != kNoRow) peers_[v.peer].group = group;
      continue;
    }
    wire::Cursor c = {base_ + v.begin, base_ + v.end};
    uint64_t value = 0;
    if (!wire::ReadVarint(&c, &value) || value > std::numeric_limits<int32_t>::max()) return false;
    if (v.peer == kNoRow) continue;
    Peer& peer = peers_[v.peer];
    (v.kind == VaryingValue::kSource        ? peer.src
     : v.kind == VaryingValue::kDestination ? peer.dst
                                            : peer.tag) = static_cast<int32_t>(value);
  }
  out_.graph = like.graph;
  out_.metadata = like.metadata;
  out_.peers = pool_->columns().Share(peers_);
  return true;
}

void Decoder::KeepForOthers(absl::string_view content) {
  if (!all_noted_ || !out_.repairs.empty() || !group_nodes_.empty() || !alike_.Wants(content.size())) return;
  alike_.Keep({std::string(content), varying_, peers_, out_.graph, out_.metadata});
}

}  // namespace chakra
