// Whether ranks that do the same also take the same time.
#pragma once

#include "backends/machine.h"
#include "replay/engine/memory_model.h"
#include "trace/model/trace.h"
#include "trace/model/twins.h"

namespace chakra {

// True if replaying one rank for all its twins gives each rank the times that it would have by itself: flows
// on `machine` do not delay each other, the graphs do not use a `memory` that ranks share, members of a
// twin's group stand in for those of the other's group one by one and see equal costs between neighbours and
// to the first member, and messages go to ranks that have no twins of another place, at equal costs. With
// `recorded_comm` nothing crosses the machine, and all must be twins of one rank.
bool CheckTwins(const Twins& twins, const TraceSet& traces, const MachineView& machine,
                const MemoryModel& memory, bool recorded_comm = false);

}  // namespace chakra
