// Adds reads from storage before nodes that need data, and writes after nodes that make data.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/edit/lane_order.h"
#include "trace/edit/lane_places.h"
#include "trace/edit/operation.h"
#include "trace/edit/operations/collectives.h"

namespace chakra::edit {
namespace {

constexpr double kMostMicros = 9.2e12;  // microseconds; in picoseconds it must fit in 64 bits

class Storage : public Operation {
 public:
  explicit Storage(const proto::Storage& spec) : spec_(spec), store_(spec.kind() == proto::Storage::STORE) {
    node_.name = !spec.name().empty() ? spec.name() : store_ ? "checkpoint" : "data_load";
    node_.type = store_ ? NodeType::kMemStore : NodeType::kMemLoad;
    node_.bytes = spec.bytes();
    node_.duration = FromMicros(spec.duration_us());
  }

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    ASSIGN_OR_RETURN(LaneOrder order, LaneOrder::Make(draft));
    std::vector<uint32_t> rows = matches;
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return order.Earlier(a, b); });
    ASSIGN_OR_RETURN(LanePlaces places, LanePlaces::Make(draft));
    const auto every = static_cast<size_t>(std::max(1, spec_.every()));
    // The rows before and after each match on its lane, before any change.
    std::vector<std::pair<uint32_t, uint32_t>> beside(rows.size(), {kNoRow, kNoRow});
    for (size_t i = every - 1; i < rows.size(); i += every) {
      if (!spec_.blocking() || !draft->StrictLane(rows[i])) continue;
      beside[i] = {places.previous(rows[i]), places.next(rows[i])};
    }
    for (size_t i = every - 1; i < rows.size(); i += every) {
      const uint32_t earlier = i >= every ? rows[i - every] : kNoRow;
      store_ ? Store(draft, rows[i], beside[i].second, &order)
             : Load(draft, rows[i], beside[i].first, earlier, &order);
      ++tally->added;
    }
    if (rows.size() < every) tally->Leave("their rank has fewer matches than `every`", rows.size());
    return order.Keep(tally);
  }

 private:
  // Adds a store after r. If the store blocks, rows that depend on r, and the next row on r's lane, wait for
  // it.
  void Store(Draft* draft, uint32_t r, uint32_t next, LaneOrder* order) const {
    const uint32_t node = draft->Add(node_, draft->row(r).start + draft->row(r).duration);
    if (spec_.blocking()) {
      const auto children = draft->children(r);
      for (const uint32_t child : children) {
        if (draft->AtEnd(draft->DepOn(child, r))) draft->AddDep(child, node, true);
      }
      if (next != kNoRow) draft->AddDep(next, node, true);
    }
    draft->AddDep(node, r, true);
    order->After(node, r);
  }

  // Adds a load before r; r waits for it. A load that blocks starts when r could have started; otherwise it
  // reads ahead, and starts when the earlier match is done.
  void Load(Draft* draft, uint32_t r, uint32_t previous, uint32_t earlier, LaneOrder* order) const {
    const uint32_t node = draft->Add(node_, draft->row(r).start);
    if (spec_.blocking()) {
      CopyDeps(draft, r, node);
      if (previous != kNoRow) draft->AddDep(node, previous, true);
    } else if (earlier != kNoRow) {
      draft->AddDep(node, earlier, true);
    }
    draft->AddDep(r, node, true);
    order->Before(node, r);
  }

  const proto::Storage spec_;
  const bool store_;
  NewRow node_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeStorage(const proto::Edit& edit, const std::string& where) {
  const proto::Storage& spec = edit.storage();
  if (!proto::Storage::Kind_IsValid(spec.kind()))
    return BadField(where, "kind", absl::StrCat(static_cast<int>(spec.kind()), ", expected STORE or LOAD"));
  if (spec.bytes() == 0 || spec.bytes() > INT64_MAX)
    return BadField(where, "bytes", absl::StrCat(spec.bytes(), ", expected 1 to 2^63 - 1"));
  if (spec.every() < 0)
    return BadField(where, "every", absl::StrCat(spec.every(), ", expected 0 (each match) or more"));
  if (!(spec.duration_us() >= 0 && spec.duration_us() <= kMostMicros))
    return BadField(where, "duration_us", absl::StrCat(spec.duration_us(), ", expected 0 to ", kMostMicros));
  return OnRank<Storage>(spec);
}

}  // namespace chakra::edit
