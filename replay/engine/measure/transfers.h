// What communication took when it was recorded, beside what a simulation says.
#pragma once

#include "replay/engine/match.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

// Sums, for each kind and group of metrics->collectives, the recorded transfer
// of its calls (Comm::transfer, the longest of a call's members) into
// CollectiveMetrics::recorded. Calls that no member measured are left out and
// not counted in recorded_count.
void AddRecordedTransfers(const TraceSet& traces, const Matching& matching, Metrics* metrics);

}  // namespace chakra
