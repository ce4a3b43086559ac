// Process groups: who takes part in a collective, by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// ASTRA-sim's and STAGE's form: {"1": [0, 1], "2": [2, 3]}. Keys are any text
// but "", ranks are integers or their decimal text. Errors name `file`, the key
// and what was expected: no JSON, no array, no rank, a rank twice or negative,
// a key twice.
absl::StatusOr<Groups> ParseGroups(absl::string_view json, absl::string_view file);

// Whether `json` is an object of arrays of numbers or texts, so that it is
// meant for ParseGroups().
bool LooksLikeGroups(absl::string_view json);

// What PyTorch writes in a "## process_group:init ##" node: JSON text, or a
// list that holds it as its one string, in JSON's or Python's spelling. An
// empty or missing "ranks" means 0 to group_size - 1, at most 2^22 of them in
// one node. `subject` begins the errors.
absl::StatusOr<Groups> ParseGroupNode(absl::string_view text, absl::string_view subject);

// Groups as ParseGroupNode() and ParseGroups() read them.
std::string GroupNodeText(const Groups& groups);
std::string GroupFileText(const Groups& groups);

// What all groups of a run hold together at most: a node of 40 bytes may stand
// for millions of ranks.
inline constexpr uint64_t kMaxGroupMembers = uint64_t{1} << 26;

// Adds `more` to `groups`, and the members that are new to `members`. Errors: a
// name that both have, with different ranks; more than kMaxGroupMembers.
absl::Status MergeGroups(const Groups& more, absl::string_view subject, Groups* groups, uint64_t* members);

// Points every communication in group "0" at all ranks, unless `groups` has a
// group of that name.
void ResolveGroupZero(const Groups& groups, std::vector<RankTrace>* ranks);

}  // namespace chakra
