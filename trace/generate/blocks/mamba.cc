// Mamba-2 (Dao and Gu, "Transformers are SSMs", 2024), as state-spaces/mamba's Triton kernels compute it in
// chunks (mamba_ssm/ops/triton/ssd_combined.py) and Megatron-LM shares it (core/ssm/mamba_mixer.py,
// mamba_context_parallel.py): ranks of tp and cp have some heads each.
#include <algorithm>

#include "trace/generate/blocks/blocks.h"

namespace chakra::generate {
namespace {

// Sizes on one rank of tp and cp, for `tokens` tokens.
struct MambaSizes {
  int64_t tokens = 0, heads = 0, groups = 0, head_dim = 0, state = 0, chunk = 0, size = 2;
  int64_t inner() const { return heads * head_dim; }
  int64_t channels() const { return inner() + 2 * groups * state; }  // of the convolution
  int64_t chunks() const { return (tokens + chunk - 1) / chunk; }
  int64_t states() const { return 4 * chunks() * inner() * state; }  // bytes; fp32
  int64_t scores() const { return 4 * tokens * chunk * groups; }     // bytes; fp32
  int64_t x() const { return size * tokens * inner(); }              // bytes of the inputs of heads
  int64_t b() const { return size * tokens * groups * state; }       // bytes of B, and of C
  int64_t steps() const { return 8 * tokens * heads; }               // bytes of dt and its sums; fp32
  // Operations: of a product with the states, of one with the scores inside a chunk, of which the causal half
  // counts, and of the scores themselves.
  int64_t of_states() const { return 2 * tokens * inner() * state; }
  int64_t of_scores() const { return tokens * chunk * inner(); }
  int64_t of_groups() const { return 2 * tokens * chunk * state * groups; }
};

// The forward kernels up to the scan, which the backward pass runs again.
std::vector<Operator> UpToScan(const MambaSizes& z, int64_t kernel, const Operators& ops) {
  return {
      ops.Convolution(z.tokens * z.channels(), kernel, false),
      ops.Stream("_chunk_cumsum_fwd_kernel", z.steps() + z.size * z.tokens * z.heads, 8 * z.tokens * z.heads),
      ops.Stream("_chunk_state_fwd_kernel", z.x() + z.b() + z.steps() + z.states(), z.of_states()),
      ops.Stream("_state_passing_fwd_kernel", 2 * z.states(), z.states() / 2),
      ops.Stream("_bmm_chunk_fwd_kernel", 2 * z.b() + z.scores(), z.of_groups())};
}

std::vector<Operator> MambaForward(const MambaSizes& z, int64_t kernel, const Operators& ops) {
  std::vector<Operator> out = UpToScan(z, kernel, ops);
  out.push_back(ops.Stream("_chunk_scan_fwd_kernel", z.scores() + 2 * z.x() + z.b() + z.states() + z.steps(),
                           z.of_scores() + z.of_states()));
  // The norm of the output, with the gate.
  out.push_back(ops.Stream("_layer_norm_fwd_1pass_kernel", 3 * z.x(), 8 * z.tokens * z.inner()));
  return out;
}

// MambaSplitConv1dScanCombinedFn's backward pass.
std::vector<Operator> MambaBackward(const MambaSizes& z, int64_t kernel, const Operators& ops) {
  std::vector<Operator> out = UpToScan(z, kernel, ops);
  const auto add = [&](const char* name, int64_t bytes, int64_t operations) {
    out.push_back(ops.Stream(name, bytes, operations));
  };
  add("_layer_norm_bwd_kernel", 5 * z.x(), 16 * z.tokens * z.inner());
  add("_chunk_scan_bwd_dstates_kernel", z.x() + z.b() + z.states(), z.of_states());
  add("_state_passing_bwd_kernel", 3 * z.states(), z.states() / 2);
  add("_chunk_scan_chunk_state_bwd_dx_kernel", 3 * z.x() + z.b() + z.scores() + z.states() + z.steps(),
      z.of_scores() + z.of_states());
  add("_chunk_state_bwd_db_kernel", z.x() + 2 * z.b() + z.states(), z.of_states());
  add("_chunk_scan_bwd_dc_kernel", z.x() + 2 * z.b() + z.states(), z.of_states());
  add("_chunk_scan_bwd_dcb_kernel", 2 * z.x() + z.scores() + z.steps(), z.of_scores());
  add("_bmm_chunk_bwd_kernel", z.scores() + 2 * z.b(), z.of_groups());
  add("_bmm_chunk_bwd_kernel", z.scores() + 2 * z.b(), z.of_groups());
  add("_chunk_scan_bwd_ddacs_stable_kernel", 2 * z.x() + z.scores() + z.steps(), z.of_scores());
  add("_chunk_cumsum_bwd_kernel", 2 * z.steps(), 16 * z.tokens * z.heads);
  out.push_back(ops.Convolution(z.tokens * z.channels(), kernel, true));
  return out;
}

}  // namespace

void DescribeMamba(BlockWriter* w) {
  const ModelSize& m = w->model();
  const Split& s = w->split();
  const MambaShape& shape = m.mamba;
  MambaSizes z;
  z.tokens = w->tokens();
  z.heads = shape.heads / s.tp;
  z.groups = shape.groups / s.tp;
  z.head_dim = shape.head_dim;
  z.state = shape.state;
  z.chunk = shape.chunk;
  z.size = w->size();
  const int64_t inner = z.inner(), wide = 2 * inner + 2 * z.groups * z.state + z.heads;
  w->Begin("mamba.add", "mamba.post_norm");
  w->SublayerNorm("mamba.norm");
  w->Column("mamba.in", m.hidden, wide);
  // With cp, Megatron-LM exchanges z, x, B, C and dt one by one, and repeats groups that are fewer than
  // ranks.
  const int64_t repeated = std::max<int64_t>(z.groups, s.cp) * z.state;
  for (const int64_t width : {inner, inner, repeated, repeated, z.heads})
    w->Exchange("mamba.exchange", width);
  MambaSizes own = z;  // all tokens of the ranks of cp, and a share of the heads
  own.tokens *= s.cp;
  own.heads /= s.cp;
  own.groups = std::max<int64_t>(1, z.groups / s.cp);
  const int32_t core = w->Kernels("mamba.core", MambaForward(own, m.conv_kernel, w->operators()),
                                  MambaBackward(own, m.conv_kernel, w->operators()), z.x());
  Operation& op = w->at(core);
  op.weights = (m.conv_kernel + 1) * z.channels() + 3 * z.heads + inner;
  op.keeps_input = true;
  op.own_bytes = z.x() + 4 * z.tokens * z.groups;  // the output before its norm, and the norm's sums
  // Megatron-LM's count: 7 operations for each element of the state and a token (training.py,
  // mamba_layer_flops).
  op.core = 3.5 * static_cast<double>(inner * z.state);
  w->Exchange("mamba.exchange", inner);
  w->RecomputeNorm(w->Row("mamba.out", inner, m.hidden));
  w->End(2 * inner);
}

}  // namespace chakra::generate
