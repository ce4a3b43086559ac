// Bytes and bandwidths of collectives, counted as nccl-tests does.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// The larger of a rank's input and output buffer, in bytes.
uint64_t BufferBytes(CollectiveType type, uint64_t comm_size, int ranks);

// The comm_size of a call whose larger buffer has `bytes`. For all-gather and gather: the bytes that one rank
// sends, rounded down, but at least 1.
uint64_t CommSize(CollectiveType type, uint64_t bytes, int ranks);

// The factor from algorithm bandwidth to bus bandwidth for a collective on `ranks` ranks: 2(n-1)/n for
// all_reduce; (n-1)/n for all_gather, reduce_scatter, reduce_scatter_block, all_to_all, gather and scatter; 1
// for others. From nccl-tests, doc/PERFORMANCE.md and the getBw() of each test.
double BusFactor(absl::string_view kind, int ranks);

}  // namespace chakra
