// The power that each operation adds to its device, and the slowdown of operations under a cap.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/compute/compute_times.h"
#include "replay/energy/meter.h"
#include "replay/energy/model.h"
#include "trace/model/trace.h"

namespace chakra::energy {

// By distinct graph (DistinctGraphs) and row.
struct RowPowers {
  std::vector<std::vector<RowPower>> rows;
  std::vector<ComputeTimes> times;  // compute times under the cap; empty: the cap slows nothing
  uint64_t slowed = 0;              // number of rows of distinct graphs that the cap slows
};

// The power of all rows. A computation uses operations / (peak of its dtype x time) of the matrix units, and
// bytes / (bandwidth x time) of memory, each at most 1. Operations and bytes are the node's own, else those
// of its shapes (operator_work.h), else shares that are usual for its kernel family (kernel_names.h).
// `times`: of each distinct graph.
RowPowers PowerOfRows(const TraceSet& traces, const std::vector<ComputeTimes>& times,
                      const proto::Device& device, const Constants& constants);

}  // namespace chakra::energy
