// Published measurements of kernels and of whole models as kernel tables.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/kernel_table.pb.h"

namespace chakra::validation {

// One table of one data set: what was measured on one device under one choice of everything that the rows do
// not say.
struct MeasuredTable {
  std::string set;     // "Azure GEMM"
  std::string label;   // "A100-SXM4-80GB FP16"
  std::string device;  // as FindDevice takes it
  std::string dtype;   // in which it computes
  proto::KernelTable table;
  std::vector<std::string> row;  // what each row is
};

// device_microbench_azure.csv: a table for each device and precision; a row is a product of matrices, its
// place m, n and k. Rows of memory bandwidth have no shape, and are left out.
absl::StatusOr<std::vector<MeasuredTable>> ParseAzure(const std::string& text);

// model_latency_neusight.csv: a table for each device, mode and option; a row is a pass of a model at a
// batch, its place the operations and bytes of the pass (ModelWork), or the operations alone. Rows of
// switchxl4, whose experts' loads are not known, are left out.
absl::StatusOr<std::vector<MeasuredTable>> ParseNeusight(const std::string& text, bool with_bytes);

}  // namespace chakra::validation
