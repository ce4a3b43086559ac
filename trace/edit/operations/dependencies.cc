// Edits of dependencies and lanes: add, drop, move, reorder.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/edit/lane_places.h"
#include "trace/edit/operation.h"

namespace chakra::edit {
namespace {

// The maximum for an edit on a rank.
constexpr uint64_t kMostNewDependencies = uint64_t{1} << 20;

class AddDependencyEdit : public Operation {
 public:
  AddDependencyEdit(const proto::AddDependency& spec, Selector on) : spec_(spec), on_(std::move(on)) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    ASSIGN_OR_RETURN(std::vector<uint32_t> on, on_.Match(draft));
    if (on.empty()) return draft->Error(matches.front(), "add_dependency: `on` matches nothing on this rank");
    if (spec_.which() == proto::AddDependency::ALL) return AddAll(draft, matches, on);
    std::vector<uint32_t> rows = matches;
    RETURN_IF_ERROR(SortRecorded(draft, &rows));
    RETURN_IF_ERROR(SortRecorded(draft, &on));
    ASSIGN_OR_RETURN(LanePlaces places, LanePlaces::Make(draft));
    const auto add = [&](uint32_t r, uint32_t to) { draft->AddDep(r, to, IsData(), DelayNanos()); };
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint32_t r = rows[i];
      const auto after =
          std::upper_bound(on.begin(), on.end(), places.place(r),
                           [&](uint32_t place, uint32_t o) { return place < places.place(o); });
      auto before = std::lower_bound(on.begin(), on.end(), places.place(r),
                                     [&](uint32_t o, uint32_t place) { return places.place(o) < place; });
      switch (spec_.which()) {
        case proto::AddDependency::PREVIOUS:
          if (before != on.begin())
            add(r, *std::prev(before));
          else
            tally->Leave("nothing of `on` is recorded before them");
          break;
        case proto::AddDependency::NEXT:
          if (after != on.end())
            add(r, *after);
          else
            tally->Leave("nothing of `on` is recorded after them");
          break;
        default:  // SAME_INDEX
          if (i < on.size())
            add(r, on[i]);
          else
            tally->Leave("there are more matches than nodes that `on` matches");
      }
    }
    return absl::OkStatus();
  }

 private:
  bool IsData() const { return spec_.kind() == proto::DATA; }
  int64_t DelayNanos() const { return FromMicros(spec_.delay_us()).picos() / 1000; }

  absl::Status AddAll(Draft* draft, const std::vector<uint32_t>& matches,
                      const std::vector<uint32_t>& on) const {
    const uint64_t made = uint64_t{matches.size()} * on.size();
    if (made > kMostNewDependencies) {
      return absl::InvalidArgumentError(
          absl::StrCat("which: ALL of ", on.size(), " nodes for ", matches.size(), " matches are ", made,
                       " dependencies on rank ", draft->rank(), ", expected at most ", kMostNewDependencies,
                       ": use a narrower select or on, or which: PREVIOUS, NEXT or SAME_INDEX"));
    }
    Deps all;
    for (const uint32_t o : on) all.push_back({draft->row(o).id, o, IsData(), DelayNanos(), kEditKind});
    for (const uint32_t r : matches) draft->AddDeps(r, all);
    return absl::OkStatus();
  }

  const proto::AddDependency spec_;
  const Selector on_;
};

class DropDependencyEdit : public Operation {
 public:
  DropDependencyEdit(const proto::DropDependency& spec, Selector on) : spec_(spec), on_(std::move(on)) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    std::vector<bool> in(draft->size(), !spec_.has_on());
    if (spec_.has_on()) {
      ASSIGN_OR_RETURN(std::vector<uint32_t> on, on_.Match(draft));
      for (const uint32_t r : on) in[r] = true;
    }
    if (spec_.kind() == kEditKind)
      tally->notes.insert(
          "in traces read from files, only nodes that have dep_kinds record which dependencies an edit "
          "added");
    for (const uint32_t r : matches) {
      bool any = false;
      for (const Dep& d : Deps(draft->deps(r))) {
        const bool of_kind = spec_.kind().empty() || spec_.kind() == (d.data ? "data" : "control") ||
                             absl::string_view(spec_.kind()) == d.kind;
        if (d.row != kNoRow && in[d.row] && of_kind) any = draft->DropDep(r, d.row) || any;
      }
      if (!any) tally->Leave("no such dependency");
    }
    return absl::OkStatus();
  }

 private:
  const proto::DropDependency spec_;
  const Selector on_;
};

