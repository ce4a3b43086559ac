// Process groups: the names of groups, and the ranks in each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// The content of a file of groups, unpacked, for ParseGroups(). `input`: what a report says of the file.
// Errors: the file cannot be opened, read or unpacked.
absl::StatusOr<std::string> ReadGroupText(const std::string& path, InputFile* input);

// Parses the form of ASTRA-sim and STAGE: {"1": [0, 1], "2": [2, 3]}. A key is any text but "", a rank an
// integer or its decimal text. Errors name `file`, the key and what was expected: text that is not JSON, a
// value that is not an array, an entry that is not a rank, a rank that is negative or given twice, a key
// given twice.
absl::StatusOr<Groups> ParseGroups(absl::string_view json, absl::string_view file);

// Sets groups, group_source and inputs of `set` by the file that the user names.
absl::Status GroupsFromFile(const std::string& path, TraceSet* set);

// Whether `json` is meant for ParseGroups(): an object of arrays of numbers or texts.
bool LooksLikeGroups(absl::string_view json);

// Parses the text of PyTorch's "## process_group:init ##" node: JSON, or a list (spelled as in JSON or
// Python) whose one string is this JSON. An empty or missing "ranks" means ranks 0 to group_size - 1, at most
// 2^22 in one node. Errors begin with `subject`.
absl::StatusOr<Groups> ParseGroupNode(absl::string_view text, absl::string_view subject);

// Writes groups in the form that ParseGroupNode() reads, and in the form that ParseGroups() reads.
std::string GroupNodeText(const Groups& groups);
std::string GroupFileText(const Groups& groups);

// The most members of all groups of a run together. A limit is needed since a node of 40 bytes may stand for
// millions of ranks.
inline constexpr uint64_t kMaxGroupMembers = uint64_t{1} << 26;

// Adds `more` to `groups`, and the number of new members to `members`. Errors: a name that has different
// ranks in `more` and `groups`; more than kMaxGroupMembers members.
absl::Status MergeGroups(const Groups& more, absl::string_view subject, Groups* groups, uint64_t* members);

// Makes every communication in group "0" one of all ranks, unless `groups` has a group "0".
void ResolveGroupZero(const Groups& groups, std::vector<RankTrace>* ranks);

}  // namespace chakra
