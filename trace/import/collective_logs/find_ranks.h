// Finds the ranks of logs; join.h has the rules.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

// Sets RankLog::rank of all logs, joins the files of each process, and sorts by rank. `world`: number of
// ranks of the job, as far as the logs have it. Errors: two logs of one rank; some logs name their rank and
// others do not.
absl::Status FindRanks(std::vector<RankLog>* logs, int* world, std::vector<std::string>* warnings);

}  // namespace chakra::collective_logs
