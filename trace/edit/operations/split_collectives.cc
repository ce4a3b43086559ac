// Splits a collective into several collectives, each with a part of its bytes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/edit/lane_order.h"
#include "trace/edit/operation.h"
#include "trace/edit/operations/collectives.h"

namespace chakra::edit {
namespace {

constexpr uint64_t kMostParts = 1 << 20;

class SplitCollectives : public Operation {
 public:
  explicit SplitCollectives(const proto::SplitCollectives& spec) : spec_(spec) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    RETURN_IF_ERROR(OnlyCollectives(*draft, matches));
    ASSIGN_OR_RETURN(LaneOrder order, LaneOrder::Make(draft));
    std::vector<uint64_t> parts;
    uint64_t made = 0;
    for (const uint32_t r : matches) {  // counts the parts of all matches before making any
      parts.push_back(PartsOf(draft->row(r).comm.bytes, tally));
      made += parts.back() - 1;
      if (made > kMostParts) {
        return draft->Error(
            r, absl::StrCat(draft->row(r).comm.bytes, " bytes in ", parts.back(), " parts: more than ",
                            kMostParts, " new nodes on the rank; expected fewer parts"));
      }
    }
    for (size_t i = 0; i < matches.size(); ++i) {
      if (parts[i] > 1)
        Split(draft, matches[i], parts[i], &order, tally);
      else
        tally->Leave(spec_.most_bytes() > 0 ? "of at most most_bytes" : "of fewer bytes than parts");
    }
    tally->added += made;
    return order.Keep(tally);
  }

 private:
  // Returns the number of parts, at least 1.
  uint64_t PartsOf(uint64_t bytes, Tally* tally) const {
    uint64_t parts = static_cast<uint64_t>(spec_.parts());
    if (spec_.most_bytes() > 0) parts = bytes / spec_.most_bytes() + (bytes % spec_.most_bytes() > 0 ? 1 : 0);
    if (spec_.parts() > 0 && bytes < parts) {
      parts = bytes;
      if (parts > 1) tally->notes.insert("collectives with fewer bytes than parts became fewer parts");
    }
    return std::max<uint64_t>(parts, 1);
  }

  void Split(Draft* draft, uint32_t r, uint64_t parts, LaneOrder* order, Tally* tally) const {
    const Row whole = draft->row(r);
    const uint64_t bytes = whole.comm.bytes, each = bytes / parts, more = bytes % parts;
    const auto children = draft->children(r);
    uint64_t at = 0;
    uint32_t last = kNoRow;
    for (uint64_t k = 0; k < parts; ++k) {
      const bool own = k + 1 == parts;
      const uint32_t part = own ? r : draft->Clone(r);
      const uint64_t size = each + (k < more ? 1 : 0);
      draft->SetBytes(part, size);
      if (whole.duration > Time::Zero())
        draft->SetDuration(part, ShareOf(whole.duration, at, at + size, bytes));
      if (whole.transfer != Time::Never())
        draft->SetTransfer(part, ShareOf(whole.transfer, at, at + size, bytes));
      at += size;
      if (!own) CopyDeps(draft, r, part);
      if (!own && spec_.parallel()) {
        // Each child's list of dependencies has the node itself before its parts.
        for (const uint32_t child : children) draft->AddDep(child, part, LikeDepOn(draft, child, r));
        order->After(part, last == kNoRow ? r : last);
      } else if (!own) {
        order->Before(part, r);
      }
      if (last == kNoRow && !spec_.parallel()) draft->MoveBeginChildren(r, part);
      if (last != kNoRow && !spec_.parallel()) draft->AddDep(part, last, true);
      last = part;
    }
    if (whole.duration > Time::Zero() || whole.transfer != Time::Never())
      tally->notes.insert("recorded durations and transfer times were divided in proportion to bytes");
    if (spec_.parallel())
      tally->notes.insert(
          "parts of one lane or group run one after the other where the lane policy is recorded");
  }

  const proto::SplitCollectives spec_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeSplitCollectives(const proto::Edit& edit, const std::string& where) {
  const proto::SplitCollectives& spec = edit.split_collectives();
  if (spec.most_bytes() > 0 && spec.parts() != 0)
    return BadField(where, "parts",
                    absl::StrCat(spec.parts(), ", given with most_bytes; expected one of the two"));
  if (spec.most_bytes() == 0 && spec.parts() < 2)
    return BadField(where, "parts", absl::StrCat(spec.parts(), ", expected 2 or more, or most_bytes"));
  return OnRank<SplitCollectives>(spec);
}

}  // namespace chakra::edit
