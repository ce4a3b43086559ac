// The times of a layer, and of what stands before and behind the layers, on one rank: the smallest parts of a
// step that repeat.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/plan/prices.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// A gradient of a weight, and when it is there, in picoseconds from the begin of the backward pass of its
// unit.
struct GradientAt {
  int64_t elements = 0;
  bool expert = false;
  double at = 0;
};

// What a rank keeps of a layer, the embedding or the head, and what one micro-batch of it takes, in
// picoseconds.
struct UnitTimes {
  double forward = 0, backward = 0;
  double forward_compute = 0, backward_compute = 0;  // of these: what another pass cannot hide
  double tail = 0;     // work on gradients of weights behind the gradient that goes on
  double weights = 0;  // of `backward`: products that make gradients of weights
  std::vector<GradientAt> gradients;
  int64_t dense = 0, expert = 0;               // elements of weights, before any are shared over dp
  int64_t replicated = 0;                      // of `dense`: those that each rank of tp has whole
  double forward_host = 0, backward_host = 0;  // of the thread that launches them, in picoseconds
  int64_t nodes = 0;                           // of both passes
};

// Kinds of layers: with experts or not, with a window or not, recomputed or not, without rotary positions
// that others have or not, with chunks or not. Layers of one kind are equal.
inline constexpr int kLayerKinds = 32;
int KindOfLayer(const generate::StepPlan& step, int64_t layer);
// Micro-batches that pass each piece of a stage.
inline int64_t PassesOfPiece(const generate::StepPlan& step) {
  return step.micro_batches() / (step.split.mirrored() ? 2 : 1);
}
// Bit k: the step has layers of kind k.
int64_t KindsOfLayers(const generate::StepPlan& step);

// All units that a step is made of.
struct Units {
  UnitTimes layer[kLayerKinds];
  UnitTimes embedding, head;
  UnitTimes further;  // a layer of a further token, with its use of the head; less the product that joins its
                      // inputs
};

// Builds a few layers by generate::LayerBuilder, prices their nodes, and runs them stream by stream, each
// stream in order, as the engine does. All ranks of a group are taken to arrive together. Not in here: what
// ranks of dp share.
absl::StatusOr<Units> MeasureUnits(const generate::StepPlan& step, Prices* prices);

}  // namespace chakra::planning
