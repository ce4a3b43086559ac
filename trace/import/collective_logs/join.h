// Joins the logs of ranks: finds the rank of each log, corrects clocks, and matches calls.
//
// Ranks. A Flight Recorder's file has its rank in its name. Otherwise, a rank is its number in the group that
// has all ranks. If there is no such group, ranks are numbered by host and process. Calls of a group are one
// call if their sequence numbers are equal. A recorder drops calls when its ring is full. A call that a
// logged member lacks cannot be replayed, and keeps its recorded time as communication.
//
// Clocks. A collective ends on all members at nearly the same time. If every process has its own clock, or
// the device's times show that clocks of hosts differ, the median difference of the ends is the offset of a
// clock.
//
// Between calls. Logs record no computation. The time before a rank's first call counts as computation. So
// does the time from the latest begin or end of an earlier call to the begin of the next call, which waits
// for this computation.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

// A rank as it is replayed.
struct JoinedRank {
  RankLog log;              // calls sorted by start; times count from the begin of the run
  std::vector<int> groups;  // by row of log.comms: row of JoinedLogs::group_names
  int64_t end_ns = 0;       // when the rank's last call ended
  int64_t offset_ns = 0;    // what was added to its clock
};

struct JoinedLogs {
  std::vector<JoinedRank> ranks;  // by rank of the replay; log.rank: of the job
  // Logged ranks are 0, 1, ...; members without a log have the numbers after them.
  std::vector<std::vector<int>> members;  // by group
  std::vector<std::string> group_names;
  std::vector<std::string> warnings;
  int world = 0;
  bool timed = true;  // every call has a start, so that a replay can be compared with the logs
};

// Joins logs. Errors (InvalidArgument) name the files: two logs of one rank; a group whose logs disagree on
// its size or members; a rank of `wanted` without a log. The result does not depend on `threads`.
absl::StatusOr<JoinedLogs> JoinRanks(std::vector<RankLog> logs, const std::vector<int>& wanted,
                                     int threads = 1);

}  // namespace chakra::collective_logs
