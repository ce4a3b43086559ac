// The kernels and exchanges of a layer's experts.
#include <utility>

#include "absl/strings/match.h"
#include "trace/generate/block.h"
#include "trace/generate/layers.h"

namespace chakra::generate {

int64_t LayerBuilder::RowsOfExperts() const {
  return plan_.model.experts / plan_.split.ep * RowsOfExpert(plan_);
}

bool LayerBuilder::OneByOne() const {
  return !plan_.training.graphed_experts && plan_.training.framework == proto::Training::MEGATRON;
}

// Sends tokens to the ranks of their experts, or back: all-to-all over ep. Over etp, all ranks of an expert
// get all its tokens.
NodeList LayerBuilder::Dispatch(const char* part, bool to_experts, NodeList at) {
  const Split& s = plan_.split;
  const int64_t row = plan_.model.expert_width() * ops_.element_bytes(), bytes = RowsTo(plan_, s.ep) * row;
  spot_.part = part;
  if (s.etp > 1 && !to_experts) {
    at = {graph_->Collective(CollectiveType::kReduceScatter, GroupKind::kExpertTensor, Stream::kExpert,
                             bytes * s.etp, spot_, at)};
  }
  const int64_t nodes = s.ep / s.expert_node();
  if (s.deep && nodes > 1) {
    // Over the network to the rank at the same position, then over NVLink; or in the opposite order. The two
    // times add up. If tokens were forwarded as they arrive, as these kernels are said to do, steps on H100
    // and H800 would be 15 to 18 % too short (README.md).
    const auto exchange = [&](bool rail, const NodeList& after) {
      return NodeList{graph_->Collective(CollectiveType::kAllToAll,
                                         rail ? GroupKind::kExpertRail : GroupKind::kExpertNode,
                                         rail ? Stream::kExpertRail : Stream::kExpert,
                                         rail ? RowsTo(plan_, nodes) * row : bytes, spot_, after)};
    };
    if (s.expert_node() == 1) return exchange(true, at);
    return exchange(!to_experts, exchange(to_experts, at));
  }
  if (s.ep > 1) {
    at = {
        graph_->Collective(CollectiveType::kAllToAll, GroupKind::kExpert, Stream::kExpert, bytes, spot_, at)};
  }
  if (s.etp > 1 && to_experts) {
    at = {graph_->Collective(CollectiveType::kAllGather, GroupKind::kExpertTensor, Stream::kExpert, bytes,
                             spot_, at)};
  }
  return at;
}

// Copies each token's row to rows of its experts before they are sent, or sums them on the way back
// (Megatron-LM's permute and unpermute). The kernels of DeepEP and HybridEP send and sum by token themselves.
NodeList LayerBuilder::ByToken(bool back, bool backward, const NodeList& at) {
  if (plan_.split.deep && plan_.split.ep > 1) return at;
  const int64_t moved =
      2 * ops_.element_bytes() * shared_tokens_ * plan_.model.top_k * plan_.model.expert_width();
  static constexpr const char* kKernels[2][2] = {
      {"permute_indices_gather_kernel", "permute_backward_indices_gather_kernel"},
      {"unpermute_indices_gather_kernel", "unpermute_backward_indices_gather_kernel"}};
  return Run(ops_.Stream(kKernels[back][backward], moved, moved / 4), "experts.permute", at);
}

// The data from each rank is in the order of its experts. If a rank has several experts, the tokens of each
// are put together (megatron/core/transformer/moe/token_dispatcher.py, sort_chunks_by_idxs). A row that
// arrived once for several experts is copied to each, and the copies are summed on the way back
// (_DeepepManager).
NodeList LayerBuilder::ByExpert(bool back, bool backward, const NodeList& at) {
  const Split& s = plan_.split;
  if (s.ep == 1 || s.hybrid || (!s.deep && plan_.model.experts == s.ep)) return at;
  const int64_t rows = RowsTo(plan_, s.ep) + shared_tokens_ * plan_.model.top_k;
  static constexpr const char* kKernels[2][2] = {
      {"sort_chunks_indices_gather_kernel", "sort_chunks_backward_indices_gather_kernel"},
      {"unsort_chunks_indices_gather_kernel", "unsort_chunks_backward_indices_gather_kernel"}};
  return Run(ops_.Stream(kKernels[back][backward],
                         rows * plan_.model.expert_width() * ops_.element_bytes() * s.etp, 0),
             "experts.sort", at);
}

// TransformerEngine's grouped GEMMs have one kernel for each expert, and so do the casts of their inputs. One
// kernel puts the block scales of all experts in order (pytorch/module/grouped_linear.py: lists of the
// tensors of experts, GEMMs on four streams). `passes`: additional passes over the list, forward for the
// casts of weights, backward for the hooks of their gradients. In CUDA graphs, where the host cannot know the
// rows of an expert, there is one kernel for all, which includes the activation and its cast
// (NVIDIA-NeMo/Megatron-Bridge, scripts/performance: cutedsl_fused_grouped_mlp with full_iteration).
Operator LayerBuilder::EachExpert(Operator op, int64_t passes) const {
  const int64_t experts = plan_.model.experts / plan_.split.ep;
  if (!OneByOne()) return op;
  op.eager = true;
  op.launches += static_cast<int>((1 + passes) * experts - 1);
  if (experts > 1 && op.name == "aten::bmm") op.name = "multi_stream_gemm";
  if (experts > 1 && absl::StartsWith(op.name, "wgrad_gemm_accum")) op.name = "multi_stream_" + op.name;
  return op;
}

// One kernel casts the rows of all experts to nvfp4 (TransformerEngine, split_quantize, at most 64 experts).
NodeList LayerBuilder::CastExperts(int64_t rows, int64_t width, const char* part, NodeList at) {
  const Operators& ops = OpsOf(part);
  const TrainingPlan& t = ops.training();
  if (!t.narrow()) return at;
  const auto each = [&](Operator op) {
    if (t.dtype != proto::Training::NVFP4) return EachExpert(std::move(op));
    op.eager = OneByOne();
    op.launches = static_cast<int>((plan_.model.experts / plan_.split.ep + 63) / 64);
    return op;
  };
  if (t.looks_before_cast) at = Run(each(ops.Greatest(rows, width)), part, at);
  return Run(each(ops.CastTranspose(rows, width, InGradient())), part, at);
}

// In CUDA graphs the kernel of the activation casts its output, and backward its gradient, to fp8. No such
// kernel casts to nvfp4.
bool LayerBuilder::CastsInGraph(const char* part) const {
  return plan_.training.graphed_experts && OpsOf(part).training().dtype == proto::Training::FP8;
}

// For GEMMs of fp8 and nvfp4, a copy pads the rows of each expert to multiples of 16 or 32, and another one
// removes the padding from the output (Megatron-LM, core/transformer/moe/experts.py, TEGroupedMLP's
// Fp8Padding: in all releases, if the router does not pad, moe_router_padding_for_fp8, which NVIDIA's recipes
// of Qwen3 do not set). Backward, the order is reversed.
NodeList LayerBuilder::PadExperts(bool pads, const NodeList& at) {
  const bool hybrid = plan_.split.hybrid && plan_.split.ep > 1;
  if (!OpsOf("experts.up").training().narrow() || !OneByOne() || hybrid) return at;
  const int64_t moved = 2 * ops_.element_bytes() * RowsOfExperts() * plan_.model.expert_width();
  Operator op = ops_.Stream(pads ? "multi_padding_kernel" : "multi_unpadding_kernel", moved, 0);
  op.eager = true;
  return Run(op, "experts.pad", at);
}

// The bias of the last GEMM, which PyTorch adds.
NodeList LayerBuilder::AddExpertBias(bool backward, const NodeList& at) {
  if (!plan_.model.bias || !OneByOne() || (backward && frozen())) return at;
  const int64_t experts = plan_.model.experts / plan_.split.ep;
  Operator op = ops_.ExpertBias(RowsOfExperts(), plan_.model.expert_width(), experts, backward);
  op.eager = true;
  return Run(op, "experts.bias", at);
}

// In CUDA graphs with block scales, the activation and its cast are in the kernel of the GEMMs
// (TransformerEngine, pytorch/ops/fused, ForwardGroupedMLP_CuTeGEMMSwiGLU_MXFP8 and its backward).
NodeList LayerBuilder::ActivateExperts(bool backward, const NodeList& at) {
  if (CastsInGraph("experts.down") && OpsOf("experts.down").training().block_scales && plan_.model.gated)
    return at;
  return Run(
      ops_.Activation(RowsOfExperts(), plan_.model.expert_ffn / plan_.split.etp, plan_.model.gated, backward),
      "experts.activation", at);
}

NodeList LayerBuilder::ClampExperts(bool backward, const NodeList& at) {
  if (!plan_.model.clamp || !OneByOne()) return at;
  Operator op = ops_.Clamp(RowsOfExperts(), plan_.model.expert_ffn / plan_.split.etp, backward);
  op.eager = true;
  return Run(op, "experts.activation", at);
}

NodeList LayerBuilder::Route(const Operation& op, NodeList at) {
  const Split& s = plan_.split;
  const int64_t n = shared_tokens_;
  at = Run(ops_.PlainProduct(n, op.out, op.in), op.part, at);
  at = Run(ops_.Stream("topkgating_softmax_kernel", 4 * 4 * n * op.out, 8 * n * op.out), op.part, at);
  if (s.ep == 1 || by_operator_) return at;
  // the numbers of tokens that each rank gets
  at = {graph_->Collective(CollectiveType::kAllGather, GroupKind::kExpert, Stream::kExpert, 8 * op.out, spot_,
                           at)};
  if (plan_.training.framework == proto::Training::MEGATRON)
    graph_->HostWaits(at);  // the host needs the sizes of the exchange
  return at;
}

NodeList LayerBuilder::RouteBackward(const Operation& op, NodeList at) {
  const int64_t n = shared_tokens_;
  at = Run(ops_.Stream("topkgating_backward_kernel", 4 * 4 * n * op.out, 8 * n * op.out), op.part, at);
  if (plan_.model.bias) AddBiasGradient(n, op.out, op.part, at);
  at = WholeBackward(op, at);
  if (plan_.model.shared_gate) AddGradient(op.in, at);
  return at;
}

NodeList LayerBuilder::ExpertProduct(const Operation& op, const NodeList& at) {
  const Operators& ops = OpsOf(op.part);
  const int64_t casts = ops.training().narrow() ? 1 : 0;  // casts of weights
  const int64_t experts = plan_.model.experts / plan_.split.ep;
  return Run(EachExpert(ops.Product(RowsOfExpert(plan_), op.out, op.in, experts), casts), op.part, at);
}

NodeList LayerBuilder::ExpertProductBackward(const Operation& op, NodeList at) {
  if (op.back || !CastsInGraph(op.part)) at = CastExperts(RowsOfExperts(), op.out, op.part, std::move(at));
  const int64_t experts = plan_.model.experts / plan_.split.ep, rows = RowsOfExpert(plan_);
  const int64_t in = op.in, out = op.out;
  const char* part = op.part;
  const NodeList gradient = Run(EachExpert(OpsOf(part).Product(rows, in, out, experts)), part, at);
  ForWeight([=, this] {
    AddGradient(experts * in * out,
                Run(EachExpert(OpsOf(part).WeightProduct(out, in, rows, experts), 1), part, at), true);
  });
  // The gradients of the biases of both GEMMs.
  if (!op.back && plan_.model.bias && !frozen())
    AddGradient(experts * (in + out), Run(ops_.SumRows(RowsOfExperts(), out), part, at), true);
  return gradient;
}

}  // namespace chakra::generate
