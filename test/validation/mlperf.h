// Steps in the logs of MLPerf Training against steps that `replay --model ...` generates from the
// configuration of each run. Nothing is fitted to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"
#include "test/validation/steps.h"

namespace chakra::validation {

struct MlperfRow {
  std::string run;  // round and submission: "5.0 NVIDIA, eos-dfw_n64"
  int64_t devices = 0;
  MeasuredStep step;  // `set` says which kind of run it is, and by which options it is replayed

  // One line of mlperf.csv, with the prediction.
  std::string Line() const;
};

// The rows of a file as MlperfCsv() writes it; predictions are those of the file. Errors name the file, the
// line, the column and the expected values.
absl::StatusOr<std::vector<MlperfRow>> ReadMlperf(const std::string& path);
std::string MlperfCsv(const std::vector<MlperfRow>& rows);

// Predicts each N-th row anew, beginning with row `every` / 2. Errors: those of PredictSteps().
absl::Status PredictMlperf(size_t every, std::vector<MlperfRow>* rows);

// The tables of mlperf.md: errors by set, and all rows.
std::string MlperfTables(const std::vector<MlperfRow>& rows);

// Bounds on the median error of each set.
std::vector<Finding> CheckMlperf(const std::vector<MlperfRow>& rows);

}  // namespace chakra::validation
