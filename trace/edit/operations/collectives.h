// Helpers for edits of collectives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/edit/draft.h"
#include "trace/model/trace.h"

namespace chakra::edit {

// Error if one of `rows` is not a collective.
absl::Status OnlyCollectives(const Draft& draft, const std::vector<uint32_t>& rows);

// Returns the number of ranks in a group, from the set or from the rank's process_group:init nodes. Errors
// are about node `r`: no groups are known (the message says where they can be given), or the set lacks the
// group (the message suggests the nearest name).
absl::StatusOr<uint64_t> GroupSize(Draft* draft, uint32_t r, absl::string_view group);

// Whether the output is larger than the input, whose size is comm_size, by the number of members: all_gather
// and gather.
bool Grows(CollectiveType type);

// Returns the share of `total` for bytes [begin, end) of `bytes`, in whole nanoseconds. The shares of
// consecutive parts add up to `total`.
Time ShareOf(Time total, uint64_t begin, uint64_t end, uint64_t bytes);

// Makes `to` depend on everything that `from` depends on.
void CopyDeps(Draft* draft, uint32_t from, uint32_t to);

}  // namespace chakra::edit
