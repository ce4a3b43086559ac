#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/edit/lane_order.h"
#include "trace/edit/lane_places.h"
#include "trace/edit/operation.h"
#include "trace/edit/run_joiner.h"
#include "trace/edit/work_places.h"

namespace chakra::edit {
namespace {

class FuseEdit : public Operation {
 public:
  explicit FuseEdit(const proto::Fuse& spec) : spec_(spec) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    std::vector<uint32_t> rows = matches;
    RETURN_IF_ERROR(SortRecorded(draft, &rows));
    ASSIGN_OR_RETURN(LanePlaces places, LanePlaces::Make(draft));
    std::vector<bool> in(draft->size());
    for (const uint32_t r : rows) {
      if (draft->row(r).is_comm())
        return draft->Error(
            r, "fuse: communication, expected other nodes; merge_collectives is for collectives");
      in[r] = true;
    }
    ASSIGN_OR_RETURN(const Chains* chains, draft->chains());
    const Chains before = *chains;
    RunJoiner joiner(draft, places);
    for (const uint32_t r : rows) {
      if (places.previous(r) != kNoRow && in[places.previous(r)])
        continue;  // r is not the first row of its run
      for (uint32_t at = r; at != kNoRow && in[at];) {
        at = FuseFrom(*draft, places, in, at, &joiner, tally);
        if (joiner.group().size() < 2) {
          tally->Leave("no neighbour on their lane to fuse with");
          continue;
        }
        Join(draft, before, joiner.group(), tally);
        joiner.Became({joiner.group().front()});
      }
    }
    return absl::OkStatus();
  }

 private:
  // Fuses as many rows of the run that begins with `first` as can be one node. Returns the next row on the
  // lane.
  uint32_t FuseFrom(const Draft& draft, const LanePlaces& places, const std::vector<bool>& in, uint32_t first,
                    RunJoiner* joiner, Tally* tally) const {
    joiner->Begin(first);
    uint32_t at = places.next(first);
    for (; at != kNoRow && in[at]; at = places.next(at)) {
      if (spec_.most() > 0 && joiner->group().size() >= static_cast<size_t>(spec_.most())) break;
      if (draft.row(at).type != draft.row(first).type) break;
      if (joiner->DependsThrough(at)) {
        tally->notes.insert(kClosedRuns);
        break;
      }
      joiner->Add(at);
    }
    return at;
  }

  void Join(Draft* draft, const Chains& chains, const std::vector<uint32_t>& group, Tally* tally) const {
    const uint32_t first = group.front();
    Time duration;
    Work work = {};
    std::vector<Row> apart;
    for (const uint32_t r : group) {
      const Row& row = draft->row(r);
      apart.push_back(row);
      duration += row.duration;
      work.num_ops += row.work.num_ops;
      work.tensor_bytes += row.work.tensor_bytes;
      work.has_num_ops = work.has_num_ops || row.work.has_num_ops;
      work.has_tensor_bytes = work.has_tensor_bytes || row.work.has_tensor_bytes;
    }
    const double us = static_cast<double>(duration.picos()) * 1e-6;
    const double fused = us * (spec_.time_factor() > 0 ? spec_.time_factor() : 1) + spec_.add_us();
    if (FromMicros(fused) != draft->row(first).duration) draft->SetDuration(first, FromMicros(fused));
    if (work.has_num_ops) draft->SetOperations(first, work.num_ops);
    if (work.has_tensor_bytes) draft->SetBytes(first, work.tensor_bytes);
    if (!spec_.name().empty()) draft->SetName(first, spec_.name());
    const WorkPlaces places(apart, {draft->row(first)});
    MoveChildrenTo(draft, places, 0, first, {first});
    for (size_t i = 1; i < group.size(); ++i) {
      TakeDeps(draft, chains, first, group[i], tally);
      MoveChildrenTo(draft, places, i, group[i], {first});
      draft->Remove(group[i], first);
      ++tally->removed;
    }
  }

  // Makes `first` wait for everything that r waits for.
  void TakeDeps(Draft* draft, const Chains& chains, uint32_t first, uint32_t r, Tally* tally) const {
    for (const Dep& d : Deps(draft->deps(r))) {
      if (d.row == kNoRow) continue;
      const bool lane = d.kind == "stream" || d.kind == "thread";
      if (spec_.drop_launches() && d.kind == "launch" && d.row != first) {
        RemoveLaunch(draft, chains, d.row, r, tally);
      } else if (!(lane && d.row == first)) {
        draft->AddDep(first, d.row, d);
      }
    }
  }

