// Times of collectives from logs of a job's calls, as measured rows.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// Whether an input of `calibrate` contains logs of calls: a folder, or a file judged by its first bytes.
// False if the input cannot be read.
bool HoldsCallLogs(const std::string& input);

// Returns one row for each collective, number of ranks and of nodes, and size: the median of its calls. A
// call counts if all its members logged it and the device timed all of them. Its time is the shortest of its
// members' times: that member arrived last and waited for the shortest time. `inputs` must be of one job.
// MeasuredRun::warnings says how many calls the device timed, how many the host timed, and how many do not
// count. Errors: those of collective_logs::ReadLogs(); no call that counts.
absl::StatusOr<MeasuredRun> ReadCallLogRows(const std::vector<std::string>& inputs, int threads);

}  // namespace chakra
