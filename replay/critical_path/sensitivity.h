// Measures the gain of changes of the machine: repeats the run with each change.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "proto/report.pb.h"
#include "replay/critical_path/attribution.h"
#include "replay/run/simulate.h"

namespace chakra {

// Repeats `simulation`, whose makespan was `makespan`, for each of the path's sensitivities whose change can
// be made to a machine (computation, memory, bandwidth and latency of links), and sets the measured gains.
// `changes`: the changes of the sensitivities, from AttributePath(). A plain dimension changes as with --set;
// in a network every link changes.
absl::Status MeasureSensitivities(const Simulation& simulation, Time makespan,
                                  const std::vector<PathChange>& changes, proto::CriticalPathReport* path);

}  // namespace chakra
