// One node of a PyTorch execution trace.
#pragma once

#include <simdjson.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/pytorch/capture.h"

namespace chakra::pytorch {

// Counted repairs of one file, by kind.
class RepairLog {
 public:
  // `detail` is that of the first one.
  void Add(absl::string_view kind, uint64_t node, absl::string_view detail);
  // Appends them to `repairs`, ordered by kind, as of `file` and `rank`.
  void Take(const std::string& file, int rank, std::vector<Repair>* repairs) const;

 private:
  std::map<std::string, Repair> kinds_;
};

// The text of one argument list that is kept; longer ones are cut.
inline constexpr size_t kKeptText = 64 << 10;

class HostNodeReader {
 public:
  // Nodes, calls, strings and groups go to `out`, which must outlive this.
  explicit HostNodeReader(HostTrace* out);
  HostNodeReader(const HostNodeReader&) = delete;
  HostNodeReader& operator=(const HostNodeReader&) = delete;

  // `text`: one node's JSON, from its opening bracket to its closing one;
  // `offset`: where it begins in the file. Errors name the file, the byte, the
  // node and the field.
  absl::Status Read(absl::string_view text, uint64_t offset);

  // Names calls' groups by pg_name where they have the pointer of a backend that
  // is noted, and adds the evenly spaced groups that only calls describe. Call
  // once, after the last node.
  void ResolveGroups();

  RepairLog& repairs() { return repairs_; }

 private:
  absl::Status Parse(absl::string_view text, simdjson::dom::object* object);
  absl::Status ReadIdentity(simdjson::dom::object fields);
  absl::Status ReadField(absl::string_view key, simdjson::dom::element value, absl::string_view raw);
  absl::Status ReadArguments(simdjson::dom::element value, absl::string_view raw, bool inputs);
  absl::Status ReadAttributes(simdjson::dom::element value);
  absl::Status ReadScalar(absl::string_view key, simdjson::dom::element value);
  void ReadCall();
  void ReadGroups();
  void AddGroup(const std::string& name, std::vector<int> ranks);
  uint32_t Keep(absl::string_view raw);
  absl::Status Error(absl::string_view field, absl::string_view expected, simdjson::dom::element found) const;

  HostTrace* out_;
  RepairLog repairs_;
  size_t members_ = 0;                        // of all groups
  std::map<std::string, std::string> alias_;  // pointer of a backend to pg_name
  simdjson::dom::parser parser_, empty_parser_;
  simdjson::dom::array empty_;
  std::string padded_;

  // Of the node at hand.
  HostNode node_;
  std::string name_;
  uint64_t offset_ = 0;
  absl::string_view parsed_;  // its text, in padded_
  simdjson::dom::array values_, types_, attrs_;
};

}  // namespace chakra::pytorch
