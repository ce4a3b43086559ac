// Reads traces of MPI programs by liballprof, the profiler of LogGOPSim and ATLAHS. Each rank has a text
// file; the last number in the file's name is the rank.
//
// The layout is that of liballprof's template.c and of LogGOPSim's Schedgen, which reads it
// (process_trace.cpp). Comments begin with #. A line is a call with its arguments; ':' separates fields, and
// ',' the parts of a field:
// MPI_Send:<begin>:<buffer>:<count>:<type>,<size>[,<extent>]:<rank>:<tag>:<comm>,<rank>,<ranks>:<end>
// Times are microseconds. The time between calls is computation. MPI_Isend and MPI_Irecv run in parallel to
// the program until MPI_Wait or MPI_Waitall waits for their requests. A collective is one of all ranks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/importer.h"
#include "trace/model/trace.h"

namespace chakra::liballprof {

bool LooksLikeLiballprof(absl::string_view head);

// Returns the frames of one rank. `ranks`: number of ranks of the run. Errors name file and line: an unknown
// call; a field is missing or not a number; a call ends before it begins; a receive from any rank or of any
// tag; a call on a group that does not have all ranks; a peer that is not a rank.
absl::StatusOr<std::string> RankFrames(absl::string_view text, absl::string_view file, int ranks);

extern const Importer kImporter;

}  // namespace chakra::liballprof
