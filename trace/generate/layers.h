// Adds the nodes of layers to the graph of a stage: forward, backward, and forward again where activations
// are recomputed.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "trace/generate/operators.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// A weight whose gradient of this micro-batch is there when `node` has run.
struct Gradient {
  int64_t elements = 0;  // on this rank
  bool expert = false;
  uint32_t node = 0;
};

// Elements of a layer's weights that a rank holds, before any are shared over dp.
struct WeightShare {
  int64_t dense = 0, expert = 0;
  int64_t replicated = 0;  // of `dense`: norms, router and down projections, which each rank of tp has whole
};
WeightShare ShareOfLayer(const StepPlan& plan, int64_t layer);
// Likewise of what the step trains: all of it, or the layer's adapters. Where these are all, ShareOfLayer()
// does not have them.
WeightShare TrainedOfLayer(const StepPlan& plan, int64_t layer);
// Of the embedding of the first stage, and of the head and what stands beside it on the last one. A tied head
// is a weight of its own where the stages differ.
int64_t ShareOfEmbedding(const StepPlan& plan);
int64_t ShareOfHead(const StepPlan& plan);
// Of the embedding on the last stage, where layers of further tokens need it (StepPlan::copies_embedding()).
int64_t CopyOfEmbedding(const StepPlan& plan);

// What of a backward pass is put off: products that make gradients of weights, and the gradients that the
// rest of the pass made.
struct PutOff {
  std::vector<Gradient> gradients;
  std::vector<std::function<void()>> work;
};

// A layer's order of products and norms is that of Megatron-LM's transformer layer; the products that tensor
// parallelism splits by columns and by rows, and their collectives, are those of Korthikanti et al.,
// "Reducing Activation Recomputation in Large Transformer Models", 2022, figures 5 and 6.
class LayerBuilder {
 public:
  // `plan` and `graph` must outlive the builder.
  LayerBuilder(const StepPlan& plan, StageGraph* graph);

  // Nodes behind `at`; returns the last ones. `phase`: "forward" or "recompute".
  NodeList Forward(int64_t layer, int64_t micro_batch, const char* phase, NodeList at);
  // `at`: the gradient of the layer's output. Adds the gradients of weights to `gradients`. Makes activations
  // again where the plan says so, unless they were `recomputed` before.
  NodeList Backward(int64_t layer, int64_t micro_batch, NodeList at, std::vector<Gradient>* gradients,
                    bool recomputed = false);
  NodeList Embed(int64_t micro_batch, NodeList at);
  void EmbedBackward(int64_t micro_batch, const NodeList& at, std::vector<Gradient>* gradients);
  // The last norm, the head and the loss.
  NodeList Head(int64_t micro_batch, NodeList at);
  // `counts`: the gradient of the head's weight is complete then; it is one for all tokens that are
  // predicted.
  NodeList HeadBackward(int64_t micro_batch, NodeList at, std::vector<Gradient>* gradients,
                        bool counts = true);
  // Layer `layer` of a further token, without its head; `at`: the trunk's output, or that of the layer
  // before.
  NodeList Further(int64_t layer, int64_t micro_batch, const NodeList& at);
  // Returns the gradient of what the layer took.
  NodeList FurtherBackward(int64_t layer, int64_t micro_batch, NodeList at, std::vector<Gradient>* gradients);
  // The sum of the gradients that reach the trunk.
  NodeList AddFurther(int64_t micro_batch, const NodeList& both);

  // Backward passes put off what they need not do for gradients of inputs; null: nothing any more. Not owned.
  void PutOffInto(PutOff* put_off) { put_off_ = put_off; }
  // Adds what a backward pass put off; then put_off->gradients are all of it.
  void Finish(PutOff* put_off);

  const Operators& operators() const { return ops_; }

 private:
  // Widths on one rank of tp.
  struct Widths {
    int64_t query = 0, key = 0, value = 0, context = 0, ffn = 0, shared = 0, outputs = 0;
  };

