// The experts' part of a layer. Tokens are taken to be spread equally over experts.
#include <algorithm>
#include <cmath>

#include "trace/generate/layers.h"

namespace chakra::generate {

// Rows of one expert's products on a rank: of the tokens of all ranks that share the experts.
int64_t LayerBuilder::RowsOfExpert() const {
  const Split& s = plan_.split;
  const int64_t rows = shared_tokens_ * plan_.model.top_k * s.etp, experts = plan_.model.experts / s.ep;
  return std::max<int64_t>(1, (rows + experts - 1) / experts);
}

// DeepEP and HybridEP send a token once to each rank that has some of its experts (Zhao et al., "DeepEP",
// 2025): of the experts that it may take, any top_k are as likely as others.
int64_t LayerBuilder::RowsOnTheWay() const {
  const ModelSize& m = plan_.model;
  const int64_t all = shared_tokens_ * m.top_k, here = m.experts / plan_.split.ep;
  if (!plan_.split.deep || plan_.split.ep == 1) return all;
  double none = 1;  // of a rank's experts is among the top_k
  for (int64_t k = 0; k < m.top_k; ++k) {
    none *= std::max(0.0, static_cast<double>(m.experts - here - k)) / static_cast<double>(m.experts - k);
  }
  const double ranks = static_cast<double>(plan_.split.ep) * (1 - none);
  return std::min(all, static_cast<int64_t>(std::ceil(static_cast<double>(shared_tokens_) * ranks - 1e-6)));
}

// Tokens go to the ranks of their experts, and come back: all-to-all over ep, and over etp all ranks of an
// expert get all its tokens.
NodeList LayerBuilder::Dispatch(const char* part, bool to_experts, NodeList at) {
  const Split& s = plan_.split;
  const int64_t bytes = RowsOnTheWay() * plan_.model.hidden * ops_.element_bytes();
  spot_.part = part;
  if (s.etp > 1 && !to_experts) {
    at = {graph_->Collective(CollectiveType::kReduceScatter, GroupKind::kExpertTensor, Stream::kExpert,
                             bytes * s.etp, spot_, at)};
  }
  if (s.ep > 1)
    at = {
        graph_->Collective(CollectiveType::kAllToAll, GroupKind::kExpert, Stream::kExpert, bytes, spot_, at)};
  if (s.etp > 1 && to_experts) {
    at = {graph_->Collective(CollectiveType::kAllGather, GroupKind::kExpertTensor, Stream::kExpert, bytes,
                             spot_, at)};
  }
  return at;
}

// Rows of a token to rows of its experts before they are sent, or the sums back (Megatron-LM's permute and
// unpermute). The kernels of DeepEP and HybridEP send and sum by token themselves.
NodeList LayerBuilder::ByToken(const char* kernel, const NodeList& at) {
  if (plan_.split.deep && plan_.split.ep > 1) return at;
  const int64_t moved = 2 * ops_.element_bytes() * shared_tokens_ * plan_.model.top_k * plan_.model.hidden;
  return Run(ops_.Stream(kernel, moved, moved / 4), "experts.permute", at);
}

// What comes from each rank is in the order of its experts: with several on a rank, tokens of one are put
// beside each other (megatron/core/transformer/moe/token_dispatcher.py, sort_chunks_by_idxs). A row that came
// once for several experts is copied to each, and summed on its way back (_DeepepManager).
NodeList LayerBuilder::ByExpert(const char* kernel, const NodeList& at) {
  const Split& s = plan_.split;
  if (s.ep == 1 || (!s.deep && plan_.model.experts == s.ep)) return at;
  const int64_t rows = RowsOnTheWay() + shared_tokens_ * plan_.model.top_k;
  return Run(ops_.Stream(kernel, rows * plan_.model.hidden * ops_.element_bytes() * s.etp, 0), "experts.sort",
             at);
}

NodeList LayerBuilder::Experts(NodeList at) {
  const ModelSize& m = plan_.model;
  const Split& s = plan_.split;
  const int64_t h = m.hidden, n = shared_tokens_;
  const int64_t experts = m.experts / s.ep, rows = RowsOfExpert(), ffn = m.expert_ffn / s.etp;
  NodeList shared;
  if (m.shared_ffn > 0) shared = Mlp(widths_.shared, "shared.up", "shared.down", at);
  at = Run(ops_.PlainProduct(n, m.experts, h), "router", at);
  at = Run(ops_.Stream("topkgating_softmax_kernel", 4 * 4 * n * m.experts, 8 * n * m.experts), "router", at);
  if (s.ep > 1) {  // how many tokens each rank gets
    spot_.part = "router";
    at = {graph_->Collective(CollectiveType::kAllGather, GroupKind::kExpert, Stream::kExpert, 8 * m.experts,
                             spot_, at)};
    if (plan_.training.framework == proto::Training::MEGATRON)
      graph_->HostWaits(at);  // sizes of what is sent
  }
  at = ByToken("permute_indices_gather_kernel", at);
  at = Dispatch("experts.dispatch", true, std::move(at));
  at = ByExpert("sort_chunks_indices_gather_kernel", at);
  at = Cast(experts * rows, h, "experts.up", at);
  at = Run(ops_.Product(rows, (m.gated ? 2 : 1) * ffn, h, experts), "experts.up", at);
  at = Run(Activation(experts * rows, ffn, false), "experts.activation", at);
  at = CastBehind(experts * rows, ffn, "experts.down", at);
  at = Run(ops_.Product(rows, h, ffn, experts), "experts.down", at);
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
  if (m.shared_ffn > 0) shared = MlpBackward(widths_.shared, "shared.up", "shared.down", at);
  at = ByToken("unpermute_backward_indices_gather_kernel", at);
  at = Dispatch("experts.combine", true, std::move(at));
  at = ByExpert("unsort_chunks_backward_indices_gather_kernel", at);
  at = Cast(experts * rows, h, "experts.down", at);
  NodeList outer = at;
  at = Run(ops_.Product(rows, ffn, h, experts), "experts.down", outer);
  ForWeight([=, this] {
    AddGradient(experts * h * ffn, Run(ops_.WeightProduct(h, ffn, rows, experts), "experts.down", outer),
                true);
  });
  outer = CastBehind(experts * rows, wide, "experts.up",
                     Run(Activation(experts * rows, ffn, true), "experts.activation", at));
  at = Run(ops_.Product(rows, h, wide, experts), "experts.up", outer);
  ForWeight([=, this] {
    AddGradient(experts * h * wide, Run(ops_.WeightProduct(wide, h, rows, experts), "experts.up", outer),
                true);
  });
  if (m.bias && !frozen())
    AddGradient(experts * (h + wide), Run(ops_.SumRows(experts * rows, wide), "experts.up", outer), true);
  at = ByExpert("sort_chunks_backward_indices_gather_kernel", at);
  at = Dispatch("experts.dispatch", false, std::move(at));
  at = ByToken("permute_backward_indices_gather_kernel", at);
  at = Run(ops_.Stream("topkgating_backward_kernel", 4 * 4 * n * m.experts, 8 * n * m.experts), "router", at);
  at = WholeBackward(h, m.experts, "router", at);
  if (m.shared_gate) AddGradient(h, at);
  if (shared.empty()) return at;
  return Run(ops_.Add(n, h), "shared.add", Join(at, shared));
}

}  // namespace chakra::generate
