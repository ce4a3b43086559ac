// Who is which rank of the job: see join.h.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

// Sets RankLog::rank of all, brings the files of a process together, and sorts by rank. `world`: ranks of the
// job, as far as the logs tell. Errors: two logs of one rank.
absl::Status FindRanks(std::vector<RankLog>* logs, int* world, std::vector<std::string>* warnings);

}  // namespace chakra::collective_logs
