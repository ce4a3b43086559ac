// Whether ranks that do the same also take the same time.
#pragma once

#include "backends/machine.h"
#include "replay/engine/memory_model.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// Returns true if replaying one of several symmetric ranks gives each of them the times that it would have by
// itself. The conditions are:
// - Flows on `machine` do not delay each other.
// - The graphs do not use a `memory` that ranks share.
// - The groups of symmetric ranks have symmetric members one by one, with equal costs between neighbours and
//   to the first member.
// - Messages go to ranks at the same distance that are symmetric to each other, at equal costs.
//
// With `recorded_comm` nothing crosses the machine, and all ranks must be symmetric to rank 0.
bool CheckSymmetricRanks(const SymmetricRanks& symmetric, const TraceSet& traces, const MachineView& machine,
                         const MemoryModel& memory, bool recorded_comm = false);

}  // namespace chakra