class MoveEdit : public Operation {
 public:
  MoveEdit(const LaneSpec& lane) : lane_(lane) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    for (const uint32_t r : matches) {
      const Row& row = draft->row(r);
      if (row.lane == lane_.lane && row.cpu() == lane_.cpu) {
        tally->Leave("already on that lane");
        continue;
      }
      LeaveLane(draft, r);
      draft->SetLane(r, lane_.cpu, lane_.lane);
    }
    return absl::OkStatus();
  }

 private:
  const LaneSpec lane_;
};

class ReorderEdit : public Operation {
 public:
  ReorderEdit(const proto::Reorder& spec, Selector anchor) : spec_(spec), anchor_(std::move(anchor)) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    std::vector<uint32_t> rows = matches;
    RETURN_IF_ERROR(SortRecorded(draft, &rows));
    ASSIGN_OR_RETURN(LanePlaces places, LanePlaces::Make(draft));
    if (spec_.reverse()) return Reverse(draft, rows, tally);
    ASSIGN_OR_RETURN(std::vector<uint32_t> anchors, anchor_.Match(draft));
    // Anchors by lane, in recorded order.
    absl::flat_hash_map<uint64_t, std::vector<uint32_t>> of_lane;
    RETURN_IF_ERROR(SortRecorded(draft, &anchors));
    for (const uint32_t a : anchors) of_lane[draft->LaneKey(a)].push_back(a);
    for (const uint32_t r : rows) {
      const auto it = of_lane.find(draft->LaneKey(r));
      const uint32_t anchor = it == of_lane.end() ? kNoRow : AnchorOf(places, it->second, r);
      if (anchor == kNoRow) {
        tally->Leave("no anchor on their lane");
      } else {
        Put(draft, places, r, anchor, tally);
      }
    }
    return absl::OkStatus();
  }

 private:
  // BEFORE: the last anchor recorded before the match; if there is none, the first anchor after it. AFTER:
  // the first anchor after the match; if there is none, the last before it.
  uint32_t AnchorOf(const LanePlaces& places, const std::vector<uint32_t>& anchors, uint32_t r) const {
    const auto next = std::lower_bound(anchors.begin(), anchors.end(), places.place(r),
                                       [&](uint32_t a, uint32_t p) { return places.place(a) < p; });
    const uint32_t later = next == anchors.end() || *next == r ? kNoRow : *next;
    const uint32_t earlier = next == anchors.begin() ? kNoRow : *std::prev(next);
    const uint32_t first = spec_.after() ? later : earlier, second = spec_.after() ? earlier : later;
    return first != kNoRow ? first : second;
  }

  void Put(Draft* draft, const LanePlaces& places, uint32_t r, uint32_t anchor, Tally* tally) const {
    LeaveLane(draft, r);
    if (spec_.after() ? draft->Reaches(anchor, r) : draft->Reaches(r, anchor)) {
      tally->Leave("their dependencies keep them there");
      return;
    }
    if (spec_.after()) {
      draft->AddDep(r, anchor, false);
      draft->SetStart(r, draft->row(anchor).start + draft->row(anchor).duration);
      if (places.next(anchor) != kNoRow && places.next(anchor) != r &&
          !draft->Reaches(r, places.next(anchor)))
        draft->AddDep(places.next(anchor), r, false);
    } else {
      draft->AddDep(anchor, r, false);
      draft->SetStart(r, draft->row(anchor).start);
      if (places.previous(anchor) != kNoRow && places.previous(anchor) != r &&
          !draft->Reaches(places.previous(anchor), r))
        draft->AddDep(r, places.previous(anchor), false);
    }
  }

  absl::Status Reverse(Draft* draft, const std::vector<uint32_t>& rows, Tally* tally) const {
    absl::flat_hash_map<uint64_t, std::vector<uint32_t>> of_lane;
    std::vector<uint64_t> lanes;
    for (const uint32_t r : rows) {
      std::vector<uint32_t>& list = of_lane[draft->LaneKey(r)];
      if (list.empty()) lanes.push_back(draft->LaneKey(r));
      list.push_back(r);
    }
    for (const uint64_t lane : lanes) {
      const std::vector<uint32_t>& list = of_lane[lane];
      std::vector<Time> starts;
      for (const uint32_t r : list) {
        starts.push_back(draft->row(r).start);
        LeaveLane(draft, r);
      }
      for (size_t i = 0; i + 1 < list.size(); ++i) {
        if (draft->Reaches(list[i + 1], list[i])) {
          tally->Leave("their dependencies keep them there");
          continue;
        }
        draft->AddDep(list[i], list[i + 1], false);
      }
      for (size_t i = 0; i < list.size(); ++i) draft->SetStart(list[i], starts[list.size() - 1 - i]);
    }
    return absl::OkStatus();
  }

  const proto::Reorder spec_;
  const Selector anchor_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeAddDependency(const proto::Edit& edit, const std::string& where) {
  const proto::AddDependency& spec = edit.add_dependency();
  if (!spec.has_on()) return BadField(where, "on", "absent, expected a selector");
  if (!(spec.delay_us() >= 0) || spec.delay_us() > kMaxMicros)
    return BadField(where, "delay_us", absl::StrCat(spec.delay_us(), ", expected 0 to ", kMaxMicros));
  ASSIGN_OR_RETURN(Selector on, Selector::Make(spec.on(), absl::StrCat(where, ", on")));
  return OnRank<AddDependencyEdit>(spec, std::move(on));
}

