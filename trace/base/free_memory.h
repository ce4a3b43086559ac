// How much memory the process may take.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace chakra {

// Bytes that the process may still take: the least of what the machine has available and what the process's
// limit of its data and its control group leave. UINT64_MAX: the system does not tell.
uint64_t FreeMemory();

// From now on the process has at most so many bytes of data (heap, stacks and arrays of its own):
// FreeMemory() goes by that, and what asks for more gets std::bad_alloc. Error: the process has more already.
absl::Status LimitMemory(uint64_t bytes);

// "1.31 GB".
std::string MemoryText(double bytes);

}  // namespace chakra
