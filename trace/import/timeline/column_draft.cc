#include "trace/import/timeline/column_draft.h"

namespace chakra::pytorch {
namespace {

// Bits of a row's first byte: the fields that differ from their usual value and follow.
constexpr uint8_t kHost = 1, kType = 2, kLane = 4, kShapes = 8, kTypes = 16, kCode = 32, kWork = 64,
                  kCall = 128;
// Bits of a dependency's first byte: its cause, and flags for the fields that follow.
constexpr uint8_t kCause = 15, kUnexplained = 16, kRelease = 32;
static_assert(kDelayCauses <= kCause);

// Flag in the byte with a row's type.
constexpr uint8_t kCopy = 128;

constexpr bool Knows(const Work& work) { return work.has_num_ops || work.has_tensor_bytes; }

}  // namespace

void ColumnDraft::Add(const DraftRow& row) {
  const bool lane = row.lane != before_.lane, work = Knows(row.work), call = row.comm != kNoRow;
  const bool typed = row.type != NodeType::kComp || row.copy;
  numbers_.Begin();
  numbers_.Byte(static_cast<uint8_t>((row.host ? kHost : 0) | (typed ? kType : 0) | (lane ? kLane : 0) |
                                     (row.shapes != 0 ? kShapes : 0) | (row.types != 0 ? kTypes : 0) |
                                     (row.code != 0 ? kCode : 0) | (work ? kWork : 0) | (call ? kCall : 0)));
  numbers_.Number(row.name);
  numbers_.Change(before_.start_ns, row.start_ns);
  numbers_.Number(static_cast<uint64_t>(row.duration_ns));
  numbers_.Number(row.deps);
  if (typed) numbers_.Byte(static_cast<uint8_t>(static_cast<uint8_t>(row.type) | (row.copy ? kCopy : 0)));
  if (lane) numbers_.Signed(row.lane);
  if (row.shapes != 0) numbers_.Number(row.shapes);
  if (row.types != 0) numbers_.Number(row.types);
  if (row.code != 0) numbers_.Number(row.code);
  if (work) {
    numbers_.Byte(static_cast<uint8_t>((row.work.has_num_ops ? 1 : 0) | (row.work.has_tensor_bytes ? 2 : 0)));
    numbers_.Signed(row.work.num_ops);
    numbers_.Number(row.work.tensor_bytes);
  }
  if (call) {
    numbers_.Change(before_.comm, row.comm);
    numbers_.Number(row.strings);
    numbers_.Signed(row.moved);
    before_.comm = row.comm;
  }
  before_.start_ns = row.start_ns;
  before_.lane = row.lane;
  ++rows_;
  works_ += work ? 1 : 0;
  has_types_ = has_types_ || row.types != 0;
  has_code_ = has_code_ || row.code != 0;
  first_ns_ = std::min(first_ns_, row.start_ns);
  last_ns_ = std::max(last_ns_, row.start_ns);
}

void ColumnDraft::Add(const DraftDep& dep) {
  const bool unexplained = dep.unexplained_ns != 0, release = dep.release != kReleaseAtEnd;
  numbers_.Begin();
  numbers_.Byte(static_cast<uint8_t>(static_cast<uint8_t>(dep.cause) | (unexplained ? kUnexplained : 0) |
                                     (release ? kRelease : 0)));
  numbers_.Number(rows_ - dep.row);
  numbers_.Number(static_cast<uint64_t>(dep.delay_ns));
  if (unexplained) numbers_.Signed(dep.unexplained_ns);
  if (release) numbers_.Signed(dep.release);
  ++deps_;
  releases_ = releases_ || release;
}

void ColumnDraft::Reader::Read(DraftRow* row) {
  in_.Begin();
  const uint8_t what = in_.Byte();
  *row = DraftRow();
  row->host = (what & kHost) != 0;
  row->name = in_.Number32();
  row->start_ns = before_.start_ns = in_.Change(before_.start_ns);
  row->duration_ns = static_cast<int64_t>(in_.Number());
  row->deps = in_.Number32();
  if ((what & kType) != 0) {
    const uint8_t type = in_.Byte();
    row->type = static_cast<NodeType>(type & ~kCopy);
    row->copy = (type & kCopy) != 0;
  }
  if ((what & kLane) != 0) before_.lane = static_cast<int32_t>(in_.Signed());
  row->lane = before_.lane;
  if ((what & kShapes) != 0) row->shapes = in_.Number32();
  if ((what & kTypes) != 0) row->types = in_.Number32();
  if ((what & kCode) != 0) row->code = in_.Number32();
  if ((what & kWork) != 0) {
    const uint8_t has = in_.Byte();
    row->work.has_num_ops = (has & 1) != 0;
    row->work.has_tensor_bytes = (has & 2) != 0;
    row->work.num_ops = in_.Signed();
    row->work.tensor_bytes = in_.Number();
  }
  if ((what & kCall) != 0) {
    row->comm = before_.comm = static_cast<uint32_t>(in_.Change(before_.comm));
    row->strings = in_.Number32();
    row->moved = in_.Signed();
  }
  ++row_;
}

void ColumnDraft::Reader::Read(DraftDep* dep) {
  in_.Begin();
  const uint8_t what = in_.Byte();
  dep->cause = static_cast<DelayCause>(what & kCause);
  dep->row = row_ - in_.Number32();
  dep->delay_ns = static_cast<int64_t>(in_.Number());
  dep->unexplained_ns = (what & kUnexplained) != 0 ? in_.Signed() : 0;
  dep->release = (what & kRelease) != 0 ? in_.Signed() : kReleaseAtEnd;
}

}  // namespace chakra::pytorch
