// The halves of nccl-tests' rows, out of place and in place, where they measure different things.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// In the median of the sizes of a file, collective and number of ranks one half takes so many times as long
// as the other: an algorithm of its own ran in one of them, or memory was copied.
inline constexpr double kHalvesApart = 2;

// Which half is fitted. Both measure other things (in place an all-gather copies nothing), so that they are
// never fitted together.
enum class Half { kOutOfPlace, kInPlace };

// Leaves, of each file, collective and number of ranks that has both halves, the one that is asked for.
// Without `asked` that is out of place; of halves that are kHalvesApart or more it is the one that is nearer
// to what `cluster` costs, and the other is dropped. All other rows go to `others`, for people to compare.
// Returns a line for people about each pair that is so far apart. Errors: as for PriceRows().
absl::StatusOr<std::vector<std::string>> ChooseHalves(const proto::Cluster& cluster,
                                                      std::optional<Half> asked,
                                                      std::vector<MeasuredRow>* rows,
                                                      std::vector<MeasuredRow>* others);

}  // namespace chakra