  NodeList Run(const Operator& op, const char* part, const NodeList& at);
  NodeList RunAll(const std::vector<Operator>& ops, const char* part, NodeList at);
  NodeList Tensor(CollectiveType type, int64_t bytes, const char* part, const NodeList& at);
  // All tokens of what the ranks of tp share, and back: the identity without sequence parallelism. Inputs of
  // products are gathered in the type of products.
  NodeList GatherTokens(int64_t width, const char* part, const NodeList& at);
  NodeList GatherInputs(int64_t width, const char* part, const NodeList& at, int64_t directions = 1);
  NodeList ReduceTokens(int64_t width, const char* part, const NodeList& at);
  NodeList Column(int64_t in, int64_t out, const char* part, NodeList at);
  NodeList ColumnBackward(int64_t in, int64_t out, const char* part, const NodeList& at);
  NodeList Row(int64_t in, int64_t out, const char* part, const NodeList& at);
  NodeList RowBackward(int64_t in, int64_t out, const char* part, const NodeList& at);
  // With frozen weights: what of the above has no gradient of the weight, and what adapters add. AdapterOf:
  // the part of the adapter beside a product; null: it has none.
  const char* AdapterOf(const char* part) const;
  // Adds to `at` what an adapter makes of its narrow features.
  NodeList AddWidened(int64_t rows, int64_t width, const char* adapter, const NodeList& narrow,
                      const NodeList& at);
  // An adapter's narrow features of its input of `width`, dropped before where the step has it so; and the
  // input's gradient, which is added to `at`.
  NodeList Narrow(int64_t rows, int64_t width, const char* adapter, NodeList at);
  NodeList AddInputGradient(int64_t rows, int64_t width, const char* adapter, const NodeList& narrow,
                            const NodeList& at);
  NodeList AdaptColumn(int64_t in, int64_t out, const char* part, const NodeList& input, const NodeList& at);
  NodeList AdaptRow(int64_t in, int64_t out, const char* part, const NodeList& input, const NodeList& at);
  NodeList FrozenColumnBackward(int64_t in, int64_t out, const char* part, const NodeList& at);
  // Without the reduction of the input's gradient behind it.
  NodeList FrozenUpBackward(int64_t in, int64_t out, const char* part, const NodeList& at);
  // Of latent attention's down projections.
  struct DownAdapter {
    int64_t out = 0;
    const char* part = "";
  };
  std::vector<DownAdapter> DownAdapters() const;
  NodeList AdaptDown(const NodeList& input, NodeList at);
  NodeList FrozenDownBackward(int64_t out, const char* part, const NodeList& at);
  NodeList FrozenRowBackward(int64_t in, int64_t out, const char* part, const NodeList& at);
  void AddAdapterGradient(int64_t elements, const NodeList& node) {
    gradients_->push_back({elements, false, node.front()});
  }
  // A product of the tokens that a rank has, whose weight is not split.
  NodeList WholeBackward(int64_t in, int64_t out, const char* part, const NodeList& at);
  NodeList NormBackward(int64_t rows, int64_t width, const char* part, const NodeList& at);
  // The input or gradient of a product to fp8. Megatron-LM's activations are its own kernels, which write
  // bf16 (megatron/core/fusions/fused_bias_swiglu.py).
  NodeList Cast(int64_t rows, int64_t width, const char* part, const NodeList& at);
  // Of tokens that the ranks of tp share: with scales of the tensor as it is they agree on the greatest value
  // (TransformerEngine, with_amax_reduction).
  // `behind` a norm, which writes fp8 itself unless it is looked at before.
  NodeList CastShared(int64_t width, const char* part, const NodeList& at, bool behind);
  // The gathered input or gradient of a product, as the product of the weight's gradient wants it: what ranks
  // of tp gather, and what a norm writes, is not transposed before (TransformerEngine, Float8Tensor's
  // _create_transpose behind gather_along_first_dim).
  NodeList ForWeightProduct(int64_t width, const char* part, const NodeList& at, bool behind);
  void Accumulate(size_t first, const NodeList& at);
  void AddGradient(int64_t elements, const NodeList& node, bool expert = false);
  // Of the bias behind a product: the sum over the rows of its output's gradient.
  void AddBiasGradient(int64_t rows, int64_t width, const char* part, const NodeList& at);
  // Does `work`, which adds the gradient of a weight of the model, now or later; never where it is frozen.
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

