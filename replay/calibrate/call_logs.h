// Times of collectives from logs of a job's calls, as rows of measurements.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// Whether an input of `calibrate` holds logs of calls: a folder, or a file by its first bytes. False also if
// it cannot be read.
bool HoldsCallLogs(const std::string& input);

// One row for each collective, number of ranks and of nodes, and size: the median of its calls. A call counts
// if all its members logged it and the device timed them all; its time is the shortest of its members', who
// came last and so waited least. `inputs` are of one job. MeasuredRun::warnings says how many calls the
// device timed, how many the host, and how many do not count. Errors: those of collective_logs::ReadLogs();
// no call that counts.
absl::StatusOr<MeasuredRun> ReadCallLogRows(const std::vector<std::string>& inputs, int threads);

}  // namespace chakra
