// Finds the rendezvous of ranks: collective calls of one group with one number.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "trace/import/collective_logs/calls.h"

namespace chakra::collective_logs {

// A logged rank, and its row of RankLog::comms.
using RankComm = std::pair<uint32_t, uint32_t>;

// One collective call of a group, on all its members.
struct Rendezvous {
  uint32_t members = 0;  // number of members that logged it
  bool timed = true;
  int64_t last_start = INT64_MIN;
  int64_t least_duration = INT64_MAX;
};

// The rendezvous of all groups. Memory grows with the number of calls of groups, and with the lists of calls
// that differ between ranks.
class AllRendezvous {
 public:
  // `calls`: by logged rank; they must not change during the object's lifetime, except for times and marks.
  // `logs`: by group.
  AllRendezvous(const std::vector<const LogCalls*>& calls, const std::vector<std::vector<RankComm>>& logs);

  size_t size() const { return all_rendezvous_.size(); }
  // Calls fn(call, number of its rendezvous, the rendezvous) for each collective of the rank, in the order of
  // calls.
  template <typename Fn>
  void ForEach(uint32_t rank, const Fn& fn) {
    const std::vector<uint32_t>& ordinal = lists_[rank]->ordinal;
    for (size_t i = 0; i < ordinal.size(); ++i) {
      if (ordinal[i] == kNoRow) continue;
      const Place& place = places_[rank][(*calls_[rank]).facts(i).comm];
      const uint32_t at = place.at.empty() ? place.base + ordinal[i] : place.at[ordinal[i]];
      fn(i, at, &all_rendezvous_[at]);
    }
  }

 private:
  // A call's number in its group, and its position among the calls with this number: calls that were launched
  // together share a number.
  using Key = std::pair<uint64_t, uint32_t>;
  // The numbers of a rank's calls on one group.
  struct Numbers {
    uint64_t first = 0;
    uint32_t count = 0;
    std::vector<Key> keys;  // empty: first, first + 1, ...
    bool operator==(const Numbers&) const = default;
    Key at(uint32_t i) const { return keys.empty() ? Key{first + i, 0} : keys[i]; }
  };
  // Shared by ranks with equal facts.
  struct List {
    // By call: its position among the calls of its group; kNoRow: not a collective.
    std::vector<uint32_t> ordinal;
    std::vector<Numbers> numbers;  // by row of RankLog::comms
  };
  // The rendezvous of a rank's calls on one group.
  struct Place {
    uint32_t base = 0;
    std::vector<uint32_t> at;  // by ordinal; empty: base, base + 1, ...
  };
  static List ListOf(const LogCalls& calls);
  const Numbers& NumbersOf(const RankComm& of) const;
  void AddGroup(const std::vector<RankComm>& logs);

  const std::vector<const LogCalls*> calls_;
  std::vector<std::shared_ptr<const List>> lists_;  // by rank
  std::vector<std::vector<Place>> places_;          // by rank and row of RankLog::comms
  std::vector<Rendezvous> all_rendezvous_;
};

}  // namespace chakra::collective_logs
