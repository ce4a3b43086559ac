// What each operation adds to the power of its device, and how a cap slows it.
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
  std::vector<ComputeTimes> times;  // under the cap; empty: no cap slows anything
  uint64_t slowed = 0;              // rows of distinct graphs that the cap slows
};

// A computation uses of the matrix units operations / (peak of its dtype x time), and of memory bytes /
// (bandwidth x time), each at most 1. Operations and bytes are the node's own, else those of its shapes
// (operator_work.h), else shares that are usual in its family (kernel_names.h) by its name. `times`: of each
// distinct graph.
RowPowers PowerOfRows(const TraceSet& traces, const std::vector<ComputeTimes>& times,
                      const proto::Device& device, const Constants& constants);

}  // namespace chakra::energy
