// Whether a replay fits into memory.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "trace/model/trace.h"

namespace chakra {

// Error, before anything is simulated: a replay needs more than `free_bytes` beside the traces. What is
// counted is the least that every replay takes: times, lanes, the calls of ranks, and what each node waits for.
// `recorded`: communication takes its recorded time on recorded lanes; ranks without delays then walk their
// nodes (engine/recorded/recorded_walk.h), without lanes and waits. `recorded_times`: so does all computation; times
// then stay where the traces have them.
absl::Status CheckMemory(const TraceSet& traces, uint64_t free_bytes, bool recorded = false,
                         bool recorded_times = false);

}  // namespace chakra
