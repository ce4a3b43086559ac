#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/edit/lane_places.h"
#include "trace/edit/operation.h"

namespace chakra::edit {
namespace {

// Nodes that are copied together: rows in recorded order.
using Rows = std::vector<uint32_t>;

class DuplicateEdit : public Operation {
 public:
  DuplicateEdit(const proto::Duplicate& spec, std::unique_ptr<Selector> until)
      : spec_(spec), until_(std::move(until)) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    ASSIGN_OR_RETURN(LanePlaces places, LanePlaces::Make(draft));
    std::vector<uint32_t> group_of(draft->size(), kNoRow);
    std::vector<Rows> groups;
    if (until_ != nullptr) {
      RETURN_IF_ERROR(Stretches(draft, places, matches, &group_of, &groups, tally));
    } else if (spec_.each()) {
      for (const uint32_t r : matches) {
        group_of[r] = static_cast<uint32_t>(groups.size());
        groups.push_back({r});
      }
    } else {
      Connected(draft, places, matches, &group_of, &groups);
    }
    const auto earlier = [&](uint32_t a, uint32_t b) { return places.place(a) < places.place(b); };
    for (Rows& rows : groups) {
      TakeLaunched(draft, &group_of, &rows);
      std::sort(rows.begin(), rows.end(), earlier);
    }
    const uint32_t known = draft->size();  // number of rows that `places` knows
    for (const Rows& rows : groups) CopyGroup(draft, places, known, rows, tally);
    return absl::OkStatus();
  }

 private:
  // Makes a group of each match and the rows after it on its lane, up to the next row that `until` matches.
  absl::Status Stretches(Draft* draft, const LanePlaces& places, std::vector<uint32_t> matches,
                         std::vector<uint32_t>* group_of, std::vector<Rows>* groups, Tally* tally) const {
    ASSIGN_OR_RETURN(std::vector<uint32_t> ends, until_->Match(draft));
    std::vector<bool> ends_at(draft->size());
    for (const uint32_t r : ends) ends_at[r] = true;
    std::sort(matches.begin(), matches.end(),
              [&](uint32_t a, uint32_t b) { return places.place(a) < places.place(b); });
    for (const uint32_t match : matches) {
      if ((*group_of)[match] != kNoRow) {
        tally->notes.insert("matches inside the stretch of an earlier match begin no stretch");
        continue;
      }
      Rows rows;
      uint32_t at = match;
      for (; at != kNoRow && (rows.empty() || !ends_at[at]); at = places.next(at)) {
        rows.push_back(at);
        (*group_of)[at] = static_cast<uint32_t>(groups->size());
      }
      if (at == kNoRow)
        return draft->Error(
            match,
            "duplicate: `until` matches nothing after this node on its lane; expected the last node to copy");
      groups->push_back(std::move(rows));
    }
    return absl::OkStatus();
  }

  // Makes groups of matches that follow each other on a lane or depend on each other.
  static void Connected(Draft* draft, const LanePlaces& places, const std::vector<uint32_t>& matches,
                        std::vector<uint32_t>* group_of, std::vector<Rows>* groups) {
    absl::flat_hash_map<uint32_t, uint32_t> index;
    for (uint32_t i = 0; i < matches.size(); ++i) index[matches[i]] = i;
    std::vector<uint32_t> root(matches.size());
    std::iota(root.begin(), root.end(), 0u);
    const auto find = [&](uint32_t i) {
      while (root[i] != i) i = root[i] = root[root[i]];
      return i;
    };
    for (uint32_t i = 0; i < matches.size(); ++i) {
      const auto join = [&](uint32_t row) {
        const auto it = index.find(row);
        if (it != index.end()) root[find(it->second)] = find(i);
      };
      join(places.next(matches[i]));
      for (const Dep& d : draft->deps(matches[i])) join(d.row);
    }
    absl::flat_hash_map<uint32_t, uint32_t> group;
    for (uint32_t i = 0; i < matches.size(); ++i) {
      const auto [it, fresh] = group.try_emplace(find(i), static_cast<uint32_t>(groups->size()));
      if (fresh) groups->emplace_back();
      (*groups)[it->second].push_back(matches[i]);
      (*group_of)[matches[i]] = it->second;
    }
  }

  // Adds the nodes that a group launches to the group.
  static void TakeLaunched(Draft* draft, std::vector<uint32_t>* group_of, Rows* rows) {
    const uint32_t own = (*group_of)[rows->front()];
    for (size_t i = 0; i < rows->size(); ++i) {
      for (const uint32_t child : draft->children((*rows)[i])) {
        const Deps& deps = draft->deps(child);
        const bool launched = std::any_of(deps.begin(), deps.end(), [&](const Dep& d) {
          return d.row == (*rows)[i] && d.kind == "launch";
        });
        if (!launched || (*group_of)[child] != kNoRow) continue;
        (*group_of)[child] = own;
        rows->push_back(child);
      }
    }
  }

