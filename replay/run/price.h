// Compute times of all graphs of a run.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/compute/compute_times.h"
#include "replay/run/description.h"
#include "replay/run/options.h"
#include "replay/run/traces.h"

namespace chakra {

// One for each of DistinctGraphs(traces.set), by the rungs of `compute` (ParseRungs()) and the kernel table
// of `options`. What the table is, and what the device leaves open, is put down in `run`; `repriced` goes
// by run->captured_on.
// Errors: `compute`, the table's file, and nodes that no rung answers.
absl::StatusOr<std::vector<ComputeTimes>> PriceTraces(const LoadedTraces& traces, const RunOptions& options,
                                                      const std::string& compute, const proto::Device& device,
                                                      RunDescription* run);

}  // namespace chakra
