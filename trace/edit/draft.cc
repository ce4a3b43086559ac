#include "trace/edit/draft.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/model/device_copy.h"

namespace chakra::edit {
namespace {

int64_t NanosOf(Time t) { return (t.picos() + 500) / 1000; }

// Returns the start as written, in nanoseconds: start_ns or start_time_micros.
int64_t RawStartOf(absl::string_view body) {
  Attribute a;
  __int128 v = 0;
  if (FindAttribute(body, kNodeAttr, "start_ns", &a) && ToInteger(a, &v)) return static_cast<int64_t>(v);
  wire::Cursor c = wire::CursorOf(body);
  wire::Field f;
  uint64_t micros = 0;
  while (!c.done() && wire::ReadField(&c, &f) == nullptr) {
    if (f.number == kNodeStart && f.type == wire::kVarint) micros = f.bits;
  }
  return static_cast<int64_t>(micros) * 1000;
}

}  // namespace

Draft::Draft(RankTrace trace) : trace_(std::move(trace)), rank_(trace_.rank) {
  const Graph& g = *trace_.graph;
  rows_.resize(g.size());
  for (uint32_t i = 0; i < g.size(); ++i) {
    Row& r = rows_[i];
    r.body = trace_.raw->frame(i + 1);
    r.id = g.id[i];
    last_id_ = std::max(last_id_, r.id);
    r.name = g.name_of(i);
    r.type = g.type[i];
    r.flags = g.flags[i];
    r.duration = g.duration[i];
    if (!g.start.empty()) r.start = g.start[i];
    if (!g.lane.empty()) r.lane = g.lane[i];
    if (!g.shapes.empty()) r.shapes = g.strings.Get(g.shapes[i]);
    if (!g.types.empty()) r.types = g.strings.Get(g.types[i]);
    if (g.payload[i] == kNoRow) continue;
    if (r.is_comm()) {
      r.comm = g.comm[g.payload[i]];
      r.transfer = g.transfer_of(g.payload[i]);
      r.peer = trace_.peers[g.payload[i]];
      r.group = trace_.group_names[r.peer.group];
    } else {
      r.work = g.work[g.payload[i]];
    }
  }
  has_starts_ = !g.start.empty();
  if (has_starts_ && g.size() > 0) epoch_ns_ = RawStartOf(rows_[0].body) - rows_[0].start.picos() / 1000;
  ignore_ctrl_ = std::any_of(trace_.repairs.begin(), trace_.repairs.end(),
                             [](const Repair& r) { return r.kind == "cyclic_ctrl_deps"; });
}

absl::string_view Draft::Keep(absl::string_view text) {
  constexpr size_t kBlock = 1 << 18;
  if (text.empty()) return absl::string_view("", 0);
  if (text.size() > left_) {
    left_ = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
    free_ = blocks_.back().get();
  }
  std::memcpy(free_, text.data(), text.size());
  const absl::string_view kept(free_, text.size());
  free_ += text.size();
  left_ -= text.size();
  return kept;
}

std::string Draft::Describe(uint32_t r) const {
  return absl::StrCat("node ", rows_[r].id, " (\"", rows_[r].name, "\")");
}

absl::Status Draft::Error(uint32_t r, absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(Describe(r), ": ", what));
}

void Draft::Touch(uint32_t r, uint8_t what) {
  if (!rows_[r].changed) ++changed_;
  rows_[r].changed = true;
  rows_[r].dirty |= what;
}

void Draft::SetName(uint32_t r, absl::string_view name) {
  Row& row = rows_[r];
  row.body = Keep(WithText(row.body, kNodeName, name));
  row.name = Keep(name);
  Touch(r);
}

void Draft::SetDuration(uint32_t r, Time duration) {
  rows_[r].duration = duration;
  Touch(r, kDuration);
}

void Draft::SetStart(uint32_t r, Time start) {
  rows_[r].start = start;
  Touch(r, kStart);
  Changed();
}

