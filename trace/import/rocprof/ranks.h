// From recordings of processes to ranks: each GPU that a process used is a rank.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/linked/linker.h"
#include "trace/import/rocprof/recording.h"

namespace chakra::rocprof {

// Makes a rank of each GPU that a process used. If each process used one GPU, and each has a rank in its
// environment or in its file's name ("rank3"), ranks have these numbers. Otherwise ranks are numbered in the
// order of machine, GPU and process. A host thread belongs to each GPU that it launches on; a thread that
// launches nothing belongs to the first GPU of its process. Warns, with the switch to record with, if
// launches or collectives are missing. Errors: two processes have the same rank; nothing was recorded.
absl::StatusOr<pytorch::RecordedRanks> RanksOf(std::vector<Recording> recordings);

}  // namespace chakra::rocprof
