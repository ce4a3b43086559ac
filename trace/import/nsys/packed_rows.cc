#include "trace/import/nsys/packed_rows.h"

#include <utility>

namespace chakra::nsys {
namespace {

using pytorch::DeviceExtra;
using pytorch::DeviceTrace;
using pytorch::Event;
using pytorch::EventKind;
using pytorch::kNone;
using pytorch::OpExtra;
using pytorch::SyncExtra;

// The first byte of a row: its kind, and what else follows.
constexpr uint8_t kKind = 15, kLane = 16, kCorrelation = 32, kNext = 64, kExtra = 128;
constexpr uint8_t kEndOfChunk = kKind;  // no kind

// Differences wrap around, so that any two numbers have one.
int64_t Less(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t More(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

void PackedRows::Begin(const Event& e, bool extra) {
  if (at_ == nullptr || static_cast<size_t>(end_ - at_) < kMostOfRow) {
    if (at_ != nullptr) *at_ = kEndOfChunk;
    chunks_.push_back(std::make_unique_for_overwrite<uint8_t[]>(kChunk));
    at_ = chunks_.back().get();
    end_ = at_ + kChunk;
  }
  ++rows_;
  uint32_t& lane = pytorch::OnHost(e.kind) ? before_.host_lane : before_.device_lane;
  const bool numbered = e.correlation != kNone, next = numbered && e.correlation == before_.correlation + 1;
  *at_++ = static_cast<uint8_t>(static_cast<uint8_t>(e.kind) | (e.lane != lane ? kLane : 0) |
                                (numbered ? kCorrelation : 0) | (next ? kNext : 0) | (extra ? kExtra : 0));
  Signed(Less(e.ts, before_.ts));
  Number(static_cast<uint64_t>(e.dur));
  Number(e.name);
  if (e.lane != lane) Number(e.lane);
  if (numbered && !next) Signed(Less(e.correlation, before_.correlation));
  before_.ts = e.ts;
  lane = e.lane;
  if (numbered) before_.correlation = e.correlation;
}

void PackedRows::Add(const Event& event) { Begin(event, false); }

void PackedRows::Add(const Event& event, const OpExtra& extra) {
  Begin(event, true);
  Signed(Less(extra.seq, before_.seq));
  Number(extra.shapes);
  Number(static_cast<uint32_t>(extra.comm + 1));  // kNoRow is 0
  before_.seq = extra.seq;
  ++ops_;
}

void PackedRows::Add(const Event& event, const DeviceExtra& extra) {
  Begin(event, true);
  Signed(extra.bytes);
  for (int i = 0; i < 3; ++i) {
    Number(extra.grid[i]);
    Number(extra.block[i]);
  }
  ++devices_;
}

void PackedRows::Add(const Event& event, const SyncExtra& extra) {
  Begin(event, true);
  *at_++ = static_cast<uint8_t>(extra.kind);
  ++syncs_;
}

class PackedRows::Reader {
 public:
  Reader(const RowNames& names, DeviceTrace* out) : names_(names), out_(out) {}

  void Read(const uint8_t* at, size_t* rows) {
    for (at_ = at; *rows > 0 && *at_ != kEndOfChunk; --*rows) ReadRow();
  }

 private:
  uint64_t Number() {
    uint64_t v = *at_ & 0x7f;
    for (int shift = 7; *at_++ >= 0x80; shift += 7) v |= static_cast<uint64_t>(*at_ & 0x7f) << shift;
    return v;
  }
  int64_t Signed() {
    const uint64_t v = Number();
    return static_cast<int64_t>(v >> 1 ^ (0 - (v & 1)));
  }
  static uint32_t Named(const std::vector<uint32_t>& rows, uint32_t row) {
    return rows.empty() ? row : rows[row];
  }
  void ReadRow();
  uint32_t ReadExtra(EventKind kind);

  const RowNames& names_;
  DeviceTrace* out_;
  const uint8_t* at_ = nullptr;
  Before before_;
};

void PackedRows::Reader::ReadRow() {
  const uint8_t what = *at_++;
  Event& e = out_->events.emplace_back();
  e.kind = static_cast<EventKind>(what & kKind);
  const bool host = pytorch::OnHost(e.kind);
  e.ts = before_.ts = More(before_.ts, Signed());
  e.dur = static_cast<int64_t>(Number());
  e.name = Named(names_.text, static_cast<uint32_t>(Number()));
  uint32_t& lane = host ? before_.host_lane : before_.device_lane;
  if ((what & kLane) != 0) lane = static_cast<uint32_t>(Number());
  e.lane = host ? Named(names_.thread, lane) : lane;
  if ((what & kCorrelation) != 0)
    e.correlation = before_.correlation = More(before_.correlation, (what & kNext) != 0 ? 1 : Signed());
  if ((what & kExtra) != 0) e.extra = ReadExtra(e.kind);
}

uint32_t PackedRows::Reader::ReadExtra(EventKind kind) {
  if (pytorch::OnHost(kind)) {
    OpExtra& extra = out_->ops.emplace_back();
    extra.seq = before_.seq = More(before_.seq, Signed());
    extra.shapes = Named(names_.text, static_cast<uint32_t>(Number()));
    const auto comm = static_cast<uint32_t>(Number() - 1);
    extra.comm = comm == kNoRow ? kNoRow : Named(names_.comm, comm);
    return static_cast<uint32_t>(out_->ops.size() - 1);
  }
  if (kind == EventKind::kSync) {
    out_->syncs.emplace_back().kind = static_cast<SyncExtra::Kind>(*at_++);
    return static_cast<uint32_t>(out_->syncs.size() - 1);
  }
  DeviceExtra& extra = out_->device.emplace_back();
  extra.bytes = Signed();
  for (int i = 0; i < 3; ++i) {
    extra.grid[i] = static_cast<uint32_t>(Number());
    extra.block[i] = static_cast<uint32_t>(Number());
  }
  return static_cast<uint32_t>(out_->device.size() - 1);
}

void PackedRows::Unpack(const RowNames& names, DeviceTrace* out) {
  Reader reader(names, out);
  for (std::unique_ptr<uint8_t[]>& chunk : chunks_) {
    reader.Read(chunk.get(), &rows_);
    chunk = nullptr;
  }
  *this = PackedRows();
}

}  // namespace chakra::nsys