void Draft::SetBytes(uint32_t r, uint64_t bytes) {
  Row& row = rows_[r];
  (row.is_comm() ? row.comm.bytes : row.work.tensor_bytes) = bytes;
  (row.is_comm() ? row.comm.has_bytes : row.work.has_tensor_bytes) = true;
  Touch(r, kBytes);
}

void Draft::SetOperations(uint32_t r, int64_t operations) {
  rows_[r].work.num_ops = operations;
  rows_[r].work.has_num_ops = true;
  Touch(r, kOperations);
}

void Draft::SetTransfer(uint32_t r, Time transfer) {
  rows_[r].transfer = transfer;
  Touch(r, kTransfer);
}

void Draft::SetLane(uint32_t r, bool cpu, int32_t lane) {
  Row& row = rows_[r];
  std::string body = std::string(row.body);
  if (cpu != row.cpu() || (row.flags & kHasCpuAttr) == 0) {
    body = WithInteger(body, kNodeAttr, "is_cpu_op", ValueField::kBool, cpu ? 1 : 0);
    row.flags = (row.flags & (kKeptComm | kDeviceCopy)) | kHasCpuAttr | (cpu ? kIsCpuOp : 0);
  }
  body = WithInteger(body, kNodeAttr, cpu ? "tid" : "stream", ValueField::kInt64, lane);
  row.body = Keep(body);
  row.lane = lane;
  Touch(r);
  Changed();
}

void Draft::CopyLane(uint32_t r, uint32_t from) {
  const Row& like = rows_[from];
  const char* name = like.cpu() ? "tid" : "stream";
  Attribute a;
  __int128 v = 0;
  SetLane(r, like.cpu(), like.lane);
  if (!Attr(from, name, &a) && !Attr(from, "tid", &a)) return;
  if (ToInteger(a, &v))
    rows_[r].body = Keep(WithInteger(rows_[r].body, kNodeAttr, name, ValueField::kInt64, v));
}

void Draft::SetCollective(uint32_t r, CollectiveType type) {
  Row& row = rows_[r];
  row.comm.type = static_cast<uint8_t>(type);
  row.body = Keep(WithInteger(row.body, kNodeAttr, "comm_type", ValueField::kInt64, row.comm.type));
  Touch(r);
}

void Draft::SetGroup(uint32_t r, absl::string_view group) {
  Row& row = rows_[r];
  row.group = Keep(group);
  Attribute a;
  const bool old = !Attr(r, "pg_name", &a) && Attr(r, "comm_group", &a);
  row.body =
      Keep(WithString(old ? WithoutAttribute(row.body, kNodeAttr, "comm_group") : std::string(row.body),
                      kNodeAttr, "pg_name", group));
  Touch(r);
  Changed();
}

void Draft::SetPeer(uint32_t r, const Peer& peer) {
  Row& row = rows_[r];
  const auto set = [&](const char* name, int32_t old, int32_t now) {
    Attribute a;
    if (old == now || !Attr(r, name, &a)) return;
    row.body = Keep(WithInteger(row.body, kNodeAttr, name, ValueField::kInt32, now));
    Touch(r);
  };
  set("comm_src", row.peer.src, peer.src);
  set("comm_dst", row.peer.dst, peer.dst);
  set("comm_tag", row.peer.tag, peer.tag);
  for (const char* name : {"root", "comm_root", "root_rank"}) set(name, row.peer.root, peer.root);
  row.peer = peer;
}

void Draft::SetInputs(uint32_t r, absl::string_view shapes, absl::string_view types) {
  Row& row = rows_[r];
  wire::Cursor c = wire::CursorOf(row.body);
  wire::Field f;
  std::string io;
  while (!c.done() && wire::ReadField(&c, &f) == nullptr) {
    if (f.number == kNodeInputs && f.type == wire::kBytes) io = std::string(f.text());
  }
  io = WithText(WithText(io, kIoShapes, shapes), kIoTypes, types);
  row.body = Keep(WithText(row.body, kNodeInputs, io));
  row.shapes = Keep(shapes);
  row.types = Keep(types);
  Touch(r);
}

