// Checks whether captured ranks can be of one job.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "trace/import/join/call_groups.h"
#include "trace/import/join/capture_rank.h"

namespace chakra::pytorch {

// InvalidArgument if the ranks cannot be of one job; the message has each reason and the files concerned.
// Reasons:
// - their files give different numbers of ranks;
// - a group has different members in the files of two of its members;
// - two ranks have numbered steps, and no number in common;
// - their windows are further apart (kMostApartNs) than clocks of well-kept machines, if the clocks count
//   from the epoch;
// - both make kMany collectives or more on one group, and none of them is the same.
// Worlds, windows and steps of each rank are compared with those of the first rank. `groups`: from
// FindCallGroups().
inline constexpr int64_t kMostApartNs = 5'000'000'000;
inline constexpr size_t kMany = 8;
absl::Status CheckOneJob(const std::vector<CaptureRank>& ranks, const CallGroups& groups);

}  // namespace chakra::pytorch
