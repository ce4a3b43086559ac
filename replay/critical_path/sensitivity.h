// Measures what a change of the machine gives: repeats the run with the change.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "proto/report.pb.h"
#include "replay/critical_path/attribution.h"
#include "replay/run/simulate.h"

namespace chakra {

// Repeats `simulation`, which took `makespan`, for each of the path's sensitivities that a machine can be
// given (computation, memory, bandwidth and latency of links), and fills in the result. `changes`: their
// changes, from AttributePath(). A plain dimension changes as --set would change it; in a network every link
// changes.
absl::Status MeasureSensitivities(const Simulation& simulation, Time makespan,
                                  const std::vector<PathChange>& changes, proto::CriticalPathReport* path);

}  // namespace chakra
