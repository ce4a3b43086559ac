// Offloading to host memory: activations of layers, and averages of the optimizer.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// Reads training.offload and the fields that belong to it. Errors (InvalidArgument) name the field, its value
// and what was expected.
absl::Status TakeOffload(const proto::Training& training, const ModelSize& model, Offload* out);
// Checks settings that frameworks do not allow together with offloading, and those that cannot be generated
// yet.
absl::Status CheckOffload(const StepPlan& plan);

// Bytes of the optimizer's gradients or weights, which are fp32.
inline int64_t CopiedBytes(int64_t weights) { return 4 * weights; }

// The number of weights that the host updates, of the `own` weights that a rank updates.
int64_t UpdatedByHost(const StepPlan& plan, int64_t own);
// The host's time to update `weights` weights, in ns.
int64_t HostUpdateNs(const StepPlan& plan, int64_t weights);

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
  std::vector<uint32_t> out_, back_;  // of the current micro-batch, by layer
};

// Copies the gradients of `weights` weights to the host, updates the weights there, and copies them back;
// returns the copies back. `at`: the complete gradients. `pieces`: the number of pieces, whose copies and
// updates overlap.
NodeList UpdateOnHost(const StepPlan& plan, int64_t weights, int64_t pieces, const NodeList& at,
                      StageGraph* graph);

}  // namespace chakra::generate
