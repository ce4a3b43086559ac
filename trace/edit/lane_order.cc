#include "trace/edit/lane_order.h"

#include "absl/container/flat_hash_map.h"
#include "trace/base/status_macros.h"

namespace chakra::edit {
namespace {

constexpr uint64_t kGap = uint64_t{1} << 24;

}  // namespace

absl::StatusOr<LaneOrder> LaneOrder::Make(Draft* draft) {
  ASSIGN_OR_RETURN(const auto order, draft->Order());
  LaneOrder out(draft);
  out.next_.assign(draft->size(), kNoRow);
  out.prev_.assign(draft->size(), kNoRow);
  out.key_.assign(draft->size(), 0);
  uint32_t last = kNoRow;
  for (const uint32_t r : *order) {
    out.prev_[r] = last;
    (last == kNoRow ? out.first_ : out.next_[last]) = r;
    last = r;
  }
  out.Number();
  return out;
}

void LaneOrder::Number() {
  uint64_t key = 0;
  for (uint32_t r = first_; r != kNoRow; r = next_[r]) key_[r] = key += kGap;
}

void LaneOrder::Link(uint32_t r, uint32_t behind) {
  if (r >= next_.size()) {
    next_.resize(draft_->size(), kNoRow);
    prev_.resize(draft_->size(), kNoRow);
    key_.resize(draft_->size(), 0);
  }
  const uint32_t after = behind == kNoRow ? first_ : next_[behind];
  prev_[r] = behind;
  next_[r] = after;
  (behind == kNoRow ? first_ : next_[behind]) = r;
  if (after != kNoRow) prev_[after] = r;
  const uint64_t low = behind == kNoRow ? 0 : key_[behind];
  const uint64_t high = after == kNoRow ? low + 2 * kGap : key_[after];
  key_[r] = low + (high - low) / 2;
  if (key_[r] == low) Number();
}

uint32_t LaneOrder::LastDep(uint32_t r) const {
  uint32_t out = kNoRow;
  for (const Dep& d : draft_->deps(r)) {
    if (d.row != kNoRow && (out == kNoRow || Earlier(out, d.row))) out = d.row;
  }
  return out;
}

uint32_t LaneOrder::FirstChild(uint32_t r) const {
  uint32_t out = kNoRow;
  for (const uint32_t child : draft_->children(r)) {
    if (out == kNoRow || Earlier(child, out)) out = child;
  }
  return out;
}

uint32_t LaneOrder::LastUntil(uint32_t r, Time t) const {
  while (next_[r] != kNoRow && draft_->row(next_[r]).start <= t) r = next_[r];
  return r;
}

absl::Status LaneOrder::Keep(Tally* tally) {
  struct Lane {
    uint32_t last = kNoRow;
    bool broken = false;  // true: from here on, every row waits for the previous row
  };
  for (bool again = true; again;) {
    again = false;
    ASSIGN_OR_RETURN(const auto order, draft_->Order());
    std::vector<uint32_t> place(draft_->size());
    for (uint32_t i = 0; i < order->size(); ++i) place[(*order)[i]] = i;
    absl::flat_hash_map<uint64_t, Lane> lanes;  // for lookups; never iterated
    for (uint32_t r = first_; r != kNoRow; r = next_[r]) {
      if (draft_->row(r).removed || !draft_->row(r).works() || !draft_->StrictLane(r)) continue;
      if (!draft_->keeps_lanes() && !draft_->row(r).is_comm()) continue;
      Lane& lane = lanes[draft_->LaneKey(r)];
      if (lane.last != kNoRow) {
        const bool wrong = place[lane.last] > place[r];
        lane.broken = lane.broken || wrong;
        again = again || wrong;
        if (lane.broken) draft_->AddDep(r, lane.last, false);
      }
      lane.last = r;
    }
    if (again) {
      tally->notes.insert(
          "new nodes have the last ids: control dependencies were added to keep lanes and the calls of "
          "groups in order");
    }
  }
  return absl::OkStatus();
}

}  // namespace chakra::edit
