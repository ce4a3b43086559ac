// Merges collectives into buckets, as data-parallel training does with gradients.
#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/edit/operation.h"
#include "trace/edit/operations/collectives.h"

namespace chakra::edit {
namespace {

// Merges nodes in recorded order, each into the next node of its bucket. Then only nodes that were merged
// already have dependencies against the recorded order. So a path from a node to the next node of its bucket
// never contains rows after the latter.
class Merger {
 public:
  static absl::StatusOr<Merger> Make(Draft* draft) {
    ASSIGN_OR_RETURN(const auto order, draft->Order());
    Merger out(draft);
    out.place_.assign(draft->size(), 0);
    for (uint32_t i = 0; i < order->size(); ++i) out.place_[(*order)[i]] = i;
    out.waits_.assign(draft->size(), false);
    return out;
  }

  bool Earlier(uint32_t a, uint32_t b) const { return place_[a] < place_[b]; }

  // Merges a into b. If b depends on a through other rows, returns false and changes nothing. Preconditions:
  // Earlier(a, b); no node after b was merged.
  bool Merge(uint32_t a, uint32_t b) {
    const bool apart = Waiting(a, b);
    for (const uint32_t r : waiting_) waits_[r] = false;
    if (!apart) return false;
    draft_->DropDep(b, a);
    CopyDeps(draft_, a, b);
    draft_->MoveChildren(a, b);
    draft_->MoveBeginChildren(a, b);
    draft_->Remove(a);
    return true;
  }

 private:
  explicit Merger(Draft* draft) : draft_(draft) {}

  // Fills waiting_ with the rows before b that wait for a. Returns false if b waits for one of them.
  bool Waiting(uint32_t a, uint32_t b) {
    waiting_.clear();
    const auto add = [&](uint32_t r) {
      if (r == b || waits_[r] || place_[r] > place_[b]) return;
      waits_[r] = true;
      waiting_.push_back(r);
    };
    for (const uint32_t child : draft_->children(a)) add(child);
    for (size_t i = 0; i < waiting_.size(); ++i) {
      for (const uint32_t child : draft_->children(waiting_[i])) {
        if (child == b) return false;
        add(child);
      }
    }
    return true;
  }

  Draft* draft_;
  std::vector<uint32_t> place_;  // by row: position in recorded order
  std::vector<bool> waits_;      // by row: whether it is in waiting_
  std::vector<uint32_t> waiting_;
};

struct Bucket {
  uint32_t row = kNoRow;
  uint64_t bytes = 0;
  int64_t count = 0;
  Time duration, transfer = Time::Never();
  bool has_bytes = false;
};

class MergeCollectives : public Operation {
 public:
  explicit MergeCollectives(const proto::MergeCollectives& spec) : spec_(spec) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    RETURN_IF_ERROR(OnlyCollectives(*draft, matches));
    std::vector<int64_t> steps(draft->size(), -1);
    if (spec_.per_iteration()) {
      ASSIGN_OR_RETURN(Iterations found, FindIterations(draft));
      if (!found.marked) tally->notes.insert("no steps are marked: buckets may span all of the trace");
      for (size_t i = 0; i < found.rows.size(); ++i) {
        for (const uint32_t r : found.rows[i]) steps[r] = static_cast<int64_t>(i);
      }
    }
    ASSIGN_OR_RETURN(Merger merger, Merger::Make(draft));
    std::vector<uint32_t> rows = matches;
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return merger.Earlier(a, b); });
    // Key: the properties that all collectives of a bucket share: kind, lane, root, dimensions, step, group,
    // element type.
    std::map<std::tuple<int, uint64_t, int32_t, uint32_t, int64_t, std::string, std::string>, Bucket> open;
    for (const uint32_t r : rows) {
      const Row& row = draft->row(r);
      Attribute a;
      const std::string dtype = draft->Attr(r, "comm_dtype", &a) ? AttributeText(a) : "";
      Bucket& bucket = open[{row.comm.type, draft->LaneKey(r), row.peer.root, row.comm.involved_dims,
                             steps[r], std::string(row.group), dtype}];
      RETURN_IF_ERROR(Take(draft, &merger, r, &bucket, tally));
    }
    for (const auto& [shared, bucket] : open) Close(bucket, false, tally);
    return absl::OkStatus();
  }

 private:
  bool Full(const Bucket& b) const {
    return (spec_.bucket_bytes() > 0 && b.bytes >= spec_.bucket_bytes()) ||
           (spec_.count() > 0 && b.count >= spec_.count());
  }

  // Notes why a collective alone in its bucket stays unchanged. `blocked`: the next collective waits for it
  // through other nodes.
  void Close(const Bucket& bucket, bool blocked, Tally* tally) const {
    if (bucket.count != 1) return;
    tally->Leave(Full(bucket) ? "each fills a bucket by itself (bucket_bytes or count)"
                 : blocked    ? "the next collective depends on them through other nodes"
                           : "no other collective of their kind, group, lane and element type to merge with");
  }

  absl::Status Take(Draft* draft, Merger* merger, uint32_t r, Bucket* bucket, Tally* tally) const {
    const bool full = bucket->count > 0 && Full(*bucket);
    const Row row = draft->row(r);
    if (bucket->count > 0 && !full && row.comm.bytes > static_cast<uint64_t>(INT64_MAX) - bucket->bytes)
      return draft->Error(r, "a bucket of 2^63 bytes or more; expected a smaller bucket_bytes or count");
    const bool merged = bucket->count > 0 && !full && merger->Merge(bucket->row, r);
    if (!merged) {
      if (bucket->count > 0 && !full)
        tally->notes.insert(
            "buckets were closed before a collective that depends on a collective of the bucket through "
            "other nodes");
      Close(*bucket, !full, tally);
      *bucket = {r, row.comm.bytes, 1, row.duration, row.transfer, row.comm.has_bytes};
      return absl::OkStatus();
    }
    ++tally->removed;
    bucket->row = r;
    ++bucket->count;
    bucket->bytes += row.comm.bytes;
    bucket->has_bytes = bucket->has_bytes || row.comm.has_bytes;
    bucket->duration += row.duration;
    if (bucket->transfer == Time::Never()) {
      bucket->transfer = row.transfer;
    } else if (row.transfer != Time::Never()) {
      bucket->transfer += row.transfer;
    }
    if (bucket->has_bytes) draft->SetBytes(r, bucket->bytes);
    if (bucket->duration != row.duration) draft->SetDuration(r, bucket->duration);
    if (bucket->transfer != row.transfer) draft->SetTransfer(r, bucket->transfer);
    if (bucket->duration > Time::Zero() || bucket->transfer != Time::Never())
      tally->notes.insert("the recorded durations and transfer times of a bucket were summed");
    return absl::OkStatus();
  }

  const proto::MergeCollectives spec_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeMergeCollectives(const proto::Edit& edit, const std::string& where) {
  const proto::MergeCollectives& spec = edit.merge_collectives();
  if (spec.count() < 0)
    return BadField(where, "count", absl::StrCat(spec.count(), ", expected 0 (any number) or more"));
  if (spec.bucket_bytes() > INT64_MAX)
    return BadField(where, "bucket_bytes", absl::StrCat(spec.bucket_bytes(), ", expected less than 2^63"));
  return OnRank<MergeCollectives>(spec);
}

}  // namespace chakra::edit
