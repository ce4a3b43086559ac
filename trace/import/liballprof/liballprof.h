// Traces of MPI programs by liballprof, the profiler of LogGOPSim and ATLAHS: one text file a rank.
//
// The layout is that of liballprof's template.c and of LogGOPSim's Schedgen, which reads it
// (process_trace.cpp): comments begin with #; a line is a call and its arguments, fields by ':' and parts of
// a field by ',',
// MPI_Send:<begin>:<buffer>:<count>:<type>,<size>[,<extent>]:<rank>:<tag>:<comm>,<rank>,<ranks>:<end>
// with times in microseconds. What lies between calls is computation. MPI_Isend and MPI_Irecv go on beside
// the program until MPI_Wait or MPI_Waitall asks for their requests. A collective is one of all ranks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/importer.h"
#include "trace/model/trace.h"

namespace chakra::liballprof {

bool LooksLikeLiballprof(absl::string_view head);

// The frames of one rank, whose number is the last one in the file's name. Errors name file and line: a call
// that the reader does not know, a field that is missing or no number, an end before its begin, a receive
// from any rank or of any tag, a call on a communicator of fewer ranks than the first call's, a peer that is
// no rank.
absl::StatusOr<std::string> RankFrames(absl::string_view text, absl::string_view file, int ranks);

extern const Importer kImporter;

}  // namespace chakra::liballprof