  // Removes a host node that launched only r, together with its time.
  static void RemoveLaunch(Draft* draft, const Chains& chains, uint32_t launch, uint32_t r, Tally* tally) {
    draft->DropDep(r, launch);
    const auto& children = draft->children(launch);
    const bool launches = std::any_of(children.begin(), children.end(), [&](uint32_t c) {
      const Deps& deps = draft->deps(c);
      return std::any_of(deps.begin(), deps.end(),
                         [&](const Dep& d) { return d.row == launch && d.kind == "launch"; });
    });
    if (launches) return;
    RemoveRewired(draft, chains, launch, false);
    ++tally->removed;
  }

  const proto::Fuse spec_;
};

class SplitEdit : public Operation {
 public:
  explicit SplitEdit(const proto::Split& spec) : spec_(spec) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    ASSIGN_OR_RETURN(LaneOrder order, LaneOrder::Make(draft));
    int32_t lane = 0;  // for parallel parts
    for (uint32_t r = 0; r < draft->size(); ++r) lane = std::max(lane, draft->row(r).lane);
    for (const uint32_t r : matches) {
      if (draft->row(r).is_comm())
        return draft->Error(
            r, "split: communication, expected other nodes; split_collectives is for collectives");
      SplitNode(draft, &order, r, &lane);
      tally->added += static_cast<uint64_t>(spec_.parts() - 1);
    }
    return order.Keep(tally);
  }

 private:
  // Splits r; r itself becomes the last part.
  void SplitNode(Draft* draft, LaneOrder* order, uint32_t r, int32_t* lane) const {
    const Row row = draft->row(r);
    const int64_t parts = spec_.parts();
    const Deps deps = draft->deps(r);
    const auto children = draft->children(r);
    std::vector<uint32_t> chain;
    std::vector<Row> values;
    const auto share = [&](int64_t whole, int64_t part) {
      return whole / parts + (part < whole % parts ? 1 : 0);
    };
    const auto set = [&](uint32_t to, int64_t part) {
      if (row.duration > Time::Zero())
        draft->SetDuration(to, Time::Nanos(share(row.duration.picos() / 1000, part)));
      if (row.work.has_num_ops) draft->SetOperations(to, share(row.work.num_ops, part));
      if (row.work.has_tensor_bytes)
        draft->SetBytes(to, static_cast<uint64_t>(share(static_cast<int64_t>(row.work.tensor_bytes), part)));
      chain.push_back(to);
      values.push_back(draft->row(to));
    };
    for (int64_t part = 0; part + 1 < parts; ++part) {
      const uint32_t copy = draft->Clone(r);
      set(copy, part);
      order->Before(copy, r);
      if (spec_.parallel()) draft->SetLane(copy, row.cpu(), ++*lane);
      if (spec_.parallel() || part == 0) {
        for (const Dep& d : deps) {
          if (d.row != kNoRow) draft->AddDep(copy, d.row, d);
        }
      } else {
        draft->AddDep(copy, chain[chain.size() - 2], true);
      }
      if (spec_.parallel()) {
        for (const uint32_t child : children) draft->AddDep(child, copy, LikeDepOn(draft, child, r));
      }
    }
    set(r, parts - 1);
    if (spec_.parallel()) return;
    MoveChildrenTo(draft, WorkPlaces({row}, values), 0, r, chain);
    draft->AddDep(r, chain[chain.size() - 2], true);
  }

  const proto::Split spec_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeFuse(const proto::Edit& edit, const std::string& where) {
  const proto::Fuse& spec = edit.fuse();
  if (spec.most() < 0 || spec.most() == 1)
    return BadField(where, "most", absl::StrCat(spec.most(), ", expected 0 (any number) or at least 2"));
  if (!(spec.time_factor() >= 0) || !std::isfinite(spec.time_factor()))
    return BadField(where, "time_factor", absl::StrCat(spec.time_factor(), ", expected above 0"));
  if (!(spec.add_us() >= 0) || !std::isfinite(spec.add_us()))
    return BadField(where, "add_us", absl::StrCat(spec.add_us(), ", expected 0 or more"));
  return OnRank<FuseEdit>(spec);
}

absl::StatusOr<AnyOperation> MakeSplit(const proto::Edit& edit, const std::string& where) {
  if (edit.split().parts() < 2 || edit.split().parts() > 1 << 20)
    return BadField(where, "parts", absl::StrCat(edit.split().parts(), ", expected 2 to 1048576"));
  return OnRank<SplitEdit>(edit.split());
}

}  // namespace chakra::edit
