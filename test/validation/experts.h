// Measured dispatch and combine of experts, against the kernels of all_to_all that carry them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

struct ExpertsRow {
  std::string kernel;   // "normal", "low-latency" or "V2"
  std::string machine;  // as the table names it
  std::string preset;
  std::string op;  // "dispatch FP8" or "combine BF16"
  std::string rule;
  int ranks = 0;
  double bytes = 0;        // as the table counts them
  double measured_us = 0;  // of these bytes
  double library_us = 0;   // by the library's own all_to_all
  double kernel_us = 0;    // by `rule`
};

// The rows of moe_all2all_deepep.csv. Errors: those of the text, with the line; those of CollectiveTable.
absl::StatusOr<std::vector<ExpertsRow>> PredictExperts(const std::string& csv);

std::string ExpertsMarkdown(const std::vector<ExpertsRow>& rows);
std::vector<Finding> CheckExperts(const std::vector<ExpertsRow>& rows);

}  // namespace chakra::validation
