// Reads the nodes of a PyTorch execution trace.
#pragma once

#include <simdjson.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Counts the repairs of one file by kind.
class RepairLog {
 public:
  // Counts a repair. `node` and `detail` of the first repair of each kind are kept.
  void Add(absl::string_view kind, uint64_t node, absl::string_view detail);
  // Appends the counted repairs to `repairs`, ordered by kind, with `file` and `rank`.
  void Take(const std::string& file, int rank, std::vector<Repair>* repairs) const;

 private:
  std::map<std::string, Repair> kinds_;
};

// Maximum bytes kept of one argument list; longer texts are cut.
inline constexpr size_t kKeptText = 64 << 10;

class HostNodeReader {
 public:
  // Nodes, calls, strings and groups are added to `out`, which must outlive the reader.
  explicit HostNodeReader(HostTrace* out);
  HostNodeReader(const HostNodeReader&) = delete;
  HostNodeReader& operator=(const HostNodeReader&) = delete;

  // Reads one node. `text`: the node's JSON from its opening bracket to its closing one; `offset`: the
  // position of `text` in the file. Errors name the file, the byte, the node and the field.
  absl::Status Read(absl::string_view text, uint64_t offset);

  // In the groups of calls, replaces the pointer of a known backend by its pg_name. Adds the evenly spaced
  // groups that only calls describe. Must be called once, after the last node.
  void ResolveGroups();

  RepairLog& repairs() { return repairs_; }

 private:
  absl::Status Parse(absl::string_view text, simdjson::dom::object* object);
  absl::Status ReadIdentity(simdjson::dom::object fields);
  absl::Status ReadField(absl::string_view key, simdjson::dom::element value, absl::string_view raw);
  absl::Status ReadArguments(simdjson::dom::element value, absl::string_view raw, bool inputs);
  absl::Status ReadAttributes(simdjson::dom::element value);
  absl::Status ReadScalar(absl::string_view key, simdjson::dom::element value);
  // Reads a field that chakra_trace_link adds. False: another field.
  bool ReadLinked(absl::string_view key, simdjson::dom::element value, absl::string_view raw);
  void ReadCall();
  void ReadGroups();
  void AddGroup(const std::string& name, std::vector<int> ranks);
  uint32_t Keep(absl::string_view raw);
  absl::Status Error(absl::string_view field, absl::string_view expected, simdjson::dom::element found) const;

  HostTrace* out_;
  RepairLog repairs_;
  size_t members_ = 0;                        // number of members of all groups
  std::map<std::string, std::string> alias_;  // pg_name by pointer of a backend
  simdjson::dom::parser parser_, empty_parser_;
  simdjson::dom::array empty_;
  std::string padded_;

  // The current node.
  HostNode node_;
  LinkedNode linked_;
  std::string name_;
  uint64_t offset_ = 0;
  absl::string_view parsed_;  // the node's text, in padded_
  simdjson::dom::array values_, types_, attrs_;
};

}  // namespace chakra::pytorch
