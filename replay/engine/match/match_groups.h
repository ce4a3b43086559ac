// The groups of calls: by name, by involved_dim, or all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "trace/import/locate.h"
#include "trace/model/trace.h"

namespace chakra {

struct GroupInfo {
  std::string name;          // "" is all ranks
  std::vector<int> members;  // ranks with a trace, in the order of the group's list
  int size = 0;              // ranks of the group; more than `members` if some have no trace
  // Where ranks are twins: the groups (of the TraceSet) that do the same, and by member the next one that
  // does the same, round in a ring. Empty: none.
  std::vector<const Groups::value_type*> copies;
  std::vector<uint32_t> next_twin;
  // How many groups do the same.
  uint64_t times() const { return copies.size() + 1; }
};

class GroupResolver {
 public:
  // Makes the groups in `groups`, all ranks first. All must outlive this. The others as of
  // MatchCommunication().
  GroupResolver(const TraceSet& traces, const std::vector<int>& dimension_sizes, bool partial,
                std::vector<GroupInfo>* groups);
  // Calls of another rank follow.
  void BeginRank() { of_rank_.clear(); }
  // The group of the call in a row, made where it is new, and which of its members the rank is. Errors, which
  // name file, rank, node and field: the group is not known, has a member without a trace, or lacks the rank.
  absl::StatusOr<std::pair<uint32_t, uint32_t>> Find(const RankTrace& trace, uint32_t row);
  // How many calls were asked for that name no group, neither by name nor by dimensions.
  uint64_t without_group() const { return without_group_; }

 private:
  absl::Status Bad(const RankTrace& trace, uint32_t row, const std::string& what);
  absl::StatusOr<uint32_t> Resolve(const RankTrace& trace, uint32_t row, const std::string& name,
                                   const Comm& comm);
  // Of a trace that stands alone: whether `members` are its own rank.
  absl::Status CheckLone(const RankTrace& trace, uint32_t row, const std::string& name,
                         const std::vector<int>& members);
  uint32_t InvolvedDims(int rank, const Comm& comm);
  uint32_t Intern(const std::string& name, std::vector<int> members, int size);

  const TraceSet& traces_;
  const std::vector<int>& dims_;
  const bool partial_;
  std::vector<GroupInfo>* const groups_;
  std::map<std::pair<std::string, std::vector<int>>, uint32_t> by_key_;
  absl::flat_hash_map<const Groups::value_type*, uint32_t> named_;     // groups of the traces
  std::map<std::pair<std::vector<bool>, int64_t>, uint32_t> by_dims_;  // by what takes part and first member
  std::vector<absl::flat_hash_map<uint32_t, int>> member_of_;          // [rank]: group -> member
  std::map<std::tuple<uint32_t, uint32_t, uint8_t>, std::pair<uint32_t, uint32_t>> of_rank_;
  uint64_t without_group_ = 0;
  NodeLocator locator_;
};

}  // namespace chakra