absl::string_view Draft::InputValues(uint32_t r) const {
  absl::string_view values;
  wire::Field f;
  for (wire::Cursor c = wire::CursorOf(rows_[r].body); !c.done() && wire::ReadField(&c, &f) == nullptr;) {
    if (f.number != kNodeInputs || f.type != wire::kBytes) continue;
    wire::Field of_io;
    for (wire::Cursor io = f.message(); !io.done() && wire::ReadField(&io, &of_io) == nullptr;) {
      if (of_io.number == kIoValues && of_io.type == wire::kBytes) values = of_io.text();
    }
  }
  return values;
}

void Draft::SetInputValues(uint32_t r, absl::string_view values) {
  std::string io;
  wire::AppendText(kIoValues, values, &io);
  rows_[r].body = Keep(WithText(rows_[r].body, kNodeInputs, io));
  Touch(r);
}

void Draft::SetBody(uint32_t r, std::string body) {
  rows_[r].body = Keep(body);
  Touch(r);
}

int64_t Draft::RawStart(Time start) const { return epoch_ns_ + NanosOf(start); }

void Draft::FlushTimes(uint32_t r) {
  Row& row = rows_[r];
  std::string body(row.body);
  Attribute a;
  if ((row.dirty & kDuration) != 0) {
    const int64_t ns = NanosOf(row.duration);
    body = WithNumber(body, kNodeDuration, static_cast<uint64_t>((ns + 500) / 1000));
    if (ns % 1000 != 0 || FindAttribute(body, kNodeAttr, "duration_ns", &a))
      body = WithInteger(body, kNodeAttr, "duration_ns", ValueField::kInt64, ns);
  }
  if ((row.dirty & kStart) != 0) {
    const int64_t ns = RawStart(row.start);
    body = WithNumber(body, kNodeStart, static_cast<uint64_t>(ns / 1000));
    if (ns % 1000 != 0 || FindAttribute(body, kNodeAttr, "start_ns", &a))
      body = WithInteger(body, kNodeAttr, "start_ns", ValueField::kInt64, ns);
  }
  if ((row.dirty & kTransfer) != 0)
    body = WithInteger(body, kNodeAttr, "transfer_ns", ValueField::kInt64, NanosOf(row.transfer));
  row.body = Keep(body);
}

void Draft::Flush(uint32_t r) {
  Row& row = rows_[r];
  if (row.dirty == 0) return;
  if ((row.dirty & kDeps) != 0) FlushDeps(r);
  if ((row.dirty & (kDuration | kStart | kTransfer)) != 0) FlushTimes(r);
  if ((row.dirty & (kBytes | kOperations)) != 0) {
    scratch_.assign(row.body.data(), row.body.size());
    if ((row.dirty & kBytes) != 0) {
      Attribute a;
      // Chakra's own generator writes the size of a message as tensor_size.
      const bool message = row.is_comm() && (row.type == NodeType::kCollective || Attr(r, "comm_size", &a) ||
                                             !Attr(r, "tensor_size", &a));
      SetInteger(&scratch_, kNodeAttr, message ? "comm_size" : "tensor_size",
                 message ? ValueField::kInt64 : ValueField::kUint64, row.bytes());
    }
    if ((row.dirty & kOperations) != 0)
      SetInteger(&scratch_, kNodeAttr, "num_ops", ValueField::kInt64, row.work.num_ops);
    row.body = Keep(scratch_);
  }
  row.dirty = 0;
}

