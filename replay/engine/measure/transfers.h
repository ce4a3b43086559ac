// Compares simulated with recorded communication.
#pragma once

#include "replay/engine/match/match.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

// For each kind and group of metrics->collectives, sums the recorded transfers of its calls (Comm::transfer,
// the longest of a call's members) into CollectiveMetrics::recorded. Skips calls that no member measured;
// recorded_count does not count them. What one traced rank stands for holds its waits for ranks without a
// trace: there each call counts with the least of its repeats (LeastOfRepeats()).
void AddRecordedTransfers(const TraceSet& traces, const Matching& matching, Metrics* metrics);

}  // namespace chakra
