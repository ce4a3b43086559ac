// The groups that a user's file gives to the calls of a capture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// What a rule may ask of a call.
struct RuledCall {
  absl::string_view name, description;  // of its group, as the capture writes them; "": none
  CommOp op = CommOp::kUnknown;
  int64_t bytes = kNone;   // of the input
  absl::string_view lane;  // the stream or thread that carries the call, as the capture numbers it
  int rank = 0;            // global
};

// The file is {"KEY": [ranks], ...} (trace/model/groups.h), ranks as the capture numbers them. A key is
//   NAME         calls on the group of this name or description
//   ?            calls whose group has no name, and of these
//   ?KIND        those of a kind: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, ...
//   ?KIND:BYTES  of a kind and size (bytes of the input)
//   ?...%LANE    on this stream or thread ("?%20", "?all_reduce%3")
// and may end in "@" and any text: keys that differ only there are groups of one kind. A key holds for the
// ranks of its list alone. A name goes before a rule; of several rules the one with more conditions holds.
class GroupRules {
 public:
  GroupRules() = default;
  // Errors name `file` and the key: a kind that is none, a size that is none, two keys that hold for one call
  // alike, a rank that `world` ranks do not have.
  static absl::StatusOr<GroupRules> Make(const Groups& groups, absl::string_view file, int world);

  bool empty() const { return rules_.empty(); }
  const std::string& file() const { return file_; }
  // The row of the rule that holds for `call`; kNoRow: none does. Thread-compatible.
  uint32_t Find(const RuledCall& call) const;
  const std::vector<int>& ranks(uint32_t rule) const { return rules_[rule].ranks; }
  const std::string& key(uint32_t rule) const { return rules_[rule].key; }
  // What says that the rule gave a call its group.
  std::string Evidence(uint32_t rule) const;
  // What the group is called: the key without "?".
  std::string NameOf(uint32_t rule) const;
  size_t size() const { return rules_.size(); }

 private:
  struct Rule {
    std::string key, base;  // base: without "@..."
    bool named = true;
    CommOp op = CommOp::kUnknown;
    int64_t bytes = kNone;
    std::string lane;
    std::vector<int> ranks;  // as in the file
    int conditions() const { return (op != CommOp::kUnknown) + (bytes >= 0) + (lane.empty() ? 0 : 1); }
  };
  static absl::StatusOr<Rule> Parse(const std::string& key, absl::string_view subject);
  static bool Holds(const Rule& rule, const RuledCall& call);

  std::string file_;
  std::vector<Rule> rules_;
};

}  // namespace chakra::pytorch
