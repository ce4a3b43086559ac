// Finds the process groups of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/et/decode.h"
#include "trace/model/trace.h"

namespace chakra {

// In bytes. Larger files in the folder or archive of the traces are not read as group files.
inline constexpr uint64_t kMaxGroupFile = uint64_t{64} << 20;

// A file that may list groups, in the folder or the archive of the traces.
struct GroupCandidate {
  std::string path;
  std::string text;
};

// Whether a file of this name, in the folder or archive of traces, may list groups: the name ends in ".json".
bool NamedAsGroups(absl::string_view name);

// The files that may list groups in the folder of the traces PREFIX.N.et.
std::vector<GroupCandidate> FindCandidates(const std::string& prefix);

// Each function below sets groups, group_source and inputs of `set`, or leaves them as they are if it finds
// no groups.

// Reads the group nodes of the traces; nodes[r] are those of set->ranks[r]. A group node that cannot be read
// is a repair, or an error if `strict`.
absl::Status GroupsFromNodes(const std::vector<std::vector<GroupNode>>& nodes, bool strict, TraceSet* set);

// Reads PREFIX.json, or else the only candidate that looks like groups.
absl::Status GroupsFromCandidates(const std::string& prefix, const std::vector<GroupCandidate>& candidates,
                                  TraceSet* set);

}  // namespace chakra
