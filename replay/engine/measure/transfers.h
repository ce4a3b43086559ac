// Compares simulated communication with recorded communication.
#pragma once

#include "replay/engine/match/match.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

// For each kind and group of metrics->collectives, sums the recorded transfers of its calls (Comm::transfer,
// the longest of a call's members) into CollectiveMetrics::recorded. Calls that no member measured are
// skipped and not counted in recorded_count. If all ranks are copies of one traced rank, the recorded times
// contain its waits for ranks without a trace: each call then counts with the minimum of its repeats
// (LeastOfRepeats()).
void AddRecordedTransfers(const TraceSet& traces, const Matching& matching, Metrics* metrics);

}  // namespace chakra
