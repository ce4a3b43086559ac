// From a recorded call of RCCL to the communication that it asks for.
#pragma once

#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/rocprof/recording.h"

namespace chakra::rocprof {

// A communicator, as the call that made it describes it.
struct Communicator {
  int64_t size = kUnknown, rank = kUnknown;
};

// By the communicator's address, as text.
using Communicators = std::map<std::string, Communicator, std::less<>>;

// Whether the call is a collective, a send or a receive; not ncclGroupEnd or ncclCommInitRank.
bool MovesData(absl::string_view name);

// Adds the communicator that the call makes, if it makes one and its arguments name it.
void AddCommunicator(absl::string_view name, const Arguments& args, Communicators* known);

// Returns the call, from its name and, where they were recorded, its arguments: count, datatype, root or
// peer, communicator. Bytes follow NCCL's API (nccl.h): the count is of the rank's input; for
// ncclReduceScatter, of its output; for all-to-all and scatter, of the data for each peer. Precondition:
// MovesData(name).
pytorch::CommCall ReadRcclCall(absl::string_view name, const Arguments* args, const Communicators& known);

}  // namespace chakra::rocprof
