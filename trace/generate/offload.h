// What the host's memory holds while the device does not use it: activations of layers, and averages of the
// optimizer.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// Reads training.offload and the fields beside it. Errors (InvalidArgument) name the field, its value and
// what was expected.
absl::Status TakeOffload(const proto::Training& training, const ModelSize& model, Offload* out);
// What frameworks refuse beside it, and what is not generated yet.
absl::Status CheckOffload(const StepPlan& plan);

// Bytes of gradients or weights of the optimizer, which are fp32.
inline int64_t CopiedBytes(int64_t weights) { return 4 * weights; }

// Weights of `own`, those that a rank updates, that the host updates.
int64_t UpdatedByHost(const StepPlan& plan, int64_t own);
// What the host takes for so many, in ns.
int64_t HostUpdateNs(const StepPlan& plan, int64_t weights);

// The layer behind whose forward pass the copy of layer `i` must be done, the first of the layers that the
// host holds being 0: copies get windows of equal lengths over all layers (TransformerEngine,
// pytorch/cpu_offload.py, AsyncDoubleBufferGroupOffloadHandler).
int64_t EndOfWindow(const StepPlan& plan, int64_t i);

// Copies activations of a micro-batch to the host and back, on streams of their own. A copy to the host
// begins behind the copy before it and behind the end of that one's window, where the kernels wait for it;
// copies to the device mirror that in the backward pass.
class ActivationCopies {
 public:
  // The arguments must outlive the object.
  ActivationCopies(const StepPlan& plan, StageGraph* graph);

  // `at`: the end of the layer's forward pass; returns what the next layer waits for.
  NodeList BehindForward(int64_t layer, int64_t micro_batch, NodeList at);
  // `at`: the gradient of the layer's output; returns what the layer's backward pass waits for.
  NodeList BeforeBackward(int64_t layer, int64_t micro_batch, NodeList at);

 private:
  uint32_t Copy(bool to_host, int64_t layer, int64_t micro_batch, const NodeList& at);

  const StepPlan& plan_;
  StageGraph* graph_;
  std::vector<uint32_t> out_, back_;  // of the micro-batch that is under way, by layer
};

// Gradients of `weights` weights to the host, its update of them, and their new values back; returns the
// copies back. `at`: the gradients as the optimizer needs them. `pieces`: in which copies and updates run
// beside each other.
NodeList UpdateOnHost(const StepPlan& plan, int64_t weights, int64_t pieces, const NodeList& at,
                      StageGraph* graph);

}  // namespace chakra::generate
