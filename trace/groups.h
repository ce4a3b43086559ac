// Process groups: who takes part in a collective, by name.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/trace.h"

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
// empty or missing "ranks" means 0 to group_size - 1. `subject` begins the
// errors.
absl::StatusOr<Groups> ParseGroupNode(absl::string_view text, absl::string_view subject);

// Adds `more` to `groups`. Error: a name that both have, with different ranks.
absl::Status MergeGroups(const Groups& more, absl::string_view subject, Groups* groups);

// Points every communication in group "0" at all ranks, unless `groups` has a
// group of that name.
void ResolveGroupZero(const Groups& groups, std::vector<RankTrace>* ranks);

}  // namespace chakra
