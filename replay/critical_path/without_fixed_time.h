// Measures the effect of fixed time: repeats a run without it.
#pragma once

#include "absl/status/statusor.h"
#include "replay/run/simulate.h"
#include "trace/base/units.h"

namespace chakra {

// Makespans of a run with and without fixed time.
struct MakespansWithoutFixedTime {
  Time run;      // of the run
  Time without;  // MakespanWithoutFixedTime()
};

// The makespan of `simulation` if dependencies have no delays, and if host calls with recorded waits
// (RecordedWaits) take only their own work. Needs memory for a second copy of the graphs. Errors: those of
// BuildMachine() and Simulate().
absl::StatusOr<Time> MakespanWithoutFixedTime(const Simulation& simulation);

}  // namespace chakra
