// What the kernel model says of kernels, models and steps that it was not fitted to.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/kernel_tables.h"

namespace chakra::validation {

struct Predicted {
  std::string set;    // "NeuSight", "Azure GEMM", "captured on both"
  std::string where;  // the device, and what was run there
  std::string row;
  double measured_us = 0, found_us = 0, low_us = 0, high_us = 0;  // 90 of 100 lie between the last two
  double other_us = 0;  // what another predictor said: NeuSight's own; for captures: as on the first device
};

// model_latency_neusight.csv: passes of whole models on one device, operator by operator. Rows of several
// devices, of fused operators and of switchxl4, whose experts' loads are not known, are left out.
absl::StatusOr<std::vector<Predicted>> PredictNeusight(const std::string& text);

// The tables of ParseAzure(), which are of cuBLASLt.
absl::StatusOr<std::vector<Predicted>> PredictAzure(const std::vector<MeasuredTable>& tables);

// The pairs of data/kineto: one program captured on two devices, each priced from the other. `folder`:
// shared/data. The time is that in which the device computes.
absl::StatusOr<std::vector<Predicted>> PredictCapturedPairs(const std::string& folder);

// How many times as fast DLRM is on an A100 as on a V100: the captured step of param/dlrm by the model,
// beside published ratios. `folder`: shared/data; "" where the capture is absent.
absl::StatusOr<std::string> DlrmMarkdown(const std::string& folder);

std::string PredictionsCsv(const std::vector<Predicted>& rows);
std::string PredictionsMarkdown(const std::vector<Predicted>& rows);

// Prints a line for each set, and returns 1 if one is off by more than it may be, else 0: the median of
// NeuSight's and Azure's rows by 15 %, each capture by 15 %.
int CheckPredictions(const std::vector<Predicted>& rows);

}  // namespace chakra::validation
