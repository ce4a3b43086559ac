// How the groups of one traced rank become those of many: which grow, and which stay and are repeated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// What `--replicas` says beside `--ranks`: "N" or "GROUP=N".
struct Replicas {
  std::string group;  // "": the group of all recorded ranks, or else the only group
  int to = 0;         // members; > 0
};
absl::StatusOr<Replicas> ParseReplicas(absl::string_view text);

// The groups of the traced rank in the numbers of the new job.
struct Growth {
  struct Group {
    std::vector<int> recorded;  // members as they were recorded
    std::vector<int> members;   // in new numbers
    size_t from() const { return recorded.size(); }
    bool grown() const { return members.size() != recorded.size(); }
  };
  int traced = 0;                       // the traced rank's new number
  std::map<std::string, Group> groups;  // all that the rank is in, by name
  int recorded = 0;                     // ranks of the recorded job; 0: nothing tells
  // A peer's new number.
  int RankOf(int rank) const {
    const int64_t outer = rank / (stride * from), place = rank / stride % from;
    return static_cast<int>(rank % stride + stride * (place + to * outer));
  }
  // The dimension along which RankOf() makes room: `from` places, `stride` ranks apart, become `to`.
  int64_t stride = 1, from = 1, to = 1;
};

// The groups of `trace`, whose recorded rank is `traced`, in a run of `ranks` ranks. Without `replicas`, a
// group that holds all ranks of the recorded job grows (or shrinks) to `ranks`, and all others stay. With
// `replicas`, its group grows to as many members: one of all ranks likewise; another keeps the distance of
// its members, a group that holds all its places grows with it, and groups within one place stay, with the
// distances that the new numbers give. The recorded job has the ranks 0 to the largest of `groups`, if one
// group lists them all. Errors: no such group, a group that holds some of the places, a traced rank that is
// no member any more.
absl::StatusOr<Growth> GrowGroups(const RankTrace& trace, int traced, const Groups& groups, int ranks,
                                  const std::vector<Replicas>& replicas);

}  // namespace chakra
