// How a pipelined plan cuts the data of a call.
#pragma once

#include <cstdint>

#include "replay/nccl/library.h"

namespace chakra {

// The number of pieces of a call of `bytes` that runs as `c` among `ranks` members.
int PiecesOf(const LibraryModel& library, const Candidate& c, uint64_t bytes, int ranks);

}  // namespace chakra
