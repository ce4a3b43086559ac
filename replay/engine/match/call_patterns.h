// Ranks that make the same calls, each in groups of its own: the matching of one rank serves the others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "trace/model/trace.h"

namespace chakra {

// The calls of ranks whose call columns share memory: only collectives without a root.
struct CallPattern {
  // The calls in one group.
  struct Use {
    uint32_t first_row = 0;  // row of the first call
    uint32_t count = 0;
  };
  std::vector<Use> uses;                                      // in the order of their first calls
  Column<uint32_t> use_of;                                    // by index into Graph::comm: index into `uses`
  std::map<std::vector<uint32_t>, Column<uint32_t>> indices;  // of calls, by index into Graph::comm; key: the
                                                              // groups of `uses`
};

// Finds the pattern of a rank.
class CallPatterns {
 public:
  // Null: the rank has messages or collectives with a root, or calls without a named group.
  CallPattern* Find(const RankTrace& trace);

 private:
  struct Known {
    const RankTrace* like;
    std::unique_ptr<CallPattern> calls;
  };
  static std::unique_ptr<CallPattern> CallsOf(const RankTrace& trace);
  absl::flat_hash_map<std::tuple<const void*, const void*, const void*>, std::vector<Known>> known_;
};

// Which groups have exactly the calls of one use of a CallPattern.
class PatternGroups {
 public:
  // If each group of the rank already has exactly the rank's calls, counts the rank as one more member that
  // makes them. Returns whether this was the case.
  bool Repeat(const CallPattern& calls, const std::vector<uint32_t>& groups);
  // The one use whose group has no calls yet, if all other groups of the rank already have exactly the rank's
  // calls. `like` is set to another group that has the calls of that use. nullopt: this does not hold.
  std::optional<size_t> OneMissing(const CallPattern& calls, const std::vector<uint32_t>& groups,
                                   uint32_t* like) const;
  // Records that the calls of the missing use were copied to the rank's group.
  void Join(const CallPattern& calls, const std::vector<uint32_t>& groups, size_t missing);
  // Records that a rank was matched call by call. `before`: how many calls each of its groups had. `calls`
  // may be null.
  void Matched(const CallPattern* calls, const std::vector<uint32_t>& groups,
               const std::vector<size_t>& before);
  // Calls fn(group, calls, members): the first `calls` calls of the group are made by `members` more members.
  template <typename Fn>
  void ForEachRepeated(const Fn& fn) const {
    for (const auto& [group, of] : of_group_) {
      if (of.repeats > 0) fn(group, of.count, of.repeats);
    }
  }

 private:
  struct Group {
    const CallPattern* calls = nullptr;  // null: the group has calls of several uses
    size_t use = 0;
    uint32_t count = 0, repeats = 0;
  };
  bool Has(const CallPattern& calls, size_t use, uint32_t group) const;
  absl::flat_hash_map<uint32_t, Group> of_group_;
  absl::flat_hash_map<std::pair<const CallPattern*, size_t>, uint32_t> first_;  // the first group with the
                                                                                // calls of a use
};

}  // namespace chakra
