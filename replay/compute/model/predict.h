// Predicts rows of a CSV table.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/compute/model/kernel_model.h"

namespace chakra {

using KernelCall = std::variant<GemmCall, AttentionCall, MoeCall, StreamCall>;

absl::StatusOr<ModelledTime> Predict(const KernelModel& model, const KernelCall& call);

// A table of kernels: CSV whose header names `op` and what each op needs (`columns` of KernelOps()).
struct KernelRows {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> fields;  // of each row, as they stand
  std::vector<absl::StatusOr<KernelCall>>
      call;                         // of each row; an error says what is wrong with it, and in which line
  std::vector<double> measured_us;  // column measured_us, latency_us or time_us; 0: none
};

// One op that rows may name, and the columns that it reads.
struct KernelOp {
  const char* name;
  const char* needs;  // by commas
  const char* may;    // by commas; they have defaults
};
std::vector<KernelOp> KernelOps();

// Reads a table; `name` is the file's. Rows without a dtype have that of `device`; all rows are of `op`, or
// say theirs in the column op where it is "". Errors (InvalidArgument): text that is no CSV, a header without
// `op`; what is wrong with a row is an error of that row alone.
absl::StatusOr<KernelRows> ReadKernelRows(absl::string_view content, const std::string& name,
                                          const proto::Device& device, absl::string_view op = "");

// The table with the columns time_us, low_us, high_us and from behind its own. Of a row that cannot be
// answered the times are empty and `from` says why; `*refused` counts these.
std::string PredictRows(const KernelModel& model, const KernelRows& rows, size_t* refused);

}  // namespace chakra
