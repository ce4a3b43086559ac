// Linear attention by the delta rule, as flash-linear-attention's Triton kernels compute it in chunks of 64
// tokens: gated DeltaNet (Yang et al., 2024; fla/ops/gated_delta_rule; Megatron-LM, core/ssm/
// gated_delta_net.py), Kimi delta attention (Kimi Linear, 2025; fla/ops/kda), whose decay has a number for
// each feature, and lightning attention (MiniMax-01, 2025), whose decay is fixed. Ranks of tp and cp have
// some heads each.
#include <algorithm>

#include "trace/generate/blocks/blocks.h"

namespace chakra::generate {
namespace {

constexpr int64_t kChunk = 64;

struct DeltaSizes {
  int64_t tokens = 0, key_heads = 0, heads = 0, key_dim = 0, value_dim = 0, size = 2;
  bool by_feature = false;  // the decay has a number for each feature of a key
  int64_t keys() const { return key_heads * key_dim; }
  int64_t values() const { return heads * value_dim; }
  int64_t channels() const { return 2 * keys() + values(); }     // of the convolution
  int64_t q() const { return size * tokens * heads * key_dim; }  // bytes of queries, and of keys
  int64_t v() const { return size * tokens * values(); }         // bytes of values
  int64_t decay() const { return 4 * tokens * heads * (by_feature ? key_dim : 1); }  // bytes; fp32
  int64_t inside() const { return size * tokens * heads * kChunk; }  // bytes of the scores of chunks
  int64_t states() const { return size * (tokens + kChunk - 1) / kChunk * heads * key_dim * value_dim; }
  // Operations: of a product of keys or values with the states, and with the scores inside a chunk.
  int64_t of_states() const { return 2 * tokens * heads * key_dim * value_dim; }
  int64_t of_keys() const { return 2 * tokens * heads * kChunk * key_dim; }
  int64_t of_values() const { return 2 * tokens * heads * kChunk * value_dim; }
};

// Scores of keys with keys, their triangular solve, and the corrected keys (w) and values (u).
Operator Intra(const DeltaSizes& z, const Operators& ops) {
  return ops.Stream(z.by_feature ? "chunk_kda_fwd_kernel_intra" : "chunk_gated_delta_rule_fwd_kernel_intra",
                    3 * z.q() + 2 * z.v() + 2 * z.decay() + z.inside(),
                    2 * z.of_keys() + z.of_values() + 2 * z.tokens * z.heads * kChunk * kChunk);
}

// The states of all chunks, one after the other.
Operator States(const DeltaSizes& z, const Operators& ops) {
  return ops.Stream("chunk_gated_delta_rule_fwd_kernel_h", 2 * z.q() + 2 * z.v() + z.decay() + z.states(),
                    2 * z.of_states());
}

std::vector<Operator> DeltaForward(const DeltaSizes& z, int64_t kernel, const Operators& ops) {
  const int64_t keys = z.size * z.tokens * z.keys();
  const Operator norm = ops.Stream("l2norm_fwd_kernel", 2 * keys, 5 * z.tokens * z.keys());
  std::vector<Operator> out = {
      ops.Convolution(z.tokens * z.channels(), kernel, false), norm, norm,
      ops.Stream(z.by_feature ? "kda_gate_chunk_cumsum_kernel" : "chunk_local_cumsum_kernel",
                 z.decay() * 3 / 2 + 8 * z.tokens * z.heads, z.decay())};
  if (z.key_heads < z.heads)  // copies queries and keys to the heads of values
    out.push_back(ops.Stream("repeat_copy_elementwise_kernel", 2 * (z.q() + keys), 0));
  out.push_back(Intra(z, ops));
  out.push_back(States(z, ops));
  out.push_back(ops.Stream(z.by_feature ? "chunk_gla_fwd_kernel_o" : "chunk_fwd_kernel_o",
                           2 * z.q() + 2 * z.v() + z.decay() + z.states(),
                           z.of_states() + z.of_keys() + z.of_values()));
  out.push_back(ops.Stream("layer_norm_gated_fwd_kernel", 3 * z.v(), 8 * z.tokens * z.values()));
  return out;
}

std::vector<Operator> DeltaBackward(const DeltaSizes& z, int64_t kernel, const Operators& ops) {
  std::vector<Operator> out;
  const auto add = [&](const char* name, int64_t bytes, int64_t operations) {
    out.push_back(ops.Stream(name, bytes, operations));
  };
  add("layer_norm_gated_bwd_kernel", 5 * z.v(), 16 * z.tokens * z.values());
  add("recompute_w_u_fwd_kernel", 2 * z.q() + 2 * z.v() + z.decay() + z.inside(),
      z.of_keys() + z.of_values());
  out.push_back(States(z, ops));
  add("chunk_bwd_kernel_dv_local", 2 * z.q() + 2 * z.v() + z.decay(), z.of_keys() + z.of_values());
  add("chunk_gated_delta_rule_bwd_kernel_dhu", 3 * z.q() + 3 * z.v() + z.decay() + z.states(),
      3 * z.of_states());
  add("chunk_bwd_kernel_dqkwg", 6 * z.q() + 3 * z.v() + 2 * z.decay() + 2 * z.states(),
      4 * z.of_states() + 3 * z.of_keys() + z.of_values());
  add("prepare_wy_repr_bwd_kernel", 3 * z.q() + 3 * z.v() + 2 * z.decay() + z.inside(),
      3 * z.of_keys() + 2 * z.of_values() + 4 * z.tokens * z.heads * kChunk * kChunk);
  add("chunk_local_cumsum_kernel", 2 * z.decay(), z.decay());
  if (z.key_heads < z.heads)
    add("repeat_backward_reduce_kernel", 2 * (z.q() + z.size * z.tokens * z.keys()), z.q());
  for (int i = 0; i < 2; ++i)
    add("l2norm_bwd_kernel", 3 * z.size * z.tokens * z.keys(), 10 * z.tokens * z.keys());
  out.push_back(ops.Convolution(z.tokens * z.channels(), kernel, true));
  return out;
}

DeltaSizes SizesOf(const BlockWriter& w, bool by_feature) {
  const DeltaShape& shape = w.model().delta;
  DeltaSizes z;
  z.tokens = w.tokens();
  z.key_heads = shape.key_heads / w.split().tp;
  z.heads = shape.value_heads / w.split().tp;
  z.key_dim = shape.key_dim;
  z.value_dim = shape.value_dim;
  z.size = w.size();
  z.by_feature = by_feature;
  return z;
}

// The kernels between the GEMMs. What they keep: the outputs of the convolution, norms, decays, the scores of
// chunks and the output before its norm.
Operation& Core(const DeltaSizes& z, const char* part, BlockWriter* w) {
  const int64_t cp = w->split().cp, kernel = w->model().conv_kernel;
  DeltaSizes own = z;  // all tokens of the ranks of cp, and a share of the heads
  own.tokens *= cp;
  own.heads /= cp;
  own.key_heads = std::max<int64_t>(1, z.key_heads / cp);
  const int32_t core = w->Kernels(part, DeltaForward(own, kernel, w->operators()),
                                  DeltaBackward(own, kernel, w->operators()), z.v());
  Operation& op = w->at(core);
  op.keeps_input = true;
  op.own_bytes = z.size * z.tokens * z.channels() + z.decay() + 4 * z.tokens * z.heads + z.inside() + z.v() +
                 4 * z.tokens * (2 * z.key_heads + z.heads);
  return op;
}

}  // namespace

void DescribeGatedDelta(BlockWriter* w) {
  const DeltaSizes z = SizesOf(*w, false);
  const ModelSize& m = w->model();
  const int64_t q = z.keys(), v = z.values(), wide = 2 * q + 2 * v + 2 * z.heads;
  w->Begin("gdn.add", "gdn.post_norm");
  w->SublayerNorm("gdn.norm");
  w->Column("gdn.in", m.hidden, wide);
  w->Exchange("gdn.exchange", wide);
  Operation& core = Core(z, "gdn.core", w);
  core.weights = m.conv_kernel * z.channels() + 2 * z.heads + z.value_dim;
  // Megatron-LM's count (training.py, gated_delta_net): the convolution, and four products with the state.
  core.core = static_cast<double>(m.conv_kernel * z.channels() + 4 * z.heads * z.key_dim * z.value_dim);
  w->Exchange("gdn.exchange", v);
  w->RecomputeNorm(w->Row("gdn.out", v, m.hidden));
  w->End(2 * v);
}

void DescribeKimiDelta(BlockWriter* w) {
  const DeltaSizes z = SizesOf(*w, true);
  const ModelSize& m = w->model();
  const int64_t p = z.values(), d = z.value_dim, wide = 3 * p + z.heads;
  w->Begin("kda.add", "kda.post_norm");
  w->SublayerNorm("kda.norm");
  const int32_t input = w->current();
  // Queries, keys, values, beta and, if it has full rank, the gate.
  const int64_t columns = wide + (m.delta.full_gate ? p : 0);
  const int32_t in = w->Column("kda.in", m.hidden, columns);
  w->From(input);
  // The decay's low rank and, if it has one too, the gate's. Each rank of tp has the first GEMM whole.
  const int64_t pairs = m.delta.full_gate ? 1 : 2;
  const int32_t down = w->Product(Act::kWhole, "kda.down", m.hidden, pairs * d);
  w->Gather("kda.down", pairs * d);
  for (int64_t i = 0; i < pairs; ++i) {
    w->From(down);
    const int32_t up = w->Product(Act::kUp, i == 0 ? "kda.decay" : "kda.gate", d, p);
    w->at(up).beside = i > 0;
    if (i > 0) w->at(up).keeps_output = true;
  }
  w->From(in);
  w->Exchange("kda.exchange", columns + pairs * p);
  Operation& core = Core(z, "kda.core", w);
  core.weights = m.conv_kernel * 3 * p + p + z.heads + d;
  // Megatron-LM's count: three convolutions, and four products with the state.
  core.core = static_cast<double>(m.conv_kernel * 3 * p + 4 * z.heads * d * d);
  w->Exchange("kda.exchange", p);
  w->RecomputeNorm(w->Row("kda.out", p, m.hidden));
  w->End(2 * p);
}

void DescribeLightning(BlockWriter* w) {
  const ModelSize& m = w->model();
  const int64_t heads = m.heads / w->split().tp, p = heads * m.head_dim, t = w->tokens(),
                bytes = w->size() * t * p;
  constexpr int64_t kBlock = 256;  // MiniMax-01's block
  w->Begin("lightning.add", "lightning.post_norm");
  w->SublayerNorm("lightning.norm");
  w->Column("lightning.in", m.hidden, 4 * p);  // queries, keys, values and the gate
  w->Exchange("lightning.exchange", 4 * p);
  const Operators& ops = w->operators();
  const int64_t inside = 2 * t * kBlock * p, of_state = 2 * t * p * m.head_dim;
  std::vector<Operator> forward = {
      ops.Stream("silu_elementwise_kernel", 6 * bytes, 12 * t * p),
      ops.Stream("lightning_attention_fwd_kernel", 4 * bytes, inside + 2 * of_state),
      ops.Stream("layer_norm_gated_fwd_kernel", 3 * bytes, 8 * t * p)};
  std::vector<Operator> backward = {
      ops.Stream("layer_norm_gated_bwd_kernel", 5 * bytes, 16 * t * p),
      ops.Stream("lightning_attention_bwd_kernel", 8 * bytes, 5 * inside / 2 + 5 * of_state),
      ops.Stream("silu_backward_elementwise_kernel", 9 * bytes, 24 * t * p)};
  const int32_t core = w->Kernels("lightning.core", std::move(forward), std::move(backward), bytes);
  Operation& op = w->at(core);
  op.weights = p;
  op.keeps_input = true;
  op.own_bytes = 4 * bytes;  // queries, keys and values after silu, and the output before its norm
  op.core = static_cast<double>(2 * p * m.head_dim + kBlock * p);
  w->Exchange("lightning.exchange", p);
  w->RecomputeNorm(w->Row("lightning.out", p, m.hidden));
  w->End(2 * p);
}

}  // namespace chakra::generate
