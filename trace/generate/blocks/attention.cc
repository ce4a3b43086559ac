// Attention: one GEMM for queries, keys and values, or latent attention (DeepSeek-V2, 2024, section 2.1.2),
// whose down projections each rank of tp has whole.
#include <algorithm>
#include <utility>

#include "trace/generate/blocks/blocks.h"

namespace chakra::generate {
namespace {

// Multiplications of one token in the core. A query with a window of w sees w keys, except the first w
// queries, which see half as many on average. Each chunk is a sequence of its own.
double CoreProducts(const ModelSize& m, const LayerSpec& spec, int64_t seq) {
  if (m.sparse()) {  // the first queries see fewer keys than the indexer may choose
    const double keys = static_cast<double>(std::min(m.index_topk, seq));
    const double seen = keys < static_cast<double>(seq)
                            ? keys - keys * (keys - 1) / (2 * static_cast<double>(seq))
                            : static_cast<double>(seq) / 2;
    return seen * static_cast<double>(m.heads * (2 * m.kv_rank + m.rope_dim));
  }
  const double width = static_cast<double>(m.query_width() + m.context_width());
  if (!m.causal) return width * static_cast<double>(seq);
  if (spec.chunk > 0 && spec.chunk < seq) return width * 0.5 * static_cast<double>(spec.chunk);
  const double window = static_cast<double>(spec.window > 0 ? std::min(spec.window, seq) : seq);
  return width * window * (1 - 0.5 * window / static_cast<double>(seq));
}

// Bytes that the core keeps in addition to its inputs and its output.
int64_t CoreBytes(const BlockWriter& w) {
  const TrainingPlan& t = w.training();
  const int64_t heads = w.model().heads / w.split().tp, size = w.size();
  if (t.attention != proto::Training::MATH) return 4 * w.tokens() * heads;  // the sums of rows
  // The weights of values; with dropout also the remaining weights, and a mask of one byte each (Korthikanti
  // et al., 2022, section 4.1: 5 a s^2 b); with a cap also the output of tanh.
  return (size + (t.dropout ? size + 1 : 0) + (w.model().score_cap ? size : 0)) * w.tokens() * t.seq * heads;
}

int32_t Rotary(int64_t features, int64_t out_bytes, BlockWriter* w) {
  Operation op;
  op.act = Act::kRotary;
  op.part = "attention.rope";
  op.rows = w->tokens();
  op.in = op.out = features;
  op.out_bytes = out_bytes;
  return w->Add(op);
}

// Norms of queries and keys: head by head, or of all features of a token.
void QkNorm(const AttentionWidths& widths, BlockWriter* w) {
  const ModelSize& m = w->model();
  const int64_t features = widths.query + widths.key, width = m.qk_norm_wide ? features : m.head_dim;
  const int32_t norm = w->Norm("attention.qk_norm", w->tokens() * features / width, width,
                               m.QkNormWeights(widths.query, widths.key));
  Operation& op = w->at(norm);
  op.keeps_input = false;  // without the values
  op.own_bytes = op.out_bytes;
  op.out_bytes = w->size() * w->tokens() * (features + widths.value);
}

// The output of the core times the sigmoid of the gate.
void Gate(const AttentionWidths& widths, BlockWriter* w) {
  const int64_t elements = w->tokens() * widths.context, bytes = w->size() * elements;
  const Operators& ops = w->operators();
  const int32_t gate =
      w->Kernels("attention.gate", {ops.Stream("sigmoid_mul_elementwise_kernel", 3 * bytes, 5 * elements)},
                 {ops.Stream("sigmoid_mul_backward_elementwise_kernel", 5 * bytes, 10 * elements)}, bytes);
  w->at(gate).keeps_input = true;
  w->at(gate).own_bytes = bytes;  // the gate
}

void Queries(const AttentionWidths& widths, BlockWriter* w) {
  const ModelSize& m = w->model();
  const int64_t gate = m.attention_gate ? widths.query : 0;
  const int64_t wide = widths.query + widths.key + widths.value + gate;
  const int32_t qkv = w->Column("attention.qkv", m.hidden, wide, "attention.qkv_adapter");
  w->Fuses(qkv, {widths.query + gate, widths.key, widths.value}, Fused::kQueries);
  if (m.qkv_bias) w->Bias("attention.qkv", w->tokens(), wide);
  if (m.qk_norm && (!m.qk_norm_bare || w->spec().rope)) QkNorm(widths, w);
  // Without the gate, which the core does not read.
  if (w->spec().rope) Rotary(widths.query + widths.key, w->size() * w->tokens() * (wide - gate), w);
}

// Returns the indices of the first and behind the last operation that queries, keys and values need from the
// outputs of the down projections.
std::pair<int32_t, int32_t> LatentQueries(const AttentionWidths& widths, BlockWriter* w) {
  const ModelSize& m = w->model();
  const int64_t latent = m.q_rank + m.kv_rank, down = latent + m.rope_dim, heads = m.heads / w->split().tp;
  const int32_t input = w->current();
  const int32_t whole = w->Product(Act::kWhole, "attention.down", m.hidden, down, "attention.down_adapter");
  w->Fuses(whole, {m.q_rank, m.kv_rank + m.rope_dim}, Fused::kApart);
  const int32_t norm = w->Norm("attention.latent_norm", w->shared(), latent, m.NormWeights(latent));
  w->at(norm).out_bytes = w->at(whole).out_bytes;
  w->at(norm).keeps_output = true;
  const int32_t first = w->Gather("attention.down", down);
  if (m.q_rank == 0) w->From(input);
  const int32_t queries =
      w->Product(m.q_rank > 0 ? Act::kUp : Act::kUpOfInput, "attention.q_up",
                 m.q_rank > 0 ? m.q_rank : m.hidden, widths.query, "attention.q_up_adapter");
  if (m.qkv_bias) w->at(queries).weights += widths.query;
  if (m.sparse()) {  // keys and values stay latent
    const int64_t latent_bytes = w->size() * w->tokens() * (widths.query + m.kv_rank + m.rope_dim);
    Rotary((heads + 1) * m.rope_dim, latent_bytes, w);
    return {first, w->next()};
  }
  w->From(norm);
  const int32_t keys = w->Product(Act::kUp, "attention.kv_up", m.kv_rank, heads * (m.nope_dim + m.v_dim),
                                  "attention.kv_up_adapter");
  w->at(keys).beside = true;
  const int64_t bytes = w->size() * w->tokens() * (widths.query + widths.key + widths.value);
  Rotary((heads + 1) * m.rope_dim, bytes, w);
  return {first, w->next()};
}

}  // namespace

AttentionWidths WidthsOf(const StepPlan& plan) {
  const ModelSize& m = plan.model;
  const int64_t tp = plan.split.tp;
  // Each key head is on several ranks if there are fewer than ranks.
  const int64_t keys = std::max<int64_t>(1, m.kv_heads / tp) * m.head_dim;
  AttentionWidths out;
  out.query = m.query_width() / tp;
  out.key = m.latent() ? m.key_width() / tp : keys;
  out.value = m.latent() ? m.value_width() / tp : keys;
  out.context = m.context_width() / tp;
  return out;
}

void DescribeAttention(BlockWriter* w) {
  const ModelSize& m = w->model();
  const AttentionWidths widths = WidthsOf(w->plan());
  w->Begin("attention.add", "attention.post_norm");
  w->SublayerNorm("attention.norm");
  const int32_t first = w->next();
  std::pair<int32_t, int32_t> up = {0, 0};
  if (m.latent()) {
    up = LatentQueries(widths, w);
  } else {
    Queries(widths, w);
  }
  if (w->spec().indexer) AddIndexer(w);
  if (m.sparse()) AddLatentQueries(w);
  Operation op;
  op.act = Act::kCore;
  op.part = "attention.core";
  op.core = CoreProducts(m, w->spec(), std::max<int64_t>(1, w->training().seq));
  op.weights = m.sinks ? m.heads / w->split().tp : 0;
  op.keeps_input = op.keeps_output = true;
  op.own_bytes = CoreBytes(*w);
  op.out_bytes =
      w->size() * w->tokens() * (m.sparse() ? m.heads / w->split().tp * m.kv_rank : widths.context);
  const int32_t core = w->Add(op);
  w->Recompute(kProjections, first, core, core, false);
  if (m.sparse()) AddLatentValues(w);
  if (m.attention_gate) Gate(widths, w);
  const int32_t out = w->next();
  int32_t last = w->Row("attention.out", widths.context, m.hidden, "attention.out_adapter");
  if (m.bias) last = w->Bias("attention.out", w->shared(), m.hidden);
  w->Recompute(kAttentionOut, out, last + 1, last, false);
  if (m.mlp_norm()) w->RecomputeNorm(last);  // the MLP recomputes a norm that it shares
  if (m.latent()) w->Recompute(kLatentUp, up.first, up.second, core, false);
  w->Recompute(kCoreAttention, core, core + 1, core, true);
  w->End(2 * widths.context);
}

}  // namespace chakra::generate
