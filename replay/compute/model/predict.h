// Predicts the kernels of a CSV table.
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

// A table of kernels: CSV with a column `op` and the columns that each op needs (KernelOps()).
struct KernelRows {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> fields;  // of each row, as written
  std::vector<absl::StatusOr<KernelCall>>
      call;  // of each row; an error says what is wrong with the row, and in which line
  std::vector<double> measured_us;  // column measured_us, latency_us or time_us; 0: none
};

// One op that rows may name, and the columns that it reads.
struct KernelOp {
  const char* name;
  const char* needs;  // separated by commas
  const char* may;    // optional columns, separated by commas
};
std::vector<KernelOp> KernelOps();

// Reads a table; `name` is the file's. Rows without a dtype get the default dtype of `device`. If `op` is "",
// the column op gives each row's op; else all rows are of `op`. Errors (InvalidArgument): text that is not
// CSV, a header without `op`. A wrong row is an error of that row alone.
absl::StatusOr<KernelRows> ReadKernelRows(absl::string_view content, const std::string& name,
                                          const proto::Device& device, absl::string_view op = "");

// Returns the table with the columns time_us, low_us, high_us and from appended. A row that cannot be
// predicted gets empty times, and `from` says why; `*refused` counts these rows.
std::string PredictRows(const KernelModel& model, const KernelRows& rows, size_t* refused);

}  // namespace chakra
