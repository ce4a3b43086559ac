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
  std::vector<int> members;  // ranks with a trace, in the order in which the group lists them
  int size = 0;              // ranks of the group; larger than `members` if some have no trace
  // Only with symmetric ranks; else empty. `copies`: the symmetric groups in the TraceSet. `next_symmetric`:
  // by member, the next symmetric member of the group; the members form a ring.
  std::vector<const Groups::value_type*> copies;
  std::vector<uint32_t> next_symmetric;
  // The number of symmetric groups, this one included.
  uint64_t times() const { return copies.size() + 1; }
};

class GroupResolver {
 public:
  // Adds groups to `groups`, first the group of all ranks. All arguments must outlive this object.
  // `dimension_sizes` and `partial` are as in MatchCommunication().
  GroupResolver(const TraceSet& traces, const std::vector<int>& dimension_sizes, bool partial,
                std::vector<GroupInfo>* groups);
  // Must be called before the calls of another rank.
  void BeginRank() { of_rank_.clear(); }
  // The group of the call in a row (made if it is new), and the rank's member number in it. Errors, which
  // name file, rank, node and field: the group is unknown, has a member without a trace, or does not contain
  // the rank.
  absl::StatusOr<std::pair<uint32_t, uint32_t>> Find(const RankTrace& trace, uint32_t row);
  // The number of calls passed to Find() that name no group, neither by name nor by dimensions.
  uint64_t without_group() const { return without_group_; }

 private:
  absl::Status Bad(const RankTrace& trace, uint32_t row, const std::string& what);
  absl::StatusOr<uint32_t> Resolve(const RankTrace& trace, uint32_t row, const std::string& name,
                                   const Comm& comm);
  // For a trace that is replayed by itself: an error unless `members` has only its own rank.
  absl::Status CheckIsolated(const RankTrace& trace, uint32_t row, const std::string& name,
                             const std::vector<int>& members);
  uint32_t InvolvedDims(int rank, const Comm& comm);
  uint32_t Intern(const std::string& name, std::vector<int> members, int size);

  const TraceSet& traces_;
  const std::vector<int>& dims_;
  const bool partial_;
  std::vector<GroupInfo>* const groups_;
  std::map<std::pair<std::string, std::vector<int>>, uint32_t> by_key_;
  absl::flat_hash_map<const Groups::value_type*, uint32_t> named_;     // groups of the traces
  std::map<std::pair<std::vector<bool>, int64_t>, uint32_t> by_dims_;  // key: dimensions that take part, and
                                                                       // the first member
  std::vector<absl::flat_hash_map<uint32_t, int>> member_of_;          // [rank]: group -> member
  std::map<std::tuple<uint32_t, uint32_t, uint8_t>, std::pair<uint32_t, uint32_t>> of_rank_;
  uint64_t without_group_ = 0;
  NodeLocator locator_;
};

}  // namespace chakra
