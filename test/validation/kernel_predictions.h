// Predictions of the kernel model for kernels, models and steps to which it was not fitted.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/kernel_tables.h"

namespace chakra::validation {

struct Predicted {
  std::string set;    // "NeuSight", "Azure GEMM", "captured on both"
  std::string where;  // the device, and the work on it
  std::string row;
  double measured_us = 0, found_us = 0, low_us = 0, high_us = 0;  // 90 of 100 are between the last two
  double other_us = 0;  // another prediction: NeuSight's own; for captures, the time on the first device
};

// model_latency_neusight.csv: passes of whole models on one device, operator by operator. Leaves out rows of
// several devices, of fused operators, and of switchxl4, whose experts' loads are not known.
absl::StatusOr<std::vector<Predicted>> PredictNeusight(const std::string& text);

// Predicts the tables of ParseAzure(), which were measured with cuBLASLt.
absl::StatusOr<std::vector<Predicted>> PredictAzure(const std::vector<MeasuredTable>& tables);

// The pairs of data/kineto: one program captured on two devices, each priced from the other. `folder`:
// shared/data. The time is the device's compute time.
absl::StatusOr<std::vector<Predicted>> PredictCapturedPairs(const std::string& folder);

// The speedup of DLRM from a V100 to an A100: the captured step of param/dlrm by the model, next to published
// ratios. `folder`: shared/data. "": the capture is absent.
absl::StatusOr<std::string> DlrmMarkdown(const std::string& folder);

std::string PredictionsCsv(const std::vector<Predicted>& rows);
std::string PredictionsMarkdown(const std::vector<Predicted>& rows);

// Prints a line for each set, and returns 1 if an error is above its bound, otherwise 0. The bound is 15 %
// for the medians of NeuSight's and Azure's rows, and for each capture.
int CheckPredictions(const std::vector<Predicted>& rows);

}  // namespace chakra::validation