uint32_t Draft::Push(Row row, absl::string_view body) {
  row.added = row.changed = true;
  ++changed_;
  row.body = Keep(body);
  const auto r = static_cast<uint32_t>(rows_.size());
  row_of_.emplace(row.id, r);
  rows_.push_back(row);
  deps_.emplace_back();
  children_.emplace_back();
  Changed();
  return r;
}

uint32_t Draft::Add(const NewRow& spec, Time start) {
  OpenGraph();
  Row row;
  row.id = ++last_id_;
  row.type = spec.type;
  row.flags = kHasCpuAttr | (spec.cpu ? kIsCpuOp : 0);
  row.lane = spec.lane;
  row.duration = spec.duration;
  row.start = start;
  std::string body;
  wire::AppendNumber(kNodeId, row.id, &body);
  if (!spec.name.empty()) wire::AppendText(kNodeName, spec.name, &body);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(spec.type), &body);
  body = WithInteger(body, kNodeAttr, "is_cpu_op", ValueField::kBool, spec.cpu ? 1 : 0);
  const auto integer = [&](const char* name, ValueField field, __int128 v) {
    body = WithInteger(body, kNodeAttr, name, field, v);
  };
  if (spec.lane != kNoLane) integer(spec.cpu ? "tid" : "stream", ValueField::kInt64, spec.lane);
  if (row.is_comm()) {
    row.comm.bytes = spec.bytes;
    row.comm.has_bytes = true;
    integer("comm_size", ValueField::kInt64, spec.bytes);
    if (spec.type == NodeType::kCollective) {
      row.comm.type = static_cast<uint8_t>(spec.collective);
      integer("comm_type", ValueField::kInt64, row.comm.type);
    } else {
      row.peer.tag = spec.tag;
      (spec.type == NodeType::kSend ? row.peer.dst : row.peer.src) = spec.peer;
      integer(spec.type == NodeType::kSend ? "comm_dst" : "comm_src", ValueField::kInt32, spec.peer);
      integer("comm_tag", ValueField::kInt32, spec.tag);
    }
    if (!spec.group.empty()) body = WithString(body, kNodeAttr, "pg_name", spec.group);
    row.group = Keep(spec.group);
  } else {
    row.work = {spec.operations, spec.bytes, spec.operations > 0, spec.bytes > 0};
    if (spec.operations > 0) integer("num_ops", ValueField::kInt64, spec.operations);
    if (spec.bytes > 0) integer("tensor_size", ValueField::kUint64, spec.bytes);
  }
  row.name = Keep(spec.name);
  const uint32_t r = Push(row, body);
  if (spec.duration > Time::Zero()) Touch(r, kDuration);
  if (has_starts_) Touch(r, kStart);
  return r;
}

uint32_t Draft::Clone(uint32_t r) {
  OpenGraph();
  Flush(r);
  Row row = rows_[r];
  row.id = ++last_id_;
  std::string body = WithNumber(row.body, kNodeId, row.id);
  for (const uint32_t field : {kNodeCtrlDeps, kNodeDataDeps}) body = WithNumbers(body, field, {});
  for (const char* name : {"dep_kinds", "dep_delay_ns", "dep_unexplained_ns", "dep_release"})
    body = WithoutAttribute(body, kNodeAttr, name);
  return Push(row, body);
}

absl::Status Draft::Write(std::string* out) {
  if (open_) {
    RETURN_IF_ERROR(Order().status());
  }
  KeepParents();
  out->reserve(out->size() + trace_.raw->bytes.size() + trace_.metadata.size() + size_t{8} * rows_.size() +
               64);
  const auto frame = [&](absl::string_view body) {
    wire::AppendVarint(body.size(), out);
    out->append(body.data(), body.size());
  };
  if (trace_.raw->has_metadata || !trace_.metadata.empty()) frame(trace_.metadata);
  for (uint32_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].removed) continue;
    Flush(r);
    frame(rows_[r].body);
  }
  return absl::OkStatus();
}

}  // namespace chakra::edit
