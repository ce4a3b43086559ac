#include "replay/run/growth.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/run/rank_box.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

std::vector<int> FirstRanks(int64_t n) {
  std::vector<int> ranks(static_cast<size_t>(n));
  for (size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<int>(r);
  return ranks;
}

// Whether the members, in any order, are the ranks 0 to n - 1.
bool AreFirst(std::vector<int> members, int n) {
  std::sort(members.begin(), members.end());
  return n > 0 && members == FirstRanks(n);
}

// Gives `members` the size `n`. Existing ranks keep their order; new ranks come after them.
std::vector<int> Resized(std::vector<int> members, int n) {
  const int had = static_cast<int>(members.size());
  members.erase(std::remove_if(members.begin(), members.end(), [n](int m) { return m >= n; }), members.end());
  for (int r = had; r < n; ++r) members.push_back(r);
  return members;
}

// The number of ranks 0 to the largest of all groups, if one group lists exactly these; else 0.
int RecordedRanks(const Groups& groups) {
  int most = -1;
  for (const auto& [name, members] : groups) {
    for (const int m : members) most = std::max(most, m);
  }
  const bool listed = std::any_of(groups.begin(), groups.end(),
                                  [most](const auto& g) { return AreFirst(g.second, most + 1); });
  return listed ? most + 1 : 0;
}

absl::Status Bad(const Replicas& replicas, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("--replicas ", replicas.group.empty() ? "" : absl::StrCat(replicas.group, "="),
                   replicas.to, ": ", what));
}

std::string Listed(const std::map<std::string, Growth::Group>& groups) {
  std::vector<std::string> names;
  for (const auto& [name, group] : groups) {
    if (group.from() > 1) names.push_back(absl::StrCat("\"", name, "\" of ", group.from()));
  }
  return names.empty() ? "the trace has no group of several ranks"
                       : absl::StrCat("the trace has ", absl::StrJoin(names, ", "));
}

// The name of the group that `replicas` refers to.
absl::StatusOr<std::string> Named(const Replicas& replicas, const Growth& growth) {
  if (!replicas.group.empty()) {
    if (growth.groups.contains(replicas.group)) return replicas.group;
    return Bad(replicas, absl::StrCat("no group of that name; ", Listed(growth.groups)));
  }
  std::vector<std::string> whole, several;
  for (const auto& [name, group] : growth.groups) {
    if (group.from() > 1) several.push_back(name);
    if (growth.recorded > 1 && AreFirst(group.members, growth.recorded)) whole.push_back(name);
  }
  if (!whole.empty()) return whole[0];
  if (several.size() == 1) return several[0];
  return Bad(replicas,
             absl::StrCat("expected GROUP=N, with the data-parallel group; ", Listed(growth.groups)));
}

// Gives groups of all recorded ranks `to` members; all others stay.
void GrowWhole(int to, Growth* growth) {
  for (auto& [name, group] : growth->groups) {
    if (AreFirst(group.members, growth->recorded)) group.members = Resized(group.members, to);
  }
}

absl::Status NoMember(const Replicas& replicas, int traced, int64_t place) {
  return Bad(replicas,
             absl::StrCat("rank ", traced, " would no longer be a member; expected at least ", place + 1));
}

// Sets the dimension of `growth` to that of the group `name`.
absl::Status SetDimension(const Replicas& replicas, const std::string& name, int traced, Growth* growth) {
  const std::vector<int>& members = growth->groups.at(name).members;
  const std::optional<RankBox> box = BoxOf(members);
  if (!box || box->sides.size() > 1 || box->BaseOf(box->base) != box->base) {
    return Bad(replicas, absl::StrCat("group \"", name, "\" has the ranks ", absl::StrJoin(members, ", "),
                                      "; expected equal distances, from a multiple of the distance on"));
  }
  if (box->sides.empty()) {
    return Bad(replicas, absl::StrCat("group \"", name, "\" has one rank; expected one of several"));
  }
  growth->stride = box->sides[0].stride;
  growth->from = box->sides[0].count;
  growth->to = replicas.to;
  const int64_t place = traced / growth->stride % growth->from;
  if (place >= replicas.to) return NoMember(replicas, traced, place);
  return absl::OkStatus();
}

// Renumbers a group within one place of the dimension; a group over all places also grows with the dimension.
absl::Status RenumberGroups(const Replicas& replicas, const std::string& name, Growth* growth) {
  Growth::Group& group = growth->groups.at(name);
  std::map<int64_t, std::set<int64_t>> by_place;  // by place: the members' numbers without the place
  for (const int m : group.members) {
    const int64_t place = m / growth->stride % growth->from;
    by_place[place].insert(m - place * growth->stride);
  }
  const std::set<int64_t>& first = by_place.begin()->second;
  const bool all =
      static_cast<int64_t>(by_place.size()) == growth->from &&
      std::all_of(by_place.begin(), by_place.end(), [&](const auto& p) { return p.second == first; });
  if (by_place.size() > 1 && !all) {
    return Bad(replicas,
               absl::StrCat("group \"", name, "\" (", absl::StrJoin(group.members, ", "),
                            ") holds some places of the dimension; expected one or all ", growth->from));
  }
  std::vector<int> members, fresh;  // existing members keep their order, new members follow
  for (const int m : group.members) {
    if (by_place.size() == 1 || m / growth->stride % growth->from < growth->to)
      members.push_back(growth->RankOf(m));
  }
  for (int64_t p = growth->from; by_place.size() > 1 && p < growth->to; ++p) {
    for (const int64_t at : first)
      fresh.push_back(static_cast<int>(growth->RankOf(static_cast<int>(at)) + p * growth->stride));
  }
  std::sort(fresh.begin(), fresh.end());
  members.insert(members.end(), fresh.begin(), fresh.end());
  group.members = std::move(members);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Replicas> ParseReplicas(absl::string_view text) {
  Replicas out;
  const size_t at = text.rfind('=');
  const absl::string_view number = at == absl::string_view::npos ? text : text.substr(at + 1);
  if (at != absl::string_view::npos) out.group = std::string(text.substr(0, at));
  if (!absl::SimpleAtoi(number, &out.to) || out.to < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--replicas ", text, ": expected N, or GROUP=N with one group of data parallelism, N from 1"));
  }
  return out;
}

absl::StatusOr<Growth> GrowGroups(const RankTrace& trace, int traced, const Groups& groups, int ranks,
                                  const std::vector<Replicas>& replicas) {
  Growth growth;
  growth.traced = traced;
  growth.recorded = RecordedRanks(groups);
  for (const std::string& name : trace.group_names) {
    const auto it = groups.find(name);
    if (it == groups.end() || it->second.empty()) continue;
    growth.groups[name] = {it->second, it->second};
  }
  if (replicas.empty()) {
    GrowWhole(ranks, &growth);
    return growth;
  }
  if (replicas.size() > 1) return Bad(replicas[1], "given twice; with --ranks, expected it once");
  ASSIGN_OR_RETURN(const std::string name, Named(replicas[0], growth));
  if (AreFirst(growth.groups.at(name).members, growth.recorded)) {
    if (traced >= replicas[0].to) return NoMember(replicas[0], traced, traced);
    GrowWhole(replicas[0].to, &growth);
    return growth;
  }
  RETURN_IF_ERROR(SetDimension(replicas[0], name, traced, &growth));
  for (auto& [other, group] : growth.groups) {
    RETURN_IF_ERROR(RenumberGroups(replicas[0], other, &growth));
  }
  growth.traced = growth.RankOf(traced);
  return growth;
}

}  // namespace chakra
