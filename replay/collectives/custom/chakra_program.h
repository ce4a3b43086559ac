// Reads a collective written as Chakra traces PREFIX.0.et, PREFIX.1.et, ...: a file for each member, with
// COMM_SEND, COMM_RECV and COMP nodes. ASTRA-sim accepts such traces as custom collectives, and MSCCLang's
// converter writes them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "replay/collectives/custom/custom_program.h"

namespace chakra {

// A node begins when its dependencies have ended; a send ends when its last byte has left. A COMP node that
// depends on a receive is the reduction of the received message, and takes the time of a reduction instead of
// its recorded time. Messages match by sender, receiver and tag in recorded order.
//
// Sizes scale with the bytes of a call. `recorded_bytes` is the size of the recorded call, in the measure of
// Comm::bytes. With 0, the size comes from the MSCCL XML in the metadata; if there is none, the reader
// assumes that the algorithm receives no more than it must, and warns. The traces do not record which data a
// message carries. So the reader checks that every message is matched, that no step waits for itself and that
// enough data moves; it cannot check the result, and warns of this.
//
// Errors name file, node and field: a file that is not a trace, a node of another type, a peer outside the
// group, a message without a partner or with unequal sizes, a cycle of waits, fewer bytes than the collective
// needs.
absl::StatusOr<CustomProgram> ReadChakraProgram(const std::string& prefix, CollectiveType type,
                                                uint64_t recorded_bytes = 0);

}  // namespace chakra
