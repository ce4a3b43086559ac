// Brings the logs of ranks together: who is which rank, whose clocks differ, which calls are one call.
//
// Ranks. A Flight Recorder's file names its rank. Otherwise the communicator that has all ranks tells them;
// if none has all, ranks are numbered by host and process. Calls of a communicator are one call where their
// sequence numbers are equal. A ring that was full lost calls: a call that not all logged members show cannot
// be replayed, and keeps its recorded time as communication.
//
// Clocks. A collective ends on all members at nearly one time: where every process has its own clock, or the
// device's times show that clocks of hosts differ, the median difference of the ends tells by how much.
//
// Between calls. Logs show no computation. What lies before a rank's first call is taken for it, and what
// lies between the moment when a rank's last call ended, or its next one began, and the begin of a call is
// taken for computation on which the call waits.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

// A rank as it is replayed.
struct JoinedRank {
  RankLog log;              // calls in the order of begin, times from the begin of the run
  std::vector<int> groups;  // by row of log.comms: row of JoinedLogs::group_names
  int64_t end_ns = 0;       // when its last call ended
  int64_t offset_ns = 0;    // what was added to its clock
};

struct JoinedLogs {
  std::vector<JoinedRank> ranks;  // by rank of the replay; log.rank: of the job
  // Logged ranks are 0, 1, ...; members without a log follow.
  std::vector<std::vector<int>> members;  // by group
  std::vector<std::string> group_names;
  std::vector<std::string> warnings;
  int world = 0;
  bool timed = true;  // every call has a begin: the run can be held against the logs
};

// Errors (InvalidArgument) name the files: two logs of one rank, a communicator whose logs disagree on its
// size or members, a rank of `wanted` that no log is of. The result does not depend on `threads`.
absl::StatusOr<JoinedLogs> JoinRanks(std::vector<RankLog> logs, const std::vector<int>& wanted,
                                     int threads = 1);

}  // namespace chakra::collective_logs
