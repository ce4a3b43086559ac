// Turns the groups of one traced rank into those of a larger job: which groups grow, and which are repeated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// The value of `--replicas` together with `--ranks`: "N" or "GROUP=N".
struct Replicas {
  std::string group;  // "": the group of all recorded ranks, else the only group
  int to = 0;         // number of members; > 0
};
absl::StatusOr<Replicas> ParseReplicas(absl::string_view text);

// The groups of the traced rank, with the rank numbers of the new job.
struct Growth {
  struct Group {
    std::vector<int> recorded;  // members as they were recorded
    std::vector<int> members;   // with the new rank numbers
    size_t from() const { return recorded.size(); }
    bool grown() const { return members.size() != recorded.size(); }
  };
  int traced = 0;                       // the traced rank's new number
  std::map<std::string, Group> groups;  // all groups of the rank, by name
  int recorded = 0;                     // ranks of the recorded job; 0: unknown
  // The new number of a rank that the traced rank communicates with.
  int RankOf(int rank) const {
    const int64_t outer = rank / (stride * from), place = rank / stride % from;
    return static_cast<int>(rank % stride + stride * (place + to * outer));
  }
  // The dimension that RankOf() resizes: its `from` places, `stride` ranks apart, become `to` places.
  int64_t stride = 1, from = 1, to = 1;
};

// The groups of `trace`, whose recorded rank is `traced`, in a run of `ranks` ranks. Without `replicas`, a
// group of all ranks of the recorded job grows (or shrinks) to `ranks`, and all others stay. With `replicas`,
// the named group grows to that many members. If it is a group of all ranks, it grows as above. Otherwise its
// members keep their distance, a group that holds all of its places grows with it, and groups within one
// place keep their size and get new rank numbers. The recorded job has the ranks 0 to the largest rank in
// `groups`, if one group lists them all. Errors: no such group, a group that holds only some of the places, a
// traced rank that is no longer a member.
absl::StatusOr<Growth> GrowGroups(const RankTrace& trace, int traced, const Groups& groups, int ranks,
                                  const std::vector<Replicas>& replicas);

}  // namespace chakra
