// Edits of whole ranks: renumber ranks, rename groups, delay the start of a rank.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/edit/operation.h"

namespace chakra::edit {
namespace {

class RemapRanksEdit : public SetOperation {
 public:
  RemapRanksEdit(const proto::RemapRanks& spec, std::string where) : spec_(spec), where_(std::move(where)) {}

  absl::Status Reshape(const SetShape& before, SetShape* after, std::vector<int>* source,
                       std::set<std::string>*) const override {
    source->assign(static_cast<size_t>(before.ranks), -1);
    for (int r = 0; r < before.ranks; ++r) {
      const int to = Map(r);
      if (to < 0 || to >= before.ranks)
        return absl::InvalidArgumentError(
            absl::StrCat("rank ", r, " becomes ", to, ", expected 0 to ", before.ranks - 1));
      int& from = (*source)[static_cast<size_t>(to)];
      if (from >= 0)
        return absl::InvalidArgumentError(
            absl::StrCat("ranks ", from, " and ", r, " both become ", to, ", expected a permutation"));
      from = r;
    }
    for (const auto& [from, to] : spec_.rank()) {
      if (from < 0 || from >= before.ranks)
        return absl::InvalidArgumentError(
            absl::StrCat("there is no rank ", from, ", expected 0 to ", before.ranks - 1));
    }
    for (auto& [name, members] : after->groups) {
      for (int& m : members) m = Map(m);
    }
    return absl::OkStatus();
  }

  absl::Status Apply(Draft* draft, int, const SetShape&, const SetShape&, Tally*) const override {
    for (uint32_t r = 0; r < draft->size(); ++r) {
      const Row& row = draft->row(r);
      if (row.removed || !row.is_comm()) continue;
      Peer peer = row.peer;
      for (int32_t* p : {&peer.src, &peer.dst, &peer.root}) *p = *p == kNoRank ? kNoRank : Map(*p);
      draft->SetPeer(r, peer);
    }
    return absl::OkStatus();
  }

 private:
  int Map(int rank) const {
    const auto it = spec_.rank().find(rank);
    return it == spec_.rank().end() ? rank : it->second;
  }
  const proto::RemapRanks spec_;
  const std::string where_;
};

class RemapGroupsEdit : public SetOperation {
 public:
  explicit RemapGroupsEdit(const proto::RemapGroups& spec) : spec_(spec) {}

  absl::Status Reshape(const SetShape& before, SetShape* after, std::vector<int>* source,
                       std::set<std::string>* notes) const override {
    source->clear();
    std::vector<std::string> known;
    for (const auto& [name, members] : before.groups) known.push_back(name);
    for (const auto& [from, to] : spec_.group()) {
      const auto it = before.groups.find(from);
      if (it == before.groups.end() && !from.empty() && !known.empty())
        return absl::InvalidArgumentError(
            absl::StrCat("there is no group \"", from, "\"", SuggestName(from, known)));
      if (it == before.groups.end()) {
        notes->insert(absl::StrCat("the members of group \"", from, "\" are unknown"));
        continue;
      }
      const auto target = before.groups.find(to);
      const bool moves = to.empty() || (target != before.groups.end() && !spec_.group().contains(to));
      const size_t room = to.empty() ? static_cast<size_t>(before.ranks) : moves ? target->second.size() : 0;
      if (moves && room != it->second.size()) {
        return absl::InvalidArgumentError(absl::StrCat("group \"", from, "\" of ", it->second.size(),
                                                       " ranks becomes \"", to, "\", which has ", room,
                                                       ", expected a new name or a group of the same ranks"));
      }
      after->groups.erase(from);
    }
    for (const auto& [from, to] : spec_.group()) {
      const auto it = before.groups.find(from);
      if (it != before.groups.end() && !to.empty()) after->groups.emplace(to, it->second);
    }
    return absl::OkStatus();
  }

  absl::Status Apply(Draft* draft, int, const SetShape&, const SetShape&, Tally*) const override {
    for (uint32_t r = 0; r < draft->size(); ++r) {
      const Row& row = draft->row(r);
      if (row.removed || !row.is_comm()) continue;
      const auto it = spec_.group().find(std::string(row.group));
      if (it != spec_.group().end() && it->second != row.group) draft->SetGroup(r, it->second);
    }
    return absl::OkStatus();
  }

 private:
  const proto::RemapGroups spec_;
};

class DelayRankEdit : public Operation {
 public:
  explicit DelayRankEdit(double us) : us_(us) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>&, Tally* tally) const override {
    NewRow row;
    row.name = "[delay]";
    row.cpu = true;
    row.duration = FromMicros(us_);
    std::vector<uint32_t> roots;
    for (uint32_t r = 0; r < draft->size(); ++r) {
      if (draft->row(r).removed || !draft->row(r).works()) continue;
      // A METADATA node, such as the beginning of a capture, takes no time: a node that waits only for such
      // nodes is a root too.
      const Deps& deps = draft->deps(r);
      if (std::all_of(deps.begin(), deps.end(),
                      [&](const Dep& d) { return d.row == kNoRow || !draft->row(d.row).works(); })) {
        roots.push_back(r);
      }
    }
    const uint32_t delay = draft->Add(row, Time::Zero());
    for (const uint32_t r : roots) {
      Dep late = OfEdit({});
      for (const Dep& d : draft->deps(r)) {
        if (d.row != kNoRow) late.TakeLonger(AfterEnd(d, Time::Zero()), Time::Zero());
      }
      draft->AddDep(r, delay, late);
    }
    ++tally->added;
    return absl::OkStatus();
  }

 private:
  const double us_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeRemapRanks(const proto::Edit& edit, const std::string& where) {
  if (edit.remap_ranks().rank().empty()) return BadField(where, "rank", "absent, expected old and new ranks");
  return OnSet<RemapRanksEdit>(edit.remap_ranks(), where);
}

absl::StatusOr<AnyOperation> MakeRemapGroups(const proto::Edit& edit, const std::string& where) {
  if (edit.remap_groups().group().empty())
    return BadField(where, "group", "absent, expected old and new names");
  return OnSet<RemapGroupsEdit>(edit.remap_groups());
}

absl::StatusOr<AnyOperation> MakeDelayRank(const proto::Edit& edit, const std::string& where) {
  const double us = edit.delay_rank().us();
  if (!(us > 0) || us > kMaxMicros)
    return BadField(where, "us", absl::StrCat(us, ", expected above 0 and at most ", kMaxMicros));
  return OnRank<DelayRankEdit>(us);
}

}  // namespace chakra::edit