absl::StatusOr<AnyOperation> MakeDropDependency(const proto::Edit& edit, const std::string& where) {
  const proto::DropDependency& spec = edit.drop_dependency();
  static const std::vector<std::string> kKinds = {"data",     "control",    "start",   "thread", "call",
                                                  "hand_off", "wake_up",    "launch",  "stream", "event_wait",
                                                  "sync",     "collective", "release", "edit"};
  if (!spec.kind().empty() && std::find(kKinds.begin(), kKinds.end(), spec.kind()) == kKinds.end())
    return BadField(where, "kind",
                    absl::StrCat("unknown kind \"", spec.kind(), "\"", SuggestName(spec.kind(), kKinds)));
  ASSIGN_OR_RETURN(Selector on, Selector::Make(spec.on(), absl::StrCat(where, ", on")));
  return OnRank<DropDependencyEdit>(spec, std::move(on));
}

absl::StatusOr<AnyOperation> MakeMove(const proto::Edit& edit, const std::string& where) {
  absl::StatusOr<LaneSpec> lane = ParseLaneToPutOn(edit.move().lane());
  if (!lane.ok()) return BadField(where, "lane", lane.status().message());
  if (lane->any || lane->none)
    return BadField(where, "lane",
                    absl::StrCat("\"", edit.move().lane(), "\", expected stream:N or thread:N"));
  return OnRank<MoveEdit>(*lane);
}

absl::StatusOr<AnyOperation> MakeReorder(const proto::Edit& edit, const std::string& where) {
  const proto::Reorder& spec = edit.reorder();
  if (spec.reverse() == spec.has_anchor())
    return BadField(where, "anchor", "expected an anchor, or reverse, and not both");
  ASSIGN_OR_RETURN(Selector anchor, Selector::Make(spec.anchor(), absl::StrCat(where, ", anchor")));
  return OnRank<ReorderEdit>(spec, std::move(anchor));
}

}  // namespace chakra::edit