  // Copies a group. A copy keeps the recorded start of its original, so that it comes before the rows that
  // followed the original.
  void CopyGroup(Draft* draft, const LanePlaces& places, uint32_t known, const Rows& rows,
                 Tally* tally) const {
    const uint32_t original = draft->size();
    Rows last = rows;
    for (int k = 1; k < spec_.times(); ++k) {
      Rows copies;
      for (const uint32_t r : rows) copies.push_back(draft->Clone(r));
      Connect(draft, rows, last, copies);
      tally->added += rows.size();
      last = std::move(copies);
    }
    const absl::flat_hash_set<uint32_t> needed = Needed(draft, places, known, rows);
    const absl::flat_hash_set<uint32_t> in(rows.begin(), rows.end());
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto children = draft->children(rows[i]);
      for (const uint32_t child : children) {
        if (child >= original || in.contains(child)) continue;
        if (child < known && needed.contains(child)) {
          tally->notes.insert(
              "nodes between the nodes of one copy are not copied, and stay with the first copy");
        } else {
          Follow(draft, child, rows[i], last[i]);
        }
      }
    }
  }

  // Returns the rows that nodes of the group depend on and that are recorded after the group's first node:
  // these rows keep their dependencies on the original group. Rows from `known` on are copies.
  static absl::flat_hash_set<uint32_t> Needed(Draft* draft, const LanePlaces& places, uint32_t known,
                                              const Rows& rows) {
    absl::flat_hash_set<uint32_t> needed;
    Rows todo = rows;
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      for (const Dep& d : draft->deps(at)) {
        if (d.row == kNoRow || (d.row < known && places.place(d.row) < places.place(rows.front()))) continue;
        if (needed.insert(d.row).second) todo.push_back(d.row);
      }
    }
    return needed;
  }

  // Connects the nodes of a copy as those of the group are connected. On each lane, the copy's first node
  // follows the previous copy's last node, with the gap that was before the group's first node. On lanes
  // without a strict order, a node that depends on nothing in the group depends on the ends of the previous
  // copy.
  static void Connect(Draft* draft, const Rows& rows, const Rows& before, const Rows& copies) {
    absl::flat_hash_map<uint32_t, uint32_t> copy_of;
    absl::flat_hash_map<uint64_t, uint32_t> lane_end;
    Rows ends;
    for (size_t i = 0; i < rows.size(); ++i) copy_of[rows[i]] = copies[i];
    for (size_t i = 0; i < rows.size(); ++i) {
      lane_end[draft->LaneKey(rows[i])] = before[i];
      const auto& children = draft->children(rows[i]);
      if (std::none_of(children.begin(), children.end(), [&](uint32_t c) { return copy_of.contains(c); }))
        ends.push_back(before[i]);
    }
    absl::flat_hash_map<uint64_t, uint32_t> newest;  // newest copied row of each lane
    for (size_t i = 0; i < rows.size(); ++i) {
      draft->KeepCaller(rows[i], copies[i], copy_of);
      bool inside = false;
      Dep lane = OfEdit({});
      for (const Dep& d : Deps(draft->deps(rows[i]))) {
        if (d.row == kNoRow) continue;
        const auto it = copy_of.find(d.row);
        if (it != copy_of.end()) {
          draft->AddDep(copies[i], it->second, d);
          inside = true;
        } else if (draft->LaneKey(d.row) == draft->LaneKey(rows[i])) {
          lane = AfterEnd(d, draft->row(d.row).duration);
        }
      }
      const uint64_t key = draft->LaneKey(rows[i]);
      const auto [previous, first] = newest.emplace(key, copies[i]);
      if (first && draft->StrictLane(rows[i])) {
        draft->AddDep(copies[i], lane_end[key], lane);
      } else if (!inside && draft->StrictLane(rows[i])) {
        draft->AddDep(copies[i], previous->second, true);
      } else if (!inside) {
        for (const uint32_t end : ends) draft->AddDep(copies[i], end, true);
      }
      previous->second = copies[i];
    }
  }

  // Makes a child of r outside the group depend on r's last copy instead, unless r handed work to another
  // thread there (hand_off).
  static void Follow(Draft* draft, uint32_t child, uint32_t r, uint32_t last) {
    for (const Dep& d : Deps(draft->deps(child))) {
      if (d.row != r || d.kind == "hand_off") continue;
      draft->DropDep(child, r);
      draft->AddDep(child, last, d);
    }
  }

  const proto::Duplicate spec_;
  const std::unique_ptr<Selector> until_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeDuplicate(const proto::Edit& edit, const std::string& where) {
  const proto::Duplicate& spec = edit.duplicate();
  if (spec.times() < 2 || spec.times() > 100000)
    return BadField(where, "times", absl::StrCat(spec.times(), ", expected 2 to 100000"));
  std::unique_ptr<Selector> until;
  if (spec.each() && spec.has_until())
    return BadField(where, "each", "given with until, expected one of the two");
  if (spec.has_until()) {
    ASSIGN_OR_RETURN(Selector made, Selector::Make(spec.until(), absl::StrCat(where, ", duplicate.until")));
    until = std::make_unique<Selector>(std::move(made));
  }
  return OnRank<DuplicateEdit>(spec, std::move(until));
}

}  // namespace chakra::edit
