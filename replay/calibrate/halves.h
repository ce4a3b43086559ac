// The halves of nccl-tests' rows, out of place and in place, where they measure different things.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// In the median of the sizes of a file, collective and number of ranks one half takes so many times as long
// as the other: an algorithm of its own ran in one of them, or memory was copied.
inline constexpr double kHalvesApart = 2;

// Leaves, of halves that are kHalvesApart or more, the one that is nearer to what `cluster` costs. Returns a
// line for people about each such pair of halves. Errors: as for PriceRows().
absl::StatusOr<std::vector<std::string>> ChooseHalves(const proto::Cluster& cluster,
                                                      std::vector<MeasuredRow>* rows);

}  // namespace chakra
