// Whether a replay fits into memory.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "trace/model/trace.h"

namespace chakra {

// Error, before anything is simulated: a replay needs more than `free_bytes` beside the traces. What is
// counted is the least that every replay takes: times, lanes, and what each node waits for.
absl::Status CheckMemory(const TraceSet& traces, uint64_t free_bytes);

}  // namespace chakra
