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

// The properties of a call that rules test.
struct RuledCall {
  absl::string_view name, description;  // of its group, as the capture writes them; "": none
  CommOp op = CommOp::kUnknown;
  int64_t bytes = kNone;   // of the input
  absl::string_view lane;  // stream or thread that carries the call, as the capture numbers it
  int rank = 0;            // global
};

// The file is {"KEY": [ranks], ...} (trace/model/groups.h), with ranks as the capture numbers them. A key is
//   NAME         calls on the group with this name or description
//   ?            calls whose group has no name; the keys below select some of these calls:
//   ?KIND        calls of a kind: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, ...
//   ?KIND:BYTES  calls of a kind and size (bytes of the input)
//   ?...%LANE    calls on this stream or thread ("?%20", "?all_reduce%3")
// and may end in "@" and any text: keys that differ only in this text are groups of one kind. A key applies
// only to the ranks in its list. A name takes precedence over other keys; of those, the one with most
// conditions applies.
class GroupRules {
 public:
  GroupRules() = default;
  // Errors name `file` and the key: an unknown kind, an invalid size, two keys that apply equally to a call,
  // a rank that is not below `world`.
  static absl::StatusOr<GroupRules> Make(const Groups& groups, absl::string_view file, int world);

  bool empty() const { return rules_.empty(); }
  const std::string& file() const { return file_; }
  // The row of the rule that applies to `call`; kNoRow: none. Thread-compatible.
  uint32_t Find(const RuledCall& call) const;
  const std::vector<int>& ranks(uint32_t rule) const { return rules_[rule].ranks; }
  const std::string& key(uint32_t rule) const { return rules_[rule].key; }
  // Text that says that the rule gave a call its group.
  std::string Evidence(uint32_t rule) const;
  // The name of the group: the key without "?".
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
