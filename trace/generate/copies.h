// Copies to the host's memory and back: activations of layers, and averages of the optimizer.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/offload.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// The layer at the end of whose forward pass the copy of offloaded layer `i` (from 0) must be done. The
// copies get windows of equal lengths over all layers (TransformerEngine, pytorch/cpu_offload.py,
// AsyncDoubleBufferGroupOffloadHandler).
int64_t EndOfWindow(const StepPlan& plan, int64_t i);

// Copies activations of a micro-batch to the host and back, on their own streams. A copy to the host begins
// after the copy before it, and after the end of that copy's window, where the kernels wait for it. Copies to
// the device mirror this in the backward pass.
class ActivationCopies {
 public:
  // The arguments must outlive the object.
  ActivationCopies(const StepPlan& plan, StageGraph* graph);

  // `at`: the end of the layer's forward pass; returns the nodes for which the next layer waits.
  NodeList BehindForward(int64_t layer, int64_t micro_batch, NodeList at);
  // `at`: the gradient of the layer's output; returns the nodes for which the layer's backward pass waits.
  NodeList BeforeBackward(int64_t layer, int64_t micro_batch, NodeList at);

 private:
  uint32_t Copy(bool to_host, int64_t layer, int64_t micro_batch, const NodeList& at);

  const StepPlan& plan_;
  StageGraph* graph_;
  std::vector<int64_t> bytes_;        // of the activations, by layer
  std::vector<uint32_t> out_, back_;  // of the current micro-batch, by layer
};

// Copies the gradients of `weights` weights to the host, updates the weights there, and copies them back;
// returns the copies back. `at`: the complete gradients. `pieces`: the number of pieces, whose copies and
// updates overlap.
NodeList UpdateOnHost(const StepPlan& plan, int64_t weights, int64_t pieces, const NodeList& at,
                      StageGraph* graph);

}  // namespace chakra::generate
