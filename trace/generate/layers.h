// Adds the nodes of layers to the graph of a stage: the forward and backward passes, and recomputation.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "trace/generate/block.h"
#include "trace/generate/operators.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"
#include "trace/generate/weights.h"

namespace chakra::generate {

// A weight, and the node after which its gradient of this micro-batch is complete.
struct Gradient {
  int64_t elements = 0;  // on this rank
  bool expert = false;
  uint32_t node = 0;
};

// The deferred part of a backward pass: GEMMs that compute gradients of weights, and the gradients that the
// rest of the pass computed.
struct PutOff {
  std::vector<Gradient> gradients;
  std::vector<std::function<void()>> work;
};

// A layer has the order of GEMMs and norms of Megatron-LM's transformer layer. The GEMMs that tensor
// parallelism splits by columns and by rows, and their collectives, are those of Korthikanti et al.,
// "Reducing Activation Recomputation in Large Transformer Models", 2022, figures 5 and 6.
class LayerBuilder {
 public:
  // `plan` and `graph` must outlive the builder.
  LayerBuilder(const StepPlan& plan, StageGraph* graph);

  // Adds nodes after `at`; returns the last ones. `phase`: "forward" or "recompute".
  NodeList Forward(int64_t layer, int64_t micro_batch, const char* phase, NodeList at);
  // `at`: the gradient of the layer's output. Adds the gradients of weights to `gradients`. Recomputes
  // activations where the plan says so, unless they were `recomputed` before.
  NodeList Backward(int64_t layer, int64_t micro_batch, NodeList at, std::vector<Gradient>* gradients,
                    bool recomputed = false);
  NodeList Embed(int64_t micro_batch, NodeList at);
  void EmbedBackward(int64_t micro_batch, const NodeList& at, std::vector<Gradient>* gradients);
  // The last norm, the head and the loss.
  NodeList Head(int64_t micro_batch, NodeList at);
  // `counts`: whether this pass completes the gradient of the head's weight, which is one for all predicted
  // tokens.
  NodeList HeadBackward(int64_t micro_batch, NodeList at, std::vector<Gradient>* gradients,
                        bool counts = true);
  // Layer `layer` of multi-token prediction, without its head; `at`: the trunk's output, or that of the layer
  // before.
  NodeList Further(int64_t layer, int64_t micro_batch, const NodeList& at);
  // Returns the gradient of the layer's input.
  NodeList FurtherBackward(int64_t layer, int64_t micro_batch, NodeList at, std::vector<Gradient>* gradients);
  // Adds the sum of the gradients that arrive at the trunk.
  NodeList AddFurther(int64_t micro_batch, const NodeList& both);

  // From now on, backward passes defer to `put_off` all work that the gradients of inputs do not need; null:
  // they defer nothing. Not owned.
  void PutOffInto(PutOff* put_off) { put_off_ = put_off; }
  // Adds the deferred work of a backward pass; put_off->gradients are then complete.
  void Finish(PutOff* put_off);

  const Operators& operators() const { return ops_; }

 private:
  // The operations from `begin` to before `end` of the current block, forward and backward.
  NodeList ForwardOf(int32_t begin, int32_t end, NodeList at);
  NodeList BackwardOf(int32_t begin, int32_t end, NodeList at);
  // Recomputes what the backward pass of the operation `before` needs, if the step recomputes it.
  NodeList Again(int32_t before, NodeList at);
  NodeList Compute(const Operation& op, NodeList at);
  NodeList ComputeBackward(const Operation& op, NodeList at);

