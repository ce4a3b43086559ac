// Measures the effect of unexplained time: repeats a run without it.
#pragma once

#include "absl/status/statusor.h"
#include "replay/run/simulate.h"
#include "trace/base/units.h"

namespace chakra {

// Makespans of a run with and without unexplained time.
struct PinnedMakespans {
  Time run;      // of the run
  Time without;  // MakespanWithoutPinned()
};

// The makespan of `simulation` if dependencies have no delays, and if host calls with unexplained waits
// (PinnedWaits) take only their own work. Needs memory for a second copy of the graphs. Errors: those of
// BuildMachine() and Simulate().
absl::StatusOr<Time> MakespanWithoutPinned(const Simulation& simulation);

}  // namespace chakra
