// The times of a layer, the embedding and the head on one rank: the smallest parts of a step that repeat.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/plan/prices.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// A gradient of a weight, and when it is computed: picoseconds from the start of its unit's backward pass.
struct GradientAt {
  int64_t elements = 0;
  bool expert = false;
  double at = 0;
};

// The weights of a unit (a layer, the embedding or the head) on a rank, and the times of one micro-batch, in
// picoseconds.
struct UnitTimes {
  double forward = 0, backward = 0;
  double forward_compute = 0, backward_compute = 0;  // parts that another pass cannot hide
  double tail = 0;     // computation of gradients of weights after the gradient that is sent on
  double weights = 0;  // part of `backward`: GEMMs for gradients of weights
  std::vector<GradientAt> gradients;
  int64_t dense = 0, expert = 0;               // elements of weights, before they are sharded over dp
  int64_t replicated = 0;                      // part of `dense`: weights that each rank of tp has whole
  double forward_host = 0, backward_host = 0;  // time of the thread that launches the nodes, in picoseconds
  int64_t nodes = 0;                           // of both passes
};

// The kind of a layer: layers of the same kind are equal, and are recomputed or not.
int KindOfLayer(const generate::StepPlan& step, int64_t layer);
// The number of micro-batches that pass each piece of a stage.
inline int64_t PassesOfPiece(const generate::StepPlan& step) {
  return step.micro_batches() / (step.split.mirrored() ? 2 : 1);
}
// Bits for the kinds of layers that a step has, among those of the same model.
int64_t KindsOfLayers(const generate::StepPlan& step);

// All units of a step.
struct Units {
  // By kind. There are few.
  std::vector<std::pair<int, UnitTimes>> layers;
  const UnitTimes& LayerOf(int kind) const {
    for (const auto& [k, times] : layers) {
      if (k == kind) return times;
    }
    return layers.front().second;  // MeasureUnits() has all kinds
  }
  UnitTimes embedding, head;
  // A layer of multi-token prediction, with its use of the head, but without the GEMM that joins its inputs.
  UnitTimes further;
};

// Builds a few layers by generate::LayerBuilder, prices their nodes, and runs them stream by stream, each
// stream in order, as the engine does. Assumes that all ranks of a group arrive together. Communication
// between ranks of dp is not included.
absl::StatusOr<Units> MeasureUnits(const generate::StepPlan& step, Prices* prices);

}  // namespace chakra::planning
