// The halves of nccl-tests' rows, out of place and in place, which may measure different things.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// The ratio of the halves' times (median over the sizes of a file, collective and number of ranks) from which
// on they measure different things: one of them used another algorithm, or copied memory.
inline constexpr double kHalvesApart = 2;

// The half to fit. The halves are never fitted together, because they measure different things: for example,
// an all-gather in place copies nothing.
enum class Half { kOutOfPlace, kInPlace };

// Keeps one half for each file, collective and number of ranks that has both: the half `asked`, or out of
// place without `asked`. If the halves differ by kHalvesApart or more and `asked` is not set, keeps the half
// that is nearer to the prices of `cluster`, and drops the other. All other rows go to `others`, for
// comparison. Returns a line for each pair of halves that differs by this much. Errors: as for PriceRows().
absl::StatusOr<std::vector<std::string>> ChooseHalves(const proto::Cluster& cluster,
                                                      std::optional<Half> asked,
                                                      std::vector<MeasuredRow>* rows,
                                                      std::vector<MeasuredRow>* others);

}  // namespace chakra
