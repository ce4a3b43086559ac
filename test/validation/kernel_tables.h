// Published measurements of kernels and of whole models as kernel tables.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/kernel_table.pb.h"

namespace chakra::validation {

// One table of one data set: measurements on one device, with the same choice of everything that the rows do
// not state.
struct MeasuredTable {
  std::string set;     // "Azure GEMM"
  std::string label;   // "A100-SXM4-80GB FP16"
  std::string device;  // as FindDevice takes it
  std::string dtype;   // of the computation
  proto::KernelTable table;
  std::vector<std::string> row;  // a name for each row
};

// device_microbench_azure.csv: a table for each device and precision; a row is a GEMM, with m, n and k as its
// coordinates. Rows of memory bandwidth have no shape, and are left out.
absl::StatusOr<std::vector<MeasuredTable>> ParseAzure(const std::string& text);

// model_latency_neusight.csv: a table for each device, mode and option; a row is a pass of a model at a
// batch, with the operations and bytes of the pass (ModelWork), or only the operations, as its coordinates.
// Leaves out rows of switchxl4, whose experts' loads are not known.
absl::StatusOr<std::vector<MeasuredTable>> ParseNeusight(const std::string& text, bool with_bytes);

}  // namespace chakra::validation
