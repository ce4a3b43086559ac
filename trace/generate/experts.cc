// The experts of a layer. The model assumes that tokens are spread equally over experts.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "trace/generate/layers.h"

namespace chakra::generate {
namespace {

double Choose(int64_t n, int64_t k) {
  if (k < 0 || k > n) return 0;
  double ways = 1;
  for (int64_t i = 0; i < k; ++i) ways *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  return ways;
}

// The share of all choices of `k` out of `all` that contain none of `some`.
double NoneOf(int64_t some, int64_t all, int64_t k) {
  double none = 1;
  for (int64_t i = 0; i < k; ++i)
    none *= static_cast<double>(std::max<int64_t>(0, all - some - i)) / static_cast<double>(all - i);
  return none;
}

// The share of tokens that at least one of `here` consecutive experts gets. All choices of top_groups groups
// are equally likely, and so are all choices of top_k experts in them. If `here` is neither a divisor nor a
// multiple of the size of a group, groups are ignored.
double ShareWithOneOf(const ModelSize& m, int64_t here) {
  const int64_t group = m.experts / m.expert_groups;
  if (here % group != 0 && group % here != 0) return 1 - NoneOf(here, m.experts, m.top_k);
  const int64_t groups = std::max<int64_t>(1, here / group), of_group = std::min(here, group);
  double share = 0;
  for (int64_t taken = 1; taken <= std::min(groups, m.top_groups); ++taken) {
    const double likely = Choose(groups, taken) * Choose(m.expert_groups - groups, m.top_groups - taken) /
                          Choose(m.expert_groups, m.top_groups);
    share += likely * (1 - NoneOf(taken * of_group, m.top_groups * group, m.top_k));
  }
  return share;
}

}  // namespace

// Rows of one expert's GEMMs on a rank, from the tokens of all ranks that share the experts.
int64_t LayerBuilder::RowsOfExpert() const {
  const Split& s = plan_.split;
  const int64_t rows = shared_tokens_ * plan_.model.top_k * s.etp, experts = plan_.model.experts / s.ep;
  return std::max<int64_t>(1, (rows + experts - 1) / experts);
}

int64_t LayerBuilder::RowsOfExperts() const { return plan_.model.experts / plan_.split.ep * RowsOfExpert(); }

bool LayerBuilder::OneByOne() const {
  return !plan_.training.graphed_experts && plan_.training.framework == proto::Training::MEGATRON;
}

// DeepEP and HybridEP send a token once to each node with one of its experts, and there once to each such
// rank (Zhao et al., "DeepEP", 2025).
int64_t LayerBuilder::RowsTo(int64_t places) const {
  const int64_t all = shared_tokens_ * plan_.model.top_k;
  if (!plan_.split.deep || plan_.split.ep == 1) return all;
  const double copies =
      static_cast<double>(places) * ShareWithOneOf(plan_.model, plan_.model.experts / places);
  return std::min(all, static_cast<int64_t>(std::ceil(static_cast<double>(shared_tokens_) * copies - 1e-6)));
}

// Sends tokens to the ranks of their experts, or back: all-to-all over ep. Over etp, all ranks of an expert
// get all its tokens.
NodeList LayerBuilder::Dispatch(const char* part, bool to_experts, NodeList at) {
  const Split& s = plan_.split;
  const int64_t row = plan_.model.hidden * ops_.element_bytes(), bytes = RowsTo(s.ep) * row;
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
      return NodeList{graph_->Collective(
          CollectiveType::kAllToAll, rail ? GroupKind::kExpertRail : GroupKind::kExpertNode,
          rail ? Stream::kExpertRail : Stream::kExpert, rail ? RowsTo(nodes) * row : bytes, spot_, after)};
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
NodeList LayerBuilder::ByToken(const char* kernel, const NodeList& at) {
  if (plan_.split.deep && plan_.split.ep > 1) return at;
  const int64_t moved = 2 * ops_.element_bytes() * shared_tokens_ * plan_.model.top_k * plan_.model.hidden;
  return Run(ops_.Stream(kernel, moved, moved / 4), "experts.permute", at);
}

// The data from each rank is in the order of its experts. If a rank has several experts, the tokens of each
// are put together (megatron/core/transformer/moe/token_dispatcher.py, sort_chunks_by_idxs). A row that
// arrived once for several experts is copied to each, and the copies are summed on the way back
// (_DeepepManager).
NodeList LayerBuilder::ByExpert(const char* kernel, const NodeList& at) {
  const Split& s = plan_.split;
  if (s.ep == 1 || (!s.deep && plan_.model.experts == s.ep)) return at;
  const int64_t rows = RowsTo(s.ep) + shared_tokens_ * plan_.model.top_k;
  return Run(ops_.Stream(kernel, rows * plan_.model.hidden * ops_.element_bytes() * s.etp, 0), "experts.sort",
             at);
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

NodeList LayerBuilder::CastExperts(int64_t rows, int64_t width, const char* part, NodeList at) {
  if (!plan_.training.narrow()) return at;
  if (plan_.training.looks_before_cast) at = Run(EachExpert(ops_.Greatest(rows, width)), part, at);
  return Run(EachExpert(ops_.CastTranspose(rows, width)), part, at);
}

// For GEMMs of fp8, a copy pads the rows of each expert to multiples of 16 or 32, and another one removes the
// padding from the output (Megatron-LM, core/transformer/moe/experts.py, TEGroupedMLP's Fp8Padding: in all
// releases, if the router does not pad, moe_router_padding_for_fp8, which NVIDIA's recipes of Qwen3 do not
// set). Backward, the order is reversed.
NodeList LayerBuilder::PadExperts(bool pads, const NodeList& at) {
  if (!plan_.training.narrow() || !OneByOne()) return at;
  const int64_t moved = 2 * ops_.element_bytes() * RowsOfExperts() * plan_.model.hidden;
  Operator op = ops_.Stream(pads ? "multi_padding_kernel" : "multi_unpadding_kernel", moved, 0);
  op.eager = true;
  return Run(op, "experts.pad", at);
}

// The bias of the last GEMM, which PyTorch adds.
NodeList LayerBuilder::AddExpertBias(bool backward, const NodeList& at) {
  if (!plan_.model.bias || !OneByOne() || (backward && frozen())) return at;
  const int64_t experts = plan_.model.experts / plan_.split.ep;
  Operator op = ops_.ExpertBias(RowsOfExperts(), plan_.model.hidden, experts, backward);
  op.eager = true;
  return Run(op, "experts.bias", at);
}

// In CUDA graphs with block scales, the activation and its cast are in the kernel of the GEMMs
// (TransformerEngine, pytorch/ops/fused, ForwardGroupedMLP_CuTeGEMMSwiGLU_MXFP8 and its backward).
NodeList LayerBuilder::ActivateExperts(bool backward, const NodeList& at) {
  const TrainingPlan& t = plan_.training;
  if (t.graphed_experts && t.narrow() && t.block_scales && plan_.model.gated) return at;
  return Run(Activation(RowsOfExperts(), plan_.model.expert_ffn / plan_.split.etp, backward),
             "experts.activation", at);
}

NodeList LayerBuilder::ClampExperts(bool backward, const NodeList& at) {
  if (!plan_.model.clamp || !OneByOne()) return at;
  Operator op = ops_.Clamp(RowsOfExperts(), plan_.model.expert_ffn / plan_.split.etp, backward);
  op.eager = true;
  return Run(op, "experts.activation", at);
}

NodeList LayerBuilder::CastActivation(int64_t rows, int64_t width, const char* part, const NodeList& at) {
  return plan_.training.graphed_experts ? at : CastExperts(rows, width, part, at);
}

NodeList LayerBuilder::Experts(NodeList at) {
  const ModelSize& m = plan_.model;
  const Split& s = plan_.split;
  const int64_t h = m.hidden, n = shared_tokens_;
  const int64_t experts = m.experts / s.ep, rows = RowsOfExpert(), ffn = m.expert_ffn / s.etp;
  const int64_t casts = plan_.training.narrow() ? 1 : 0;  // casts of weights
  NodeList shared;
  if (m.shared_ffn > 0) shared = Mlp(widths_.shared, "shared.up", "shared.down", at);
  at = Run(ops_.PlainProduct(n, m.experts, h), "router", at);
  at = Run(ops_.Stream("topkgating_softmax_kernel", 4 * 4 * n * m.experts, 8 * n * m.experts), "router", at);
  if (s.ep > 1) {  // the numbers of tokens that each rank gets
    spot_.part = "router";
    at = {graph_->Collective(CollectiveType::kAllGather, GroupKind::kExpert, Stream::kExpert, 8 * m.experts,
                             spot_, at)};
    if (plan_.training.framework == proto::Training::MEGATRON)
      graph_->HostWaits(at);  // the host needs the sizes of the exchange
  }
  at = ByToken("permute_indices_gather_kernel", at);
  at = Dispatch("experts.dispatch", true, std::move(at));
  at = PadExperts(true, ByExpert("sort_chunks_indices_gather_kernel", at));
  at = CastExperts(experts * rows, h, "experts.up", at);
  at = Run(EachExpert(ops_.Product(rows, (m.gated ? 2 : 1) * ffn, h, experts), casts), "experts.up", at);
  at = ActivateExperts(false, ClampExperts(false, at));
  at = CastActivation(experts * rows, ffn, "experts.down", at);
  at = Run(EachExpert(ops_.Product(rows, h, ffn, experts), casts), "experts.down", at);
  at = PadExperts(false, AddExpertBias(false, at));
  at = ByExpert("unsort_chunks_indices_gather_kernel", at);
  at = Dispatch("experts.combine", false, std::move(at));
  at = ByToken("unpermute_indices_gather_kernel", at);
  if (shared.empty()) return at;
  return Run(ops_.Add(n, h), "shared.add", Join(at, shared));
}

NodeList LayerBuilder::ExpertsBackward(NodeList at) {
  const ModelSize& m = plan_.model;
  const Split& s = plan_.split;
  const int64_t h = m.hidden, n = shared_tokens_;
  const int64_t experts = m.experts / s.ep, rows = RowsOfExpert(), ffn = m.expert_ffn / s.etp;
  const int64_t wide = (m.gated ? 2 : 1) * ffn;
  NodeList shared;
  if (m.shared_ffn > 0) {
    shared = Again(kSharedExperts, at, [this](NodeList from) {
      return Mlp(widths_.shared, "shared.up", "shared.down", std::move(from));
    });
    shared = MlpBackward(widths_.shared, "shared.up", "shared.down", shared);
  }
  at = ByToken("unpermute_backward_indices_gather_kernel", at);
  at = Dispatch("experts.combine", true, std::move(at));
  at = PadExperts(true, ByExpert("unsort_chunks_backward_indices_gather_kernel", at));
  at = AddExpertBias(true, at);
  // In fp8, the output of the activation is kept as the next GEMM's input, and cast again (TEGroupedMLP's
  // set_save_original_input).
  at = Again(kExpertActivation, std::move(at), [&](const NodeList& from) {
    return CastActivation(experts * rows, ffn, "experts.down",
                          ActivateExperts(false, ClampExperts(false, from)));
  });
  at = CastExperts(experts * rows, h, "experts.down", at);
  NodeList outer = at;
  at = Run(EachExpert(ops_.Product(rows, ffn, h, experts)), "experts.down", outer);
  ForWeight([=, this] {
    AddGradient(experts * h * ffn,
                Run(EachExpert(ops_.WeightProduct(h, ffn, rows, experts), 1), "experts.down", outer), true);
  });
  outer = ClampExperts(true, ActivateExperts(true, at));
  outer = CastActivation(experts * rows, wide, "experts.up", outer);
  at = Run(EachExpert(ops_.Product(rows, h, wide, experts)), "experts.up", outer);
  ForWeight([=, this] {
    AddGradient(experts * h * wide,
                Run(EachExpert(ops_.WeightProduct(wide, h, rows, experts), 1), "experts.up", outer), true);
  });
  if (m.bias && !frozen())
    AddGradient(experts * (h + wide), Run(ops_.SumRows(experts * rows, wide), "experts.up", outer), true);
  at = ByExpert("sort_chunks_backward_indices_gather_kernel", PadExperts(false, at));
  at = Dispatch("experts.dispatch", false, std::move(at));
  at = ByToken("permute_backward_indices_gather_kernel", at);
  at = Run(ops_.Stream("topkgating_backward_kernel", 4 * 4 * n * m.experts, 8 * n * m.experts), "router", at);
  if (m.bias) AddBiasGradient(n, m.experts, "router", at);
  at = WholeBackward(h, m.experts, "router", at);
  if (m.shared_gate) AddGradient(h, at);
  if (shared.empty()) return at;
  return Run(ops_.Add(n, h), "shared.add", Join(at, shared));
}

}  // namespace chakra::generate
