// Measured training steps against steps that `replay --model ... --parallel ... --training ... --cluster ...`
// generates. Only the five times of the host are fitted (proto/workload.proto, launch_us and the fields next
// to it), on the first half of vTrain's rows of one node.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

struct MeasuredStep {
  std::string set;                                 // the source: "vTrain, one node, fitted half", ...
  std::string band, size;                          // by which the tables divide the rows of a set
  std::string cluster, model, parallel, training;  // as the command line has them
  double measured_s = 0, predicted_s = 0;

  double error() const { return predicted_s / measured_s - 1; }
};

// The rows of FOLDER's training_iterations_vtrain.csv, training_simumax_b200.csv and
// training_throughput_llm_foundry.csv. `every` N > 1 takes each N-th row of each set. Errors name the file,
// the line, the column and the expected values.
absl::StatusOr<std::vector<MeasuredStep>> ReadSteps(const std::string& folder, size_t every);

// Fills in predicted_s. Errors: those of a replay, with the row's options.
absl::Status PredictSteps(std::vector<MeasuredStep>* steps, int threads);

// A line for each row, and tables by set, band and size.
std::string StepsCsv(const std::vector<MeasuredStep>& steps);
std::string StepsMarkdown(const std::vector<MeasuredStep>& steps);

// The mean or median of |error| that each set must reach.
std::vector<Finding> CheckSteps(const std::vector<MeasuredStep>& steps);

}  // namespace chakra::validation
