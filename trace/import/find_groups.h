// Where the process groups of a run come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/et/decode.h"
#include "trace/model/trace.h"

namespace chakra {

inline constexpr uint64_t kMaxGroupFile = uint64_t{64}
                                          << 20;  // bytes; larger files beside the traces are no group files

// A file that may name groups, beside the traces or in their archive.
struct GroupCandidate {
  std::string path;
  std::string text;
};

// Whether a file of this name, beside traces or in their archive, may name groups: it ends in ".json".
bool NamedAsGroups(absl::string_view name);

// Such files beside the traces of one run.
std::vector<GroupCandidate> FindCandidates(const std::string& prefix);

// Each sets groups, group_source and inputs of `set`, or leaves them where it
// finds none.

// The traces' own nodes; nodes[r] are those of set->ranks[r]. One that cannot
// be read is a repair, or an error when `strict`.
absl::Status GroupsFromNodes(const std::vector<std::vector<GroupNode>>& nodes, bool strict, TraceSet* set);

// PREFIX.json, or the only candidate that looks like groups.
absl::Status GroupsFromCandidates(const std::string& prefix, const std::vector<GroupCandidate>& candidates,
                                  TraceSet* set);

}  // namespace chakra
