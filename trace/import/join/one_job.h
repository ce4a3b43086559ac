// Whether captured ranks can be of one job.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "trace/import/join/call_groups.h"
#include "trace/import/join/capture_rank.h"

namespace chakra::pytorch {

// InvalidArgument, with each reason and the files it is about, if the ranks cannot be of one job:
// - their files say different numbers of ranks;
// - a group of one name has different members on two of its members;
// - numbered steps of which two ranks have none in common;
// - windows further apart than clocks of machines that keep the time (kMostApartNs), by clocks that count
// from
//   the epoch;
// - both make kMany collectives or more on what must be one group, and none is the same.
// What is compared is each rank with the first one; `groups` as of FindCallGroups().
inline constexpr int64_t kMostApartNs = 5'000'000'000;
inline constexpr size_t kMany = 8;
absl::Status CheckOneJob(const std::vector<CaptureRank>& ranks, const CallGroups& groups);

}  // namespace chakra::pytorch
