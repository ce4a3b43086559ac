// A collective written as Chakra traces, PREFIX.0.et and so on: one file a
// member, with COMM_SEND, COMM_RECV and COMP nodes, as ASTRA-sim takes them for
// custom collectives and MSCCLang's converter writes them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "replay/collectives/custom/custom_program.h"

namespace chakra {

// Nodes run as soon as their dependencies ended, a send until its last byte has
// left. A COMP that depends on a receive is that message's reduction, and costs
// what reductions cost, not its recorded time. Messages match by sender,
// receiver and tag in recorded order.
//
// Sizes scale with the bytes of a call; `recorded_bytes` are those of the call
// that was recorded, as Comm::bytes counts them. 0: from the MSCCL XML in the
// metadata, else as if the algorithm received no more than it must, with a
// warning. Such traces do not say which data a message carries: that each is
// matched, that none waits for itself, and that enough moves is checked, and a
// warning says that the result is not.
//
// Errors name file, node and field: what is no trace, a node of another kind, a
// peer outside the group, messages without a partner or of another size, waiting
// in a circle, fewer bytes than the collective needs.
absl::StatusOr<CustomProgram> ReadChakraProgram(const std::string& prefix, CollectiveType type,
                                                uint64_t recorded_bytes = 0);

}  // namespace chakra
