// Free memory of the process, and a limit for it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace chakra {

// Bytes that the process can still allocate: the minimum of the machine's available memory and of what the
// process's resource limits and its control group still allow. UINT64_MAX if the system does not report it.
uint64_t FreeMemory();

// Limits the data of the process (heap, threads' stacks and private mappings) to `bytes` from now on.
// FreeMemory() respects the limit, and allocations beyond it throw std::bad_alloc. Error: the process has
// more data already.
absl::Status LimitMemory(uint64_t bytes);

// "1.31 GB".
std::string MemoryText(double bytes);

}  // namespace chakra
