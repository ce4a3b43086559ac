// From recordings of processes to ranks: each GPU that a process used is one.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/linked/linker.h"
#include "trace/import/rocprof/recording.h"

namespace chakra::rocprof {

// The rank of a process is that of its environment, else the number in its file's name ("rank3"), else its
// place in the order of machine, GPU and process. Processes of several GPUs have several ranks, one after
// another; a host thread is with each GPU that it launches on, one that launches nothing with the first. Says
// what to record where launches or collectives are missing. Errors: two processes of one rank; nothing that
// was recorded.
absl::StatusOr<pytorch::RecordedRanks> RanksOf(std::vector<Recording> recordings);

}  // namespace chakra::rocprof
