// Changes the kind or the group of collectives.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/edit/lane_order.h"
#include "trace/edit/operation.h"
#include "trace/edit/operations/collectives.h"

namespace chakra::edit {
namespace {

constexpr absl::string_view kTwoPhases = "reduce_scatter+all_gather";

class ChangeCollective : public Operation {
 public:
  ChangeCollective(const proto::ChangeCollective& spec, std::optional<CollectiveType> kind)
      : group_(spec.group()), kind_(kind), two_phases_(spec.kind() == kTwoPhases) {}

  bool needs_shape() const override { return true; }

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    RETURN_IF_ERROR(OnlyCollectives(*draft, matches));
    ASSIGN_OR_RETURN(LaneOrder order, LaneOrder::Make(draft));
    for (const uint32_t r : matches) {
      RETURN_IF_ERROR(CheckGroup(draft, r));
      const std::string old_group(draft->row(r).group), group = group_.empty() ? old_group : group_;
      absl::Status s;
      if (two_phases_) {
        s = Divide(draft, r, group, &order, tally);
      } else if (kind_.has_value()) {
        s = ChangeKind(draft, r, old_group, group, tally);
      } else if (group != old_group) {
        tally->notes.insert(
            "comm_size (the bytes that a rank gives to the collective) was kept in the new group");
      } else {
        tally->Leave("already in that group");
      }
      if (!s.ok()) return s;
      if (group != old_group) draft->SetGroup(r, group);
    }
    return order.Keep(tally);
  }

 private:
  // Error if groups are known and the rank is not in the new group.
  absl::Status CheckGroup(Draft* draft, uint32_t r) const {
    const SetShape* shape = draft->shape();
    if (group_.empty() || group_ == draft->row(r).group || shape == nullptr || shape->groups.empty())
      return absl::OkStatus();
    const auto it = shape->groups.find(group_);
    if (it == shape->groups.end()) {
      if (group_ == "0") return absl::OkStatus();  // all ranks
      std::vector<std::string> known;
      for (const auto& [name, members] : shape->groups) known.push_back(name);
      return absl::InvalidArgumentError(
          absl::StrCat("group: \"", group_, "\" is not a group of the trace", SuggestName(group_, known)));
    }
    if (std::find(it->second.begin(), it->second.end(), draft->rank()) != it->second.end())
      return absl::OkStatus();
    return draft->Error(r, absl::StrCat("rank ", draft->rank(), " is not a member of group \"", group_,
                                        "\", expected one of ", absl::StrJoin(it->second, ", ")));
  }

  // Keeps the size of the larger of a rank's two buffers.
  absl::Status ChangeKind(Draft* draft, uint32_t r, const std::string& old_group, const std::string& group,
                          Tally* tally) const {
    const Comm comm = draft->row(r).comm;
    const auto old = static_cast<CollectiveType>(comm.type);
    if (old == *kind_) {
      if (group == old_group) tally->Leave("already of that kind");
      return absl::OkStatus();
    }
    if (old == CollectiveType::kBarrier)
      return draft->Error(r, "is a barrier, which has no bytes for another kind");
    uint64_t bytes = *kind_ == CollectiveType::kBarrier ? 0 : comm.bytes;
    if (Grows(old) != Grows(*kind_) && *kind_ != CollectiveType::kBarrier) {
      ASSIGN_OR_RETURN(const uint64_t members, GroupSize(draft, r, Grows(old) ? old_group : group));
      if (Grows(old)) {
        if (bytes > static_cast<uint64_t>(INT64_MAX) / members)
          return draft->Error(r,
                              absl::StrCat(bytes, " bytes of each of ", members, " ranks are 2^63 or more"));
        bytes *= members;
      } else {
        if (bytes % members != 0)
          tally->notes.insert("sizes that are not a multiple of the group's ranks were rounded up");
        bytes = bytes / members + (bytes % members != 0 ? 1 : 0);
      }
      tally->notes.insert(
          "comm_size (the bytes that a rank gives) was converted: the larger of a rank's two buffers keeps "
          "its size");
    }
    if (draft->row(r).duration > Time::Zero() || draft->row(r).transfer != Time::Never())
      tally->notes.insert("recorded durations and transfer times are those of the old kind");
    draft->SetCollective(r, *kind_);
    if (bytes != comm.bytes) draft->SetBytes(r, bytes);
    return absl::OkStatus();
  }

  // Makes r an all_gather and adds a reduce_scatter before it. Each gets half of the recorded time, as in a
  // ring.
  absl::Status Divide(Draft* draft, uint32_t r, const std::string& group, LaneOrder* order,
                      Tally* tally) const {
    const Row whole = draft->row(r);
    if (whole.comm.type != static_cast<uint8_t>(CollectiveType::kAllReduce)) {
      return draft->Error(r, absl::StrCat("comm_type ", whole.comm.type,
                                          " is not all_reduce; only all_reduce becomes ", kTwoPhases));
    }
    ASSIGN_OR_RETURN(const uint64_t members, GroupSize(draft, r, group));
    const uint64_t bytes = whole.comm.bytes, shard = bytes / members + (bytes % members != 0 ? 1 : 0);
    if (bytes % members != 0)
      tally->notes.insert("sizes that are not a multiple of the group's ranks were rounded up");
    const uint32_t scatter = draft->Clone(r);
    draft->SetCollective(scatter, CollectiveType::kReduceScatter);
    draft->SetCollective(r, CollectiveType::kAllGather);
    draft->SetBytes(r, shard);
    if (group != whole.group) draft->SetGroup(scatter, group);
    const bool timed = whole.duration > Time::Zero(), transfer = whole.transfer != Time::Never();
    for (const uint64_t k : {0, 1}) {
      const uint32_t row = k == 0 ? scatter : r;
      if (timed) draft->SetDuration(row, ShareOf(whole.duration, k, k + 1, 2));
      if (transfer) draft->SetTransfer(row, ShareOf(whole.transfer, k, k + 1, 2));
    }
    if (timed || transfer)
      tally->notes.insert("each half of an all_reduce got half of the recorded times, as in a ring");
    CopyDeps(draft, r, scatter);
    draft->MoveBeginChildren(r, scatter);
    draft->AddDep(r, scatter, true);
    order->Before(scatter, r);
    ++tally->added;
    return absl::OkStatus();
  }

  const std::string group_;
  const std::optional<CollectiveType> kind_;
  const bool two_phases_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeChangeCollective(const proto::Edit& edit, const std::string& where) {
  const proto::ChangeCollective& spec = edit.change_collective();
  if (spec.kind().empty() && spec.group().empty())
    return BadField(where, "kind", "empty, and so is group; expected one of them");
  std::optional<CollectiveType> kind;
  if (!spec.kind().empty() && spec.kind() != kTwoPhases) {
    const absl::StatusOr<CollectiveType> found = ParseCollective(spec.kind());
    if (!found.ok())
      return BadField(where, "kind", absl::StrCat(found.status().message(), ", or ", kTwoPhases));
    kind = *found;
  }
  return OnRank<ChangeCollective>(spec, kind);
}

}  // namespace chakra::edit
