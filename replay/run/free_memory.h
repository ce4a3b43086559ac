// How much memory there is, and whether a replay fits into it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "trace/model/trace.h"

namespace chakra {

// Bytes that the process may still take: the least of what the machine has available and what the process's
// limit of its data and its control group leave. UINT64_MAX: the system does not tell.
uint64_t FreeMemory();

// Error, before anything is simulated: a replay needs more than `free_bytes` beside the traces. What is
// counted is the least that every replay takes: times, lanes, and what each node waits for.
absl::Status CheckMemory(const TraceSet& traces, uint64_t free_bytes);

// Error, before anything is simulated: an all-to-all of `ranks` on the packet fabric, whose messages all
// begin at once, needs more than `free_bytes`. What is counted is the least that a message takes there.
absl::Status CheckMessages(uint64_t ranks, uint64_t free_bytes);

}  // namespace chakra
