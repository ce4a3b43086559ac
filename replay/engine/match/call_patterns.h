// Ranks that make the same calls, each in groups of its own: what was matched for one is matched for others.
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

// The calls that ranks have in common, in the same columns of memory: collectives without a root alone.
struct CallPattern {
  // The calls in one group.
  struct Use {
    uint32_t first_row = 0;  // the first of them
    uint32_t count = 0;
  };
  std::vector<Use> uses;                                      // in the order of their first calls
  Column<uint32_t> use_of;                                    // by row of Graph::comm
  std::map<std::vector<uint32_t>, Column<uint32_t>> indices;  // of calls by row, by the groups of `uses`
};

// Finds what is common.
class CallPatterns {
 public:
  // Null: the rank has other communication, or calls without a named group.
  CallPattern* Find(const RankTrace& trace);

 private:
  struct Known {
    const RankTrace* like;
    std::unique_ptr<CallPattern> calls;
  };
  static std::unique_ptr<CallPattern> CallsOf(const RankTrace& trace);
  absl::flat_hash_map<std::tuple<const void*, const void*, const void*>, std::vector<Known>> known_;
};

// Which groups have the calls of one use of CallPattern and no others.
class PatternGroups {
 public:
  // Whether all groups of the rank have calls just like its own: then each gets one more member that makes
  // them.
  bool Repeat(const CallPattern& calls, const std::vector<uint32_t>& groups);
  // The one use whose group has no calls yet, where another group has the calls of that use, `like`, and all
  // other groups have calls just like the rank's own. Nothing: it is not so.
  std::optional<size_t> OneMissing(const CallPattern& calls, const std::vector<uint32_t>& groups,
                                   uint32_t* like) const;
  // Then the calls of the missing one were copied.
  void Join(const CallPattern& calls, const std::vector<uint32_t>& groups, size_t missing);
  // A rank was matched call by call. `before`: how many calls its groups had. `calls` may be null.
  void Matched(const CallPattern* calls, const std::vector<uint32_t>& groups,
               const std::vector<size_t>& before);
  // fn(group, calls, members): the first calls of the group are made by so many more members.
  template <typename Fn>
  void ForEachRepeated(const Fn& fn) const {
    for (const auto& [group, of] : of_group_) {
      if (of.repeats > 0) fn(group, of.count, of.repeats);
    }
  }

 private:
  struct Group {
    const CallPattern* calls = nullptr;  // null: of several
    size_t use = 0;
    uint32_t count = 0, repeats = 0;
  };
  bool Has(const CallPattern& calls, size_t use, uint32_t group) const;
  absl::flat_hash_map<uint32_t, Group> of_group_;
  absl::flat_hash_map<std::pair<const CallPattern*, size_t>, uint32_t> first_;  // the first group of a use
};

}  // namespace chakra
