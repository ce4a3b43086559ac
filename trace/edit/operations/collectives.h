// What the edits of collectives share.
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

// Error: one of `rows` is no collective.
absl::Status OnlyCollectives(const Draft& draft, const std::vector<uint32_t>& rows);

// Ranks of a group, as the set or the rank's own process_group:init node tells. `r` is the node that asks.
// Errors say where groups can be given; a group that the set has not, with the nearest that it has.
absl::StatusOr<uint64_t> GroupSize(Draft* draft, uint32_t r, absl::string_view group);

// comm_size is of the buffer that goes in; all_gather and gather give `members` times as much.
bool Grows(CollectiveType type);

// The part of `total` (nanoseconds) that lies in bytes [begin, end) of `bytes`; parts of a whole add up to
// it.
Time ShareOf(Time total, uint64_t begin, uint64_t end, uint64_t bytes);

// What `from` depends on, `to` does too.
void CopyDeps(Draft* draft, uint32_t from, uint32_t to);

}  // namespace chakra::edit
