// Checks whether a replay fits into memory.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "trace/model/trace.h"

namespace chakra {

// Fails before anything is simulated if a replay needs more than `free_bytes` in addition to the traces.
// Counts only what every replay needs: times, lanes, the calls of ranks, and the number of dependencies that
// each node waits for. `recorded`: communication takes its recorded time on recorded lanes. Ranks without
// delays then walk their nodes (engine/recorded/recorded_walk.h), without lanes and waits. `recorded_times`:
// computation takes its recorded time too, so that no copy of the times is made.
absl::Status CheckMemory(const TraceSet& traces, uint64_t free_bytes, bool recorded = false,
                         bool recorded_times = false);

}  // namespace chakra
