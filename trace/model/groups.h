// Process groups: their names and their ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// Reads and unpacks a file of groups for ParseGroups(). Fills `input` with the file's data for reports.
// Errors: the file cannot be opened, read or unpacked.
absl::StatusOr<std::string> ReadGroupText(const std::string& path, InputFile* input);

// Parses groups in the form of ASTRA-sim and STAGE: {"1": [0, 1], "2": [2, 3]}. A key is any text except "";
// a rank is an integer or its decimal text. Errors give `file`, the key and what was expected: text that is
// not JSON, a value that is not an array, an entry that is not a rank, a rank that is negative or given
// twice, a key given twice.
absl::StatusOr<Groups> ParseGroups(absl::string_view json, absl::string_view file);

// Sets groups, group_source and inputs of `set` from the file that the user gives.
absl::Status GroupsFromFile(const std::string& path, TraceSet* set);

// Whether `json` is input for ParseGroups(): an object of arrays of numbers or texts.
bool LooksLikeGroups(absl::string_view json);

// Parses the text of PyTorch's "## process_group:init ##" node: JSON, or a list (in JSON or Python syntax) of
// one string that holds this JSON. An empty or missing "ranks" means ranks 0 to group_size - 1, at most 2^22
// of them. Errors begin with `subject`.
absl::StatusOr<Groups> ParseGroupNode(absl::string_view text, absl::string_view subject);

// Write groups in the forms that ParseGroupNode() and ParseGroups() read.
std::string GroupNodeText(const Groups& groups);
std::string GroupFileText(const Groups& groups);

// The maximum number of members of all groups of a run. The limit is needed because a node of 40 bytes may
// describe millions of ranks.
inline constexpr uint64_t kMaxGroupMembers = uint64_t{1} << 26;

// Adds `more` to `groups`, and the number of new members to `members`. Errors: a group that has different
// ranks in `more` and `groups`; more than kMaxGroupMembers members.
absl::Status MergeGroups(const Groups& more, absl::string_view subject, Groups* groups, uint64_t* members);

// Makes all communication in group "0" communication of all ranks, unless `groups` has a group "0".
void ResolveGroupZero(const Groups& groups, std::vector<RankTrace>* ranks);

}  // namespace chakra