  NodeList Attention(NodeList at);
  NodeList AttentionBackward(NodeList at);
  NodeList Queries(NodeList at);
  NodeList QueriesBackward(NodeList at);
  NodeList QkNorm(int64_t turned, bool backward, const NodeList& at);
  NodeList LatentQueries(NodeList at);
  // Queries, keys and values of what the down projections made; `input`: of these projections.
  NodeList LatentUp(NodeList at, const NodeList& input);
  NodeList LatentQueriesBackward(NodeList at);
  NodeList Core(NodeList at);
  NodeList CoreBackward(NodeList at);
  NodeList Ring(const NodeList& at);
  NodeList RingBackward(const NodeList& at);
  NodeList Exchange(const char* part, int64_t width, const NodeList& at);
  NodeList RingStep(int64_t bytes, const char* part, const NodeList& at);
  Operators::Core CoreOf(int64_t ring_step) const;
  // Of the keys and values of a rank's own tokens.
  int64_t KeyBytes() const { return (widths_.key + widths_.value) * tokens_ * ops_.element_bytes(); }

  NodeList Mlp(int64_t ffn, const char* up, const char* down, NodeList at);
  NodeList MlpBackward(int64_t ffn, const char* up, const char* down, NodeList at);
  Operator Activation(int64_t rows, int64_t ffn, bool backward) const;

  NodeList Experts(NodeList at);
  NodeList ExpertsBackward(NodeList at);
  NodeList Dispatch(const char* part, bool to_experts, NodeList at);
  Operator EachExpert(Operator op, int64_t passes = 0) const;
  NodeList CastExperts(int64_t rows, int64_t width, const char* part, NodeList at);
  NodeList CastActivation(int64_t rows, int64_t width, const char* part, const NodeList& at);
  NodeList ByExpert(const char* kernel, const NodeList& at);
  NodeList ByToken(const char* kernel, const NodeList& at);
  // Rows that a rank sends to `places` that hold equal parts of the experts: of each token one for each of
  // its experts, or one for each place that has some.
  int64_t RowsTo(int64_t places) const;
  int64_t RowsOfExpert() const;
  int64_t RowsOfExperts() const;  // of all on this rank
  // The host launches a kernel for each expert.
  bool OneByOne() const;
  NodeList PadExperts(bool pads, const NodeList& at);
  NodeList AddExpertBias(bool backward, const NodeList& at);
  NodeList ActivateExperts(bool backward, const NodeList& at);
  NodeList ClampExperts(bool backward, const NodeList& at);

  // Does `work` behind `at` once more, where the step recomputes the module: in the backward pass.
  template <typename Work>
  NodeList Again(Module module, NodeList at, Work work) {
    if (!plan_.training.MakesAgain(module)) return at;
    spot_.phase = "recompute";
    at = work(std::move(at));
    spot_.phase = "backward";
    return at;
  }

  const StepPlan& plan_;
  StageGraph* graph_;
  const Operators ops_;
  Widths widths_;
  const int64_t tokens_, shared_tokens_;  // of a micro-batch on a rank; where the ranks of tp share them
  Spot spot_;                             // of the nodes that are being added
  std::vector<Gradient>* gradients_ = nullptr;
  PutOff* put_off_ = nullptr;
  int32_t ring_tag_;
};

}  // namespace chakra::generate
