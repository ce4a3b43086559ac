#include "trace/import/nsys/packed_rows.h"

namespace chakra::nsys {
namespace {

using pytorch::DeviceExtra;
using pytorch::DeviceTrace;
using pytorch::Event;
using pytorch::EventKind;
using pytorch::kNone;
using pytorch::OpExtra;
using pytorch::SyncExtra;

// The first byte of a row: its kind, and flags of the fields that follow.
constexpr uint8_t kKind = 15, kLane = 16, kCorrelation = 32, kNext = 64, kExtra = 128;

}  // namespace

void PackedRows::Begin(const Event& e, bool extra) {
  numbers_.Begin();
  ++rows_;
  uint32_t& lane = pytorch::OnHost(e.kind) ? before_.host_lane : before_.device_lane;
  const bool numbered = e.correlation != kNone, next = numbered && e.correlation - 1 == before_.correlation;
  numbers_.Byte(static_cast<uint8_t>(static_cast<uint8_t>(e.kind) | (e.lane != lane ? kLane : 0) |
                                     (numbered ? kCorrelation : 0) | (next ? kNext : 0) |
                                     (extra ? kExtra : 0)));
  numbers_.Change(before_.ts, e.ts);
  numbers_.Number(static_cast<uint64_t>(e.dur));
  numbers_.Number(e.name);
  if (e.lane != lane) numbers_.Number(e.lane);
  if (numbered && !next) numbers_.Change(before_.correlation, e.correlation);
  before_.ts = e.ts;
  lane = e.lane;
  if (numbered) before_.correlation = e.correlation;
}

void PackedRows::Add(const Event& event) { Begin(event, false); }

void PackedRows::Add(const Event& event, const OpExtra& extra) {
  Begin(event, true);
  numbers_.Change(before_.seq, extra.seq);
  numbers_.Number(extra.shapes);
  numbers_.Number(static_cast<uint32_t>(extra.comm + 1));  // kNoRow is 0
  before_.seq = extra.seq;
  ++ops_;
}

void PackedRows::Add(const Event& event, const DeviceExtra& extra) {
  Begin(event, true);
  numbers_.Signed(extra.bytes);
  ++devices_;
}

void PackedRows::Add(const Event& event, const SyncExtra& extra) {
  Begin(event, true);
  numbers_.Byte(static_cast<uint8_t>(extra.kind));
  ++syncs_;
}

class PackedRows::Reader {
 public:
  Reader(const PackedNumbers& numbers, const RowNames& names, DeviceTrace* out)
      : in_(numbers), names_(names), out_(out) {}
  void ReadRow();

 private:
  static uint32_t Named(const std::vector<uint32_t>& rows, uint32_t row) {
    return rows.empty() ? row : rows[row];
  }
  uint32_t ReadExtra(EventKind kind);

  PackedNumbers::Reader in_;
  const RowNames& names_;
  DeviceTrace* out_;
  Before before_;
};

void PackedRows::Reader::ReadRow() {
  in_.Begin();
  const uint8_t what = in_.Byte();
  Event& e = out_->events.emplace_back();
  e.kind = static_cast<EventKind>(what & kKind);
  const bool host = pytorch::OnHost(e.kind);
  e.ts = before_.ts = in_.Change(before_.ts);
  e.dur = static_cast<int64_t>(in_.Number());
  e.name = Named(names_.text, in_.Number32());
  uint32_t& lane = host ? before_.host_lane : before_.device_lane;
  if ((what & kLane) != 0) lane = in_.Number32();
  e.lane = host ? Named(names_.thread, lane) : lane;
  if ((what & kCorrelation) != 0)
    e.correlation = before_.correlation =
        (what & kNext) != 0 ? before_.correlation + 1 : in_.Change(before_.correlation);
  if ((what & kExtra) != 0) e.extra = ReadExtra(e.kind);
}

uint32_t PackedRows::Reader::ReadExtra(EventKind kind) {
  if (pytorch::OnHost(kind)) {
    OpExtra& extra = out_->ops.emplace_back();
    extra.seq = before_.seq = in_.Change(before_.seq);
    extra.shapes = Named(names_.text, in_.Number32());
    const auto comm = static_cast<uint32_t>(in_.Number() - 1);
    extra.comm = comm == kNoRow ? kNoRow : Named(names_.comm, comm);
    return static_cast<uint32_t>(out_->ops.size() - 1);
  }
  if (kind == EventKind::kSync) {
    out_->syncs.emplace_back().kind = static_cast<SyncExtra::Kind>(in_.Byte());
    return static_cast<uint32_t>(out_->syncs.size() - 1);
  }
  DeviceExtra& extra = out_->device.emplace_back();
  extra.bytes = in_.Signed();
  return static_cast<uint32_t>(out_->device.size() - 1);
}

void PackedRows::Unpack(const RowNames& names, DeviceTrace* out) const {
  Reader reader(numbers_, names, out);
  for (size_t row = 0; row < rows_; ++row) reader.ReadRow();
}

}  // namespace chakra::nsys
