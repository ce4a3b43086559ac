// What a change of the machine gives, measured: the run again with the change.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "proto/report.pb.h"
#include "replay/critical_path/attribution.h"
#include "replay/run/simulate.h"

namespace chakra {

// Runs `simulation`, which took `makespan`, again for each of the path's sensitivities that a machine can be
// given (computation, memory, bandwidth and latency of links), and fills in what that gave. `changes`: what
// they are of, as AttributePath() tells. A plain dimension changes as --set would change it; of a network
// every link does.
absl::Status MeasureSensitivities(const Simulation& simulation, Time makespan,
                                  const std::vector<PathChange>& changes, proto::CriticalPathReport* path);

}  // namespace chakra
