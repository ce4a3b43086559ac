#include "replay/engine/match/match_groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"

namespace chakra {

GroupResolver::GroupResolver(const TraceSet& traces, const std::vector<int>& dimension_sizes, bool partial,
                             std::vector<GroupInfo>* groups)
    : traces_(traces), dims_(dimension_sizes), partial_(partial), groups_(groups) {
  GroupInfo world;
  for (size_t r = 0; r < traces.ranks.size(); ++r) world.members.push_back(static_cast<int>(r));
  world.size = static_cast<int>(world.members.size());
  groups->push_back(std::move(world));
  by_key_[{"", groups->front().members}] = 0;
  for (const int r : groups->front().members) member_of_.emplace_back().emplace(0, r);
}

absl::Status GroupResolver::Bad(const RankTrace& trace, uint32_t row, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(locator_.Describe(trace, row), ": ", what));
}

absl::StatusOr<std::pair<uint32_t, uint32_t>> GroupResolver::Find(const RankTrace& trace, uint32_t row) {
  const Comm& comm = trace.graph->comm[trace.graph->payload[row]];
  const Peer& peer = trace.peers[trace.graph->payload[row]];
  const std::string& name = trace.group_names[peer.group];
  if (name.empty() && (comm.dims_count == 0 || dims_.empty())) ++without_group_;
  const auto key = std::make_tuple(peer.group, name.empty() ? comm.involved_dims : 0u,
                                   name.empty() ? comm.dims_count : uint8_t{0});
  if (const auto it = of_rank_.find(key); it != of_rank_.end()) return it->second;
  ASSIGN_OR_RETURN(uint32_t group, Resolve(trace, row, name, comm));
  const auto member = member_of_[trace.rank].find(group);
  if (member == member_of_[trace.rank].end()) {
    return Bad(trace, row,
               absl::StrCat("pg_name: rank ", trace.rank, " calls on group \"", name,
                            "\", but is not a member; members are ",
                            absl::StrJoin((*groups_)[group].members, ", ")));
  }
  const std::pair<uint32_t, uint32_t> found(group, static_cast<uint32_t>(member->second));
  of_rank_.emplace(key, found);
  return found;
}

absl::Status GroupResolver::CheckIsolated(const RankTrace& trace, uint32_t row, const std::string& name,
                                          const std::vector<int>& members) {
  const int own = trace.recorded_rank == kNoRank ? trace.rank : trace.recorded_rank;
  const auto other = std::find_if(members.begin(), members.end(), [&](int r) { return r != own; });
  if (other == members.end()) return absl::OkStatus();
  int job = own + 1;
  for (const auto& [group, ranks] : traces_.groups) {
    for (const int r : ranks) job = std::max(job, r + 1);
  }
  return Bad(
      trace, row,
      absl::StrCat("pg_name: group \"", name, "\" names rank ", *other,
                   ", which has no trace: the only one is of rank ", own,
                   "; give the traces of all ranks, or replay all ranks like this one: --ranks ", job));
}

absl::StatusOr<uint32_t> GroupResolver::Resolve(const RankTrace& trace, uint32_t row, const std::string& name,
                                                const Comm& comm) {
  if (!name.empty()) {
    const auto it = traces_.groups.find(name);
    if (it == traces_.groups.end()) {
      if (name == "0" || (partial_ && traces_.ranks.size() == 1)) return 0u;
      return Bad(trace, row,
                 absl::StrCat("pg_name: process group \"", name, "\" is not defined",
                              traces_.group_source.empty()
                                  ? ": no groups were found. Give them with --groups FILE (JSON, {\"name\": "
                                    "[ranks]}), next to the traces, or in a process_group:init node"
                                  : absl::StrCat(" by ", traces_.group_source)));
    }
    if (!partial_ && traces_.ranks.size() == 1 && !traces_.of_one_trace) {
      RETURN_IF_ERROR(CheckIsolated(trace, row, name, it->second));
    }
    // Each member of a group asks for it, but the group is made only once.
    if (const auto known = named_.find(&*it); known != named_.end()) return known->second;
    std::vector<int> members;
    for (int r : it->second) {
      if (partial_ && r >= static_cast<int>(traces_.ranks.size())) continue;
      members.push_back(r);
      if (r < 0 || r >= static_cast<int>(traces_.ranks.size())) {
        return Bad(
            trace, row,
            absl::StrCat("pg_name: group \"", name, "\" names rank ", r, ", which has no trace (there are ",
                         traces_.ranks.size(),
                         "); give all traces, or replay one trace as N symmetric ranks with --ranks N"));
      }
    }
    const uint32_t group = Intern(name, std::move(members), static_cast<int>(it->second.size()));
    named_.emplace(&*it, group);
    return group;
  }
  if (comm.dims_count == 0 || dims_.empty()) return 0u;
  return InvolvedDims(trace.rank, comm);
}

// The group of all ranks that differ from `rank` only in dimensions that take part.
uint32_t GroupResolver::InvolvedDims(int rank, const Comm& comm) {
  std::vector<bool> involved(dims_.size(), true);
  bool all = true;
  for (size_t d = 0; d < dims_.size() && d < comm.dims_count; ++d) {
    involved[d] = (comm.involved_dims >> d) & 1;
    all = all && (involved[d] || dims_[d] == 1);
  }
  if (all) return 0;
  // The lowest rank of the group; each member computes the same one.
  int64_t first = rank, stride = 1;
  for (size_t d = 0; d < dims_.size(); stride *= dims_[d], ++d) {
    if (involved[d]) first -= (rank / stride) % dims_[d] * stride;
  }
  const bool grid = stride == static_cast<int64_t>(traces_.ranks.size());
  const auto [known, fresh] = by_dims_.try_emplace({involved, first}, 0);
  if (grid && !fresh) return known->second;
  std::vector<int> members;
  if (grid) members.push_back(static_cast<int>(first));
  stride = 1;
  for (size_t d = 0; grid && d < dims_.size(); stride *= dims_[d], ++d) {
    const size_t lower = members.size();
    for (int at = 1; involved[d] && at < dims_[d]; ++at) {
      for (size_t i = 0; i < lower; ++i) members.push_back(members[i] + static_cast<int>(at * stride));
    }
  }
  for (int r = 0; !grid && r < static_cast<int>(traces_.ranks.size()); ++r) {
    bool same = true;
    stride = 1;
    for (size_t d = 0; d < dims_.size(); stride *= dims_[d], ++d) {
      if (!involved[d] && (r / stride) % dims_[d] != (rank / stride) % dims_[d]) same = false;
    }
    if (same) members.push_back(r);
  }
  std::string name = "dims";
  for (size_t d = 0; d < dims_.size(); ++d) absl::StrAppend(&name, involved[d] ? ":1" : ":0");
  absl::StrAppend(&name, "@", members.front());
  const auto size = static_cast<int>(members.size());
  return known->second = Intern(name, std::move(members), size);
}

uint32_t GroupResolver::Intern(const std::string& name, std::vector<int> members, int size) {
  const auto [it, fresh] =
      by_key_.emplace(std::make_pair(name, members), static_cast<uint32_t>(groups_->size()));
  if (fresh) {
    groups_->push_back({name, members, size});
    for (size_t i = 0; i < members.size(); ++i) {
      member_of_[members[i]].emplace(it->second, static_cast<int>(i));
    }
  }
  return it->second;
}

}  // namespace chakra
