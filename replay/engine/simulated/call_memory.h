// Whether there is memory for the messages of a collective call.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "backends/fabric.h"
#include "replay/engine/match/match.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

// What a call takes at least that is simulated message by message.
struct CallMemory {
  uint64_t messages = 0;  // that begin at once where its members do
  uint64_t bytes = 0;     // for them and for what the engine keeps of each connection
};
CallMemory LeastMemoryOf(const Fabric& fabric, const PlannedCall& planned, uint64_t bytes);

// Error: `call`, of so many members, takes more than the process may have. The system is asked only where
// the call takes much.
absl::Status CheckCallMemory(const Fabric& fabric, const CollectiveCall& call, uint64_t members,
                             const PlannedCall& planned);

}  // namespace chakra
