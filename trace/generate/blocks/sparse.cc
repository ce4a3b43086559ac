// Sparse attention (DeepSeek-AI, "DeepSeek-V3.2", 2025; Megatron-LM,
// core/transformer/experimental_attention_variant/dsa.py): an indexer scores all keys of a query and chooses
// some; attention sees only these, in latent features that all heads share. The indexer learns from the
// attention by a loss of its own, so its inputs have no gradient. Each rank of tp has the whole indexer.
#include <algorithm>
#include <utility>

#include "trace/generate/blocks/blocks.h"

namespace chakra::generate {
namespace {

// A GEMM for each head, from `in` to `out` features.
void OfHeads(const char* part, int64_t in, int64_t out, int64_t more_bytes, BlockWriter* w) {
  const int64_t heads = w->model().heads / w->split().tp, t = w->tokens();
  const Operators& ops = w->operators();
  const int32_t index = w->Kernels(part, {ops.Product(t, out, in, heads)},
                                   {ops.Product(t, in, out, heads), ops.WeightProduct(out, in, t, heads)},
                                   w->size() * t * (heads * out + more_bytes));
  Operation& op = w->at(index);
  op.weights = heads * in * out;
  // In checkpoints, the matrix of all heads is from the latent features.
  op.matrices = {{op.weights / w->model().kv_rank, w->model().kv_rank, 1, WeightMatrix::kRows}};
  op.products = static_cast<double>(op.weights);
  op.keeps_input = true;
  op.gradient_bytes = w->size() * t * heads * out;
}

}  // namespace

void AddIndexer(BlockWriter* w) {
  const ModelSize& m = w->model();
  const int64_t t = w->tokens(), seq = w->training().seq, heads = m.index_heads, dim = m.index_dim;
  const int64_t pairs = t * seq / 2, chosen = t * std::min(m.index_topk, seq);
  if (w->split().sp) w->Gather("index.gather", m.hidden, false);  // the gradient ends here
  const Operators& ops = w->operators();
  const int64_t q = m.q_rank * heads * dim, k = m.hidden * dim, weight = m.hidden * heads;
  const int64_t score_bytes = w->size() * t * (heads + 1) * dim + 4 * pairs;
  std::vector<Operator> forward = {
      ops.Product(t, heads * dim, m.q_rank),
      ops.PlainProduct(t, dim, m.hidden),
      ops.PlainProduct(t, heads, m.hidden),
      ops.Stream("rotary_kernel", 2 * w->size() * t * (heads + 1) * dim, 3 * t * heads * dim),
      ops.Stream("index_score_gemm_kernel", score_bytes, 2 * pairs * heads * (dim + 1)),
      ops.Stream("topk_radix_kernel", 8 * pairs + 4 * chosen, 2 * pairs)};
  // The probabilities of attention over the chosen keys are the targets: one more product of queries and
  // keys.
  const int64_t target = 2 * chosen * (m.heads / w->split().tp) * (m.kv_rank + m.rope_dim);
  std::vector<Operator> backward = {
      ops.Stream("index_loss_gemm_kernel", 8 * chosen, target),
      ops.Stream("index_score_backward_gemm_kernel", score_bytes, 4 * chosen * heads * (dim + 1)),
      ops.WeightProduct(heads * dim, m.q_rank, t), ops.PlainWeightProduct(dim, m.hidden, t),
      ops.PlainWeightProduct(heads, m.hidden, t)};
  const int32_t index = w->Kernels("index.score", std::move(forward), std::move(backward), 0);
  Operation& op = w->at(index);
  op.weights = q + k + weight + 2 * dim;  // and the LayerNorm of keys
  op.matrices = {{heads * dim, m.q_rank}, {dim, m.hidden}, {heads, m.hidden}};
  op.own_bytes = 4 * chosen + w->size() * t * (heads + 1) * dim + 4 * t * heads;
}

void AddLatentQueries(BlockWriter* w) {
  const ModelSize& m = w->model();
  const int64_t heads = m.heads / w->split().tp;
  // Beside the latent queries: their rotary parts, and the latent keys.
  OfHeads("attention.q_latent", m.nope_dim, m.kv_rank, heads * m.rope_dim + m.kv_rank + m.rope_dim, w);
}

void AddLatentValues(BlockWriter* w) {
  OfHeads("attention.v_up", w->model().kv_rank, w->model().v_dim, 0, w);
}

}  // namespace chakra::generate
