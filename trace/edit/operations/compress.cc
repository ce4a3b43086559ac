// Reduces the bytes of communication, at the cost of nodes that encode and decode.
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/edit/lane_order.h"
#include "trace/edit/operation.h"
#include "trace/edit/operations/collectives.h"

namespace chakra::edit {
namespace {

constexpr double kMostMicrosPerMb = 1e9;

// The lane of an added node.
struct Place {
  bool cpu = false;
  int32_t lane = kNoLane;
  uint32_t like = kNoRow;  // a node of this lane
};

class Compress : public Operation {
 public:
  Compress(const proto::Compress& spec, std::optional<LaneSpec> lane) : spec_(spec), lane_(lane) {}

  bool needs_shape() const override { return spec_.decode_us_per_mb() > 0; }

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    for (const uint32_t r : matches) {
      if (!draft->row(r).is_comm())
        return draft->Error(r, absl::StrCat("is a ", Name(draft->row(r).type),
                                            ", expected communication only: select { type: \"comm\" }"));
    }
    ASSIGN_OR_RETURN(LaneOrder order, LaneOrder::Make(draft));
    std::vector<uint32_t> rows = matches;
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return order.Earlier(a, b); });
    const std::vector<Place> places = PlacesOf(*draft, rows, order);
    for (size_t i = 0; i < rows.size(); ++i) {
      RETURN_IF_ERROR(One(draft, rows[i], places[i], &order, tally));
    }
    return order.Keep(tally);
  }

 private:
  // Returns, for each of `rows`, the lane of the last compute node recorded before it: a node of the device
  // if the trace has any, otherwise of the host.
  std::vector<Place> PlacesOf(const Draft& draft, const std::vector<uint32_t>& rows,
                              const LaneOrder& order) const {
    std::vector<Place> out(rows.size());
    if (lane_.has_value()) {
      for (Place& p : out) {
        p.cpu = lane_->cpu;
        if (!lane_->none) p.lane = lane_->lane;
      }
      return out;
    }
    std::vector<uint32_t> compute;
    bool device = false;
    for (uint32_t r = 0; r < draft.size(); ++r) {
      const Row& row = draft.row(r);
      if (row.removed || row.type != NodeType::kComp || row.kept_comm()) continue;
      compute.push_back(r);
      device = device || !row.cpu();
    }
    if (device) {
      compute.erase(
          std::remove_if(compute.begin(), compute.end(), [&](uint32_t r) { return draft.row(r).cpu(); }),
          compute.end());
    }
    std::sort(compute.begin(), compute.end(), [&](uint32_t a, uint32_t b) { return order.Earlier(a, b); });
    size_t next = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      while (next < compute.size() && order.Earlier(compute[next], rows[i])) ++next;
      if (next == 0) continue;
      const Row& before = draft.row(compute[next - 1]);
      out[i] = {before.cpu(), before.lane, before.lane == kNoLane ? kNoRow : compute[next - 1]};
    }
    return out;
  }

  absl::Status One(Draft* draft, uint32_t r, const Place& place, LaneOrder* order, Tally* tally) const {
    const Row row = draft->row(r);
    if (row.comm.bytes == 0) {
      tally->Leave("communication without bytes");
      return absl::OkStatus();
    }
    const bool sends = row.type != NodeType::kRecv, receives = row.type != NodeType::kSend;
    uint64_t result = row.comm.bytes;
    if (receives && spec_.decode_us_per_mb() > 0) {
      ASSIGN_OR_RETURN(result, ResultBytes(draft, r));
    }
    const Time encode = sends ? TimeFor(spec_.encode_us_per_mb(), row.comm.bytes) : Time::Zero();
    const Time decode = receives ? TimeFor(spec_.decode_us_per_mb(), result) : Time::Zero();
    if (encode > Time::Zero()) {
      const uint32_t behind = order->LastDep(r);
      const Time start = behind == kNoRow ? row.start : draft->row(behind).start;
      const uint32_t node = Add(draft, absl::StrCat("encode_", row.name), encode, place, start);
      CopyDeps(draft, r, node);
      draft->AddDep(r, node, true);
      behind == kNoRow ? order->Before(node, r) : order->After(node, behind);
      ++tally->added;
    }
    if (decode > Time::Zero()) {
      // Place it right before the first node that waits for the communication, so that the stream computes
      // until then.
      const uint32_t before = order->FirstChild(r);
      const Time start = before == kNoRow ? row.start + row.duration : draft->row(before).start;
      const uint32_t node = Add(draft, absl::StrCat("decode_", row.name), decode, place, start);
      draft->MoveChildren(r, node);
      draft->AddDep(node, r, true);
      before == kNoRow ? order->After(node, order->LastUntil(r, start)) : order->Before(node, before);
      ++tally->added;
    }
    Shrink(draft, r, tally);
    return absl::OkStatus();
  }

  void Shrink(Draft* draft, uint32_t r, Tally* tally) const {
    const Row row = draft->row(r);
    if (spec_.ratio() == 1) return;
    const auto bytes = static_cast<uint64_t>(std::ceil(static_cast<double>(row.comm.bytes) * spec_.ratio()));
    draft->SetBytes(r, std::min(bytes, row.comm.bytes));
    if (row.duration == Time::Zero() && row.transfer == Time::Never()) return;
    tally->notes.insert("recorded durations and transfer times were multiplied by ratio, like the bytes");
    if (row.duration > Time::Zero()) draft->SetDuration(r, Scaled(row.duration));
    if (row.transfer != Time::Never()) draft->SetTransfer(r, Scaled(row.transfer));
  }

  // Returns the number of bytes that a rank has after the communication.
  static absl::StatusOr<uint64_t> ResultBytes(Draft* draft, uint32_t r) {
    const Row& row = draft->row(r);
    if (row.type != NodeType::kCollective) return row.comm.bytes;
    const auto type = static_cast<CollectiveType>(row.comm.type);
    const bool scatters = type == CollectiveType::kReduceScatter ||
                          type == CollectiveType::kReduceScatterBlock || type == CollectiveType::kScatter;
    if (!Grows(type) && !scatters) return row.comm.bytes;
    ASSIGN_OR_RETURN(const uint64_t members, GroupSize(draft, r, row.group));
    if (scatters) return row.comm.bytes / members + (row.comm.bytes % members != 0 ? 1 : 0);
    if (row.comm.bytes > UINT64_MAX / members) return draft->Error(r, "its result has 2^64 bytes or more");
    return row.comm.bytes * members;
  }

  static uint32_t Add(Draft* draft, std::string name, Time duration, const Place& place, Time start) {
    NewRow spec;
    spec.name = std::move(name);
    spec.duration = duration;
    spec.cpu = place.cpu;
    spec.lane = place.lane;
    const uint32_t node = draft->Add(spec, start);
    // Copy thread ids of more than 31 bits as they are written.
    if (place.like != kNoRow && place.lane < 0) draft->CopyLane(node, place.like);
    return node;
  }

  static Time TimeFor(double us_per_mb, uint64_t bytes) {
    return FromMicros(us_per_mb * static_cast<double>(bytes) * 1e-6);
  }
  Time Scaled(Time t) const { return FromMicros(static_cast<double>(t.picos()) * 1e-6 * spec_.ratio()); }

  const proto::Compress spec_;
  const std::optional<LaneSpec> lane_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeCompress(const proto::Edit& edit, const std::string& where) {
  const proto::Compress& spec = edit.compress();
  if (!(spec.ratio() > 0 && spec.ratio() <= 1))
    return BadField(where, "ratio", absl::StrCat(spec.ratio(), ", expected above 0, at most 1"));
  for (const auto& [value, field] : {std::make_pair(spec.encode_us_per_mb(), "encode_us_per_mb"),
                                     std::make_pair(spec.decode_us_per_mb(), "decode_us_per_mb")}) {
    if (!(value >= 0 && value <= kMostMicrosPerMb))
      return BadField(where, field, absl::StrCat(value, ", expected 0 to ", kMostMicrosPerMb));
  }
  std::optional<LaneSpec> lane;
  if (!spec.lane().empty()) {
    const absl::StatusOr<LaneSpec> found = ParseLaneToPutOn(spec.lane());
    if (!found.ok()) return BadField(where, "lane", found.status().message());
    if (found->any) return BadField(where, "lane", absl::StrCat("\"", spec.lane(), "\", expected one lane"));
    lane = *found;
  }
  return OnRank<Compress>(spec, lane);
}

}  // namespace chakra::edit
