// Computes how long computation takes: asks a chain of time sources, and the first that answers wins.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "replay/compute/compute_times.h"
#include "replay/compute/interpolate.h"
#include "replay/compute/kernel_table.h"
#include "replay/compute/model/kernel_model.h"
#include "replay/compute/operators/operands.h"
#include "trace/model/trace.h"

namespace chakra {

inline constexpr absl::string_view kDefaultTimeSources = "table,model,roofline,recorded";

// "table", "interpolate", "repriced", "model", "roofline", "recorded", "none"
absl::string_view Name(TimeSource time_source);

// Reads a chain such as "table,model,roofline,recorded". Errors (InvalidArgument): an unknown name (the error
// has the nearest name and the list), a name that is given twice, an empty chain.
absl::StatusOr<std::vector<TimeSource>> ParseTimeSources(absl::string_view text);

struct ComputeModel {
  std::vector<TimeSource> time_sources;
  const proto::Device* device = nullptr;               // not owned; null: `roofline` never answers
  const KernelTableIndex* table = nullptr;             // not owned; null: `table` never answers
  const KernelInterpolation* interpolation = nullptr;  // not owned; null: `interpolate` never answers
  const KernelModel* kernels = nullptr;                // of `device`; not owned; null: `model` never answers
  // The model of the device that the traces were captured on; not owned; null: `repriced` never answers.
  const KernelModel* captured_on = nullptr;
  bool zeros_recorded = false;  // true: a recorded duration of 0 is an answer, as in captures
};

// Counts that deserve a warning in the report, summed over the priced graphs.
struct ComputeNotes {
  // By dtype: nodes that the roofline answered with the peak of the default dtype, since the device gives no
  // peak for their dtype.
  std::map<std::string, uint64_t> unknown_peak;
};

// Prices the COMP rows of `graph`. All other rows, and rows that no time source answers (TimeSource::kNone),
// take no time.
//
// table     the row of the kernel table that matches name, inputs.shapes and
//           inputs.types (KernelTableIndex).
// interpolate
//           between rows of the table (KernelInterpolation). Nodes that are outside
//           the measured rows are counted.
// repriced  the recorded duration of a device operation x the ratio of the kernel
//           model between the device it was captured on and this device (Repricer).
// model     the time that the kernel model gives a device operation whose name and
//           shapes determine its family and size (calls.h). Does not answer if
//           `recorded` is anywhere in the chain and would answer.
// roofline  for nodes that are not host operations: the longer of
//           num_ops / peak(dtype) and tensor_size / memory bandwidth, rounded to
//           the nearest picosecond. This is ASTRA-sim's num_ops / min(bandwidth *
//           num_ops / tensor_size, peak) (Williams, Waterman and Patterson,
//           "Roofline", 2009). A term whose quantity is absent or 0 is left out.
//           Does not answer if both are left out or a rate is unknown. A node that
//           has neither quantity and is named like an operator gets both from its
//           shapes (operator_work.h) and is counted, unless `recorded` is anywhere
//           in the chain and would answer.
// recorded  the duration in the trace, if > 0 (or zeros_recorded).
//
// Errors (InvalidArgument) name the node's id and name, and the field: a negative num_ops, a time past the
// end of simulated time.
absl::StatusOr<ComputeTimes> PriceGraph(const Graph& graph, const ComputeModel& model, ComputeNotes* notes);

}  // namespace chakra