  NodeList Run(const Operator& op, const char* part, const NodeList& at);
  NodeList RunAll(const std::vector<Operator>& ops, const char* part, NodeList at);
  NodeList Tensor(CollectiveType type, int64_t bytes, const char* part, const NodeList& at);
  // Gathers or reduces the tokens that the ranks of tp share; does nothing without sequence parallelism.
  // Inputs of GEMMs are gathered in the dtype of GEMMs.
  NodeList GatherTokens(int64_t width, const char* part, const NodeList& at);
  NodeList GatherInputs(int64_t width, const char* part, const NodeList& at, int64_t directions = 1);
  NodeList ReduceTokens(int64_t width, const char* part, const NodeList& at);
  // The GEMMs of an operation: forward, for the gradient of its input, and for those of its weights. Without
  // torch.compile, a kernel adds each further gradient of the input.
  NodeList Products(const Operation& op, int64_t rows, const NodeList& at);
  NodeList InputGradient(const Operation& op, int64_t rows, const NodeList& at);
  NodeList WeightGradient(const Operation& op, int64_t rows, const NodeList& at);
  NodeList Column(const Operation& op, NodeList at);
  NodeList ColumnBackward(const Operation& op, const NodeList& at);
  NodeList Row(const Operation& op, NodeList at);
  NodeList RowBackward(const Operation& op, const NodeList& at);
  NodeList Whole(const Operation& op, const NodeList& at);
  NodeList Up(const Operation& op, NodeList at);
  NodeList UpBackward(const Operation& op, const NodeList& at);
  // With frozen weights: the parts of the above without the gradient of the weight, and the nodes of
  // adapters.
  // Adds to `at` the output of an adapter from its narrow features.
  NodeList AddWidened(int64_t rows, int64_t width, const char* adapter, const NodeList& narrow,
                      const NodeList& at);
  // The narrow features of an adapter from its input of `width`, after dropout if the step has it; and the
  // gradient of the input, which is added to `at`.
  NodeList Narrow(int64_t rows, int64_t width, const char* adapter, NodeList at);
  NodeList AddInputGradient(int64_t rows, int64_t width, const char* adapter, const NodeList& narrow,
                            const NodeList& at);
  NodeList AdaptColumn(const Operation& op, const NodeList& input, const NodeList& at);
  NodeList AdaptRow(const Operation& op, const NodeList& input, const NodeList& at);
  NodeList FrozenColumnBackward(const Operation& op, const NodeList& at);
  // Does not reduce the gradient of the input.
  NodeList FrozenUpBackward(const Operation& op, const NodeList& at);
  NodeList AdaptDown(const Operation& op, const NodeList& input, NodeList at);
  NodeList FrozenDownBackward(const Operation& op, const NodeList& at);
  NodeList FrozenRowBackward(const Operation& op, const NodeList& at);
  void AddAdapterGradient(int64_t elements, const NodeList& node) {
    gradients_->push_back({elements, false, node.front()});
  }
  // The backward pass of a GEMM on a rank's own tokens, whose weight is not split.
  NodeList WholeBackward(const Operation& op, const NodeList& at);
  NodeList NormBackward(int64_t rows, int64_t width, int64_t weights, const char* part, const NodeList& at);
  // Of a norm of the residual stream.
  NodeList HiddenNormBackward(const char* part, const NodeList& at);
  // The operators of a part of the current layer (spot_), with the dtype of its GEMMs.
  const Operators& OpsOf(const char* part) const;
  // Casts the input or the gradient of a GEMM to fp8 or nvfp4. Activation functions are Megatron-LM's own
  // kernels, which write bf16 (megatron/core/fusions/fused_bias_swiglu.py).
  NodeList Cast(int64_t rows, int64_t width, const char* part, const NodeList& at);
  bool InGradient() const { return spot_.phase[0] == 'b'; }  // in a backward pass, not in recomputation
  // Casts tokens that the ranks of tp share. With current scaling and nvfp4, the ranks reduce the maximum
  // first (TransformerEngine, with_amax_reduction). `behind`: the cast follows a norm, which writes fp8
  // itself unless current scaling needs its maximum.
  NodeList CastShared(int64_t width, const char* part, const NodeList& at, bool behind);
  // Both, in the order of the framework. `directions`: as for GatherInputs().
  NodeList CastAndGather(int64_t width, const char* part, const NodeList& at, bool behind,
                         int64_t directions = 1);
  // The gathered input or gradient in the form that the GEMM of the weight's gradient needs: data that ranks
  // of tp gather, or that a norm writes, has no transpose yet (TransformerEngine, Float8Tensor's
  // _create_transpose after gather_along_first_dim).
  NodeList ForWeightProduct(int64_t width, const char* part, const NodeList& at, bool behind);
  void Accumulate(size_t first, const NodeList& at);
  void AddGradient(int64_t elements, const NodeList& node, bool expert = false);
  // Adds the gradient of a GEMM's bias: the sum over the rows of the output's gradient.
  void AddBiasGradient(int64_t rows, int64_t width, const char* part, const NodeList& at);
  // Runs `work`, which adds the gradient of a weight of the model, now or later; never if the weights are
  // frozen.
  template <typename Work>
  void ForWeight(Work work) {
    if (!frozen()) NowOrLater(std::move(work));
  }
  bool frozen() const { return plan_.training.frozen(); }
  template <typename Work>
  void NowOrLater(Work work) {
    if (put_off_ == nullptr) return work();
    put_off_->work.push_back([this, spot = spot_, work = std::move(work)] {
      spot_ = spot;
      work();
    });
  }

