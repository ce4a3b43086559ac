// Measured training steps against generated ones: what `replay --model ... --parallel ... --training ... --cluster ...`
// says of them. Of no row is anything fitted but the five times of the host (proto/workload.proto, launch_us and its
// neighbours), which are fitted on the first half of vTrain's rows of one node.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

struct MeasuredStep {
  std::string set;       // whose measurements: "vTrain, one node, fitted half", ...
  std::string band, size;  // what the tables part the rows of a set by
  std::string cluster, model, parallel, training;  // as the command line has them
  double measured_s = 0, predicted_s = 0;

  double error() const { return predicted_s / measured_s - 1; }
};

// The rows of FOLDER's training_iterations_vtrain.csv, training_simumax_b200.csv and
// training_throughput_llm_foundry.csv; `every` > 1: of each set each so many-th row. Errors name file, line, column and
// what was expected.
absl::StatusOr<std::vector<MeasuredStep>> ReadSteps(const std::string& folder, size_t every);

// Fills in predicted_s. Errors: those of a replay, with the row's options.
absl::Status PredictSteps(std::vector<MeasuredStep>* steps, int threads);

// A line for each row, and tables by set, band and size.
std::string StepsCsv(const std::vector<MeasuredStep>& steps);
std::string StepsMarkdown(const std::vector<MeasuredStep>& steps);

// The mean or median of |error| that each set must reach.
std::vector<Finding> CheckSteps(const std::vector<MeasuredStep>& steps);

}  // namespace chakra::validation
