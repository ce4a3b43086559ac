// Checks whether there is enough memory for the messages of a collective call.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "backends/fabric.h"
#include "replay/engine/match/match.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

// The minimum of memory for a call that is simulated message by message.
struct CallMemory {
  uint64_t messages = 0;  // number of messages that begin at once if all members begin at once
  uint64_t bytes = 0;     // for these messages, and for what the engine keeps for each connection
};
CallMemory LeastMemoryOf(const Fabric& fabric, const PlannedCall& planned, uint64_t bytes);

// Returns an error if `call`, of `members` members, needs more memory than the process may have. The system
// is asked only for calls that need much memory.
absl::Status CheckCallMemory(const Fabric& fabric, const CollectiveCall& call, uint64_t members,
                             const PlannedCall& planned);

}  // namespace chakra