  NodeList Core(NodeList at);
  NodeList CoreBackward(NodeList at);
  NodeList Ring(const NodeList& at);
  NodeList RingBackward(const NodeList& at);
  NodeList Exchange(const char* part, int64_t width, const NodeList& at);
  NodeList RingStep(int64_t bytes, const char* part, const NodeList& at);
  Operators::Core CoreOf(int64_t ring_step) const;
  // Bytes of the keys and values of a rank's own tokens.
  int64_t KeyBytes() const { return (widths_.key + widths_.value) * tokens_ * ops_.element_bytes(); }

  NodeList Route(const Operation& op, NodeList at);
  NodeList RouteBackward(const Operation& op, NodeList at);
  NodeList ExpertProduct(const Operation& op, const NodeList& at);
  NodeList ExpertProductBackward(const Operation& op, NodeList at);
  NodeList Dispatch(const char* part, bool to_experts, NodeList at);
  Operator EachExpert(Operator op, int64_t passes = 0) const;
  NodeList CastExperts(int64_t rows, int64_t width, const char* part, NodeList at);
  bool CastsInGraph(const char* part) const;
  // `back`: on the way from the experts.
  NodeList ByExpert(bool back, bool backward, const NodeList& at);
  NodeList ByToken(bool back, bool backward, const NodeList& at);
  int64_t RowsOfExperts() const;  // of all experts on this rank
  // Whether the host launches one kernel for each expert.
  bool OneByOne() const;
  NodeList PadExperts(bool pads, const NodeList& at);
  NodeList AddExpertBias(bool backward, const NodeList& at);
  NodeList ActivateExperts(bool backward, const NodeList& at);
  NodeList ClampExperts(bool backward, const NodeList& at);

  const StepPlan& plan_;
  StageGraph* graph_;
  const Operators ops_;
  const Operators others_[3];  // with GEMMs in bf16, fp8, nvfp4
  const Blocks blocks_;
  const AttentionWidths widths_;
  Block further_;                 // DescribeFurther(), with multi-token prediction
  int64_t outputs_ = 0;           // columns of the head on a rank of tp
  const Block* block_ = nullptr;  // of the layer whose nodes are being added
  NodeList whole_input_;          // the input of the last kWhole
  bool by_operator_ = false;      // recomputes, and leaves out what Operation::saved has
  // tokens of a micro-batch on a rank; shared_tokens_: divided by tp if the ranks of tp share them
  const int64_t tokens_, shared_tokens_;
  Spot spot_;  // spot of the nodes that are being added
  std::vector<Gradient>* gradients_ = nullptr;
  PutOff* put_off_ = nullptr;
  int32_t ring_tag_;
};

}  // namespace chakra::generate
