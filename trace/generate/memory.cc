#include "trace/generate/memory.h"

#include <algorithm>
#include <vector>

#include "trace/generate/layers.h"
#include "trace/generate/offload.h"
#include "trace/generate/pieces.h"
#include "trace/generate/schedule.h"

namespace chakra::generate {
namespace {

using proto::Training;

bool IsFsdp(const StepPlan& p) { return p.training.framework == Training::FSDP; }
bool IsDdp(const StepPlan& p) { return p.training.framework == Training::DDP; }

// FSDP and DDP have fp32 weights, which are cast for GEMMs.
int64_t WeightBytes(const StepPlan& p) { return IsFsdp(p) || IsDdp(p) ? 4 : p.element_bytes(); }

int64_t OptimizerBytes(const StepPlan& p) {
  const int64_t averages =
      p.training.optimizer == Training::SGD || p.training.optimizer == Training::ADAGRAD ? 4 : 8;
  if (WeightBytes(p) == 4) return averages;
  // fp32 weights; if gradients have two bytes, also fp32 gradients.
  return averages + 4 + (p.gradient_bytes() == 2 ? 4 : 0);
}

struct Held {
  int64_t dense = 0, expert = 0;
  int64_t largest_dense = 0, largest_expert = 0;  // of the largest layer
  int64_t root_dense = 0;                         // embedding and head
  int64_t adapters = 0, largest_adapters = 0;     // trained elements, if all of the above are frozen
};

std::vector<Piece> PiecesOf(const StepPlan& p, int64_t stage) {
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < p.split.stage_pieces(); ++i)
    pieces.push_back(p.pieces[static_cast<size_t>(PieceOf(p.split, stage, i))]);
  return pieces;
}

Held HeldBy(const StepPlan& p, const std::vector<Piece>& pieces) {
  Held held;
  for (const Piece& piece : pieces) {
    for (int64_t i = piece.first; i < piece.first + piece.layers; ++i) {
      const WeightShare share = ShareOfLayer(p, i);
      held.dense += share.dense;
      held.expert += share.expert;
      held.largest_dense = std::max(held.largest_dense, share.dense);
      held.largest_expert = std::max(held.largest_expert, share.expert);
      if (!p.training.frozen()) continue;
      const int64_t adapters = TrainedOfLayer(p, i).dense;
      held.adapters += adapters;
      held.largest_adapters = std::max(held.largest_adapters, adapters);
    }
    if (piece.embedding) held.root_dense += ShareOfEmbedding(p);
    if (piece.head) held.root_dense += ShareOfHead(p) + (p.copies_embedding() ? CopyOfEmbedding(p) : 0);
  }
  held.dense += held.root_dense;
  return held;
}

// Frozen weights exist only in the dtype of GEMMs, without gradients and averages.
void AddFrozenStates(const StepPlan& p, const Held& held, RankMemory* out) {
  const int64_t ranks = p.split.holders(false);
  const auto shared = [&](int64_t bytes, int from) {
    return bytes * (p.split.zero < from ? held.adapters : ShareOf(held.adapters, ranks));
  };
  const bool whole = p.split.zero < 3;
  out->weights = shared(WeightBytes(p), 3) +
                 p.element_bytes() *
                     (whole ? held.dense + held.expert
                            : ShareOf(held.dense, ranks) + ShareOf(held.expert, p.split.holders(true)) +
                                  2 * (held.largest_dense + held.largest_expert + held.largest_adapters) +
                                  held.root_dense);
  out->gradients = shared(p.gradient_bytes(), 2);
  out->optimizer = shared(OptimizerBytes(p), 1);
  if (!whole) out->working += p.reduced_bytes() * held.largest_adapters;
}

void AddStates(const StepPlan& p, const Held& held, RankMemory* out) {
  if (p.training.frozen()) return AddFrozenStates(p, held, out);
  const auto shared = [&](int64_t bytes, int from) {
    if (p.split.zero < from) return bytes * (held.dense + held.expert);
    return bytes *
           (ShareOf(held.dense, p.split.holders(false)) + ShareOf(held.expert, p.split.holders(true)));
  };
  out->weights = shared(WeightBytes(p), 3);
  out->gradients = shared(p.gradient_bytes(), 2);
  out->optimizer = shared(OptimizerBytes(p), 1);
  if (p.split.zero < 3) return;
  // The current layer and the next one; the root stays.
  out->weights += p.element_bytes() * (2 * (held.largest_dense + held.largest_expert) + held.root_dense);
  // Buffers of the reduction after a layer.
  out->working += p.reduced_bytes() * (held.largest_dense + held.largest_expert);
}

// A temporary of the step. Megatron-LM gives autograd one empty gradient for each shape of weight whose
// gradient is added to the buffer in place. DDP's buckets are copies of the gradients, and autocast keeps its
// casts.
int64_t FrameworkBuffers(const StepPlan& p, const Held& held, const Piece& piece) {
  if (IsFsdp(p)) return 0;
  if (p.training.frozen()) return IsDdp(p) ? 4 * held.adapters : 0;
  if (IsDdp(p)) return (4 + (p.element_bytes() < 4 ? p.element_bytes() : 0)) * (held.dense + held.expert);
  if (piece.layers == 0) return 0;
  const WeightShare share = ShareOfLayer(p, piece.first + piece.layers - 1);
  const int64_t experts = std::max<int64_t>(1, p.model.experts / p.split.ep);
  return p.element_bytes() * (share.dense - share.replicated + share.expert / experts);
}

// Gradients inside one layer: of the outputs of the MLP's GEMMs, and of the gathered tokens.
int64_t LayerTemporaries(const StepPlan& p, int64_t layer) {
  const ModelSize& m = p.model;
  const int64_t width = m.has_experts(layer) ? m.top_k * m.expert_ffn : m.ffn;
  return p.element_bytes() * p.tokens() * (2 * width / p.split.tp + m.hidden);
}

// On the last stage: the logits in the dtype of GEMMs and in fp32, their gradient, and the input and output
// of the last norm.
int64_t HeadBytes(const StepPlan& p) {
  const int64_t rows = p.model.image > 0 ? p.training.micro_batch : p.tokens();
  const int64_t columns = p.padded_outputs() / p.split.tp;
  const int64_t capped = p.model.logit_cap ? p.element_bytes() : 0;  // the output of tanh
  return (4 + p.element_bytes() + capped) * rows * columns +
         2 * p.element_bytes() * p.shared_tokens() * p.model.hidden;
}

// Activations of the core of attention, in addition to its inputs and its output.
int64_t CoreActivations(const StepPlan& p) {
  const int64_t heads = p.model.heads / p.split.tp, size = p.element_bytes();
  if (p.training.attention != Training::MATH) return 4 * p.tokens() * heads;  // the sums of rows
  // The weights of values; with dropout also the remaining weights, and a mask of one byte each (Korthikanti
  // et al., 2022, section 4.1: 5 a s^2 b); with a cap also the output of tanh.
  return (size + (p.training.dropout ? size + 1 : 0) + (p.model.score_cap ? size : 0)) * p.tokens() *
         p.training.seq * heads;
}

// Queries, keys and values.
int64_t CoreInputs(const StepPlan& p) {
  const ModelSize& m = p.model;
  const int64_t key_heads = m.latent() ? m.heads : std::max(m.kv_heads, p.split.tp);
  const int64_t keys = m.latent() ? m.key_width() + m.value_width() : 2 * key_heads * m.head_dim;
  return p.element_bytes() * p.tokens() * (m.query_width() + keys) / p.split.tp;
}

int64_t AttentionActivations(const StepPlan& p, int64_t layer) {
  const ModelSize& m = p.model;
  const int64_t tp = p.split.tp, size = p.element_bytes(), n = p.tokens();
  int64_t bytes = CoreInputs(p) + size * n * m.context_width() / tp + CoreActivations(p);
  if (m.has_qk_norm(layer) && !m.latent())
    bytes += size * n * (m.query_width() + std::max(m.kv_heads, tp) * m.head_dim) / tp;
  if (m.latent()) bytes += 2 * size * p.shared_tokens() * (m.q_rank + m.kv_rank + m.rope_dim);
  return bytes;
}

// The output of the MLP's first GEMM and its activation. The activation is not kept if neither the gradient
// of a weight nor that of an adapter without dropout needs it.
int64_t MlpActivations(const StepPlan& p, int64_t rows, int64_t ffn) {
  const bool output = !p.training.frozen() || (p.training.lora_mlp && !p.training.lora_dropout);
  return p.element_bytes() * rows * ffn * ((p.model.gated ? 2 : 1) + (output ? 1 : 0));
}

// The activations between the GEMMs of adapters, of attention and, in layers without experts, of the MLP.
int64_t AdapterActivations(const StepPlan& p) {
  const TrainingPlan& t = p.training;
  if (!t.frozen()) return 0;
  const ModelSize& m = p.model;
  const int64_t downs = !m.latent() ? 0 : m.q_rank > 0 ? 2 : 1;  // adapters on a rank's own tokens
  const int64_t columns = (m.latent() ? 2 : 1) + (t.lora_mlp ? 1 : 0), rows = downs + (t.lora_mlp ? 2 : 1);
  const int64_t narrow = p.element_bytes() * t.lora * (columns * p.tokens() + rows * p.shared_tokens());
  if (!t.lora_dropout) return narrow;
  // The inputs after dropout, and masks of one byte each.
  const int64_t queries = m.latent() ? (m.q_rank > 0 ? m.q_rank : m.hidden) + m.kv_rank : m.hidden;
  const int64_t of_mlp = t.lora_mlp ? m.hidden + m.ffn / p.split.tp : 0;
  const int64_t inputs = queries + m.context_width() / p.split.tp + of_mlp;
  return narrow + (p.element_bytes() + 1) * (p.tokens() * inputs + downs * p.shared_tokens() * m.hidden);
}

int64_t ExpertActivations(const StepPlan& p) {
  const ModelSize& m = p.model;
  const int64_t n = p.shared_tokens(), size = p.element_bytes();
  // The tokens of all ranks of etp, with a share of the features each.
  int64_t bytes = MlpActivations(p, n * m.top_k, m.expert_ffn);
  // rows sent to the experts, and rows that come back
  bytes += size * n * m.top_k * m.hidden * (p.split.etp + 1);
  bytes += 4 * n * m.experts;  // the router
  if (m.shared_ffn > 0) bytes += MlpActivations(p, p.tokens(), m.shared_ffn / p.split.tp);
  return bytes;
}

// Activations of a layer that its backward pass recomputes instead of keeping them: before the backward pass
// of attention, and before that of the MLP, which comes first and frees what it recomputed.
struct MadeAgain {
  int64_t attention = 0, mlp = 0;
};

// The number of inputs of the two norms before attention and the MLP, and of their outputs. An output is kept
// if it is needed: by the gradients of the weights after it, by adapters without dropout, by a router, or by
// recomputation of the MLP.
bool KeepsAttentionInput(const StepPlan& p) { return !p.training.frozen() || !p.training.lora_dropout; }
bool KeepsMlpInput(const StepPlan& p, int64_t layer) {
  const TrainingPlan& t = p.training;
  return !t.frozen() || (t.lora_mlp && !t.lora_dropout) || p.model.has_experts(layer) ||
         t.MakesAgain(kDenseMlp);
}
int64_t NormsKept(const StepPlan& p, int64_t layer) {
  // Without pre_norm, the inputs of attention and of the MLP are kept. A shared norm has one input and one
  // output.
  if (!p.model.pre_norm) return 2;
  if (p.model.shared_norm) return 1 + (KeepsAttentionInput(p) || KeepsMlpInput(p, layer) ? 1 : 0);
  return 2 + (KeepsAttentionInput(p) ? 1 : 0) + (KeepsMlpInput(p, layer) ? 1 : 0);
}

MadeAgain MadeAgainOf(const StepPlan& p, int64_t layer) {
  const ModelSize& m = p.model;
  const TrainingPlan& t = p.training;
  MadeAgain out;
  if (t.MakesAgain(kLayerNorms)) {
    const int64_t norm = p.element_bytes() * p.shared_tokens() * m.hidden;
    out.attention = KeepsAttentionInput(p) && m.mlp_norm() ? norm : 0;
    out.mlp = KeepsMlpInput(p, layer) || (m.shared_norm && KeepsAttentionInput(p)) ? norm : 0;
  }
  if (t.MakesAgain(kLatentUp)) out.attention += CoreInputs(p);
  if (t.MakesAgain(kCoreAttention)) out.attention += CoreActivations(p);
  if (!m.has_experts(layer)) {
    if (t.MakesAgain(kDenseMlp)) out.mlp += MlpActivations(p, p.tokens(), m.ffn / p.split.tp);
    return out;
  }
  if (t.MakesAgain(kMoe)) out.mlp += ExpertActivations(p);
  if (t.MakesAgain(kExpertActivation) && !t.frozen())  // a frozen GEMM does not need it
    out.mlp += p.element_bytes() * p.shared_tokens() * m.top_k * m.expert_ffn;
  if (t.MakesAgain(kSharedExperts)) out.mlp += MlpActivations(p, p.tokens(), m.shared_ffn / p.split.tp);
  return out;
}

// Bytes that one pass keeps for its backward pass, and the part of them that waits for gradients of weights.
struct Kept {
  int64_t activations = 0, deferred = 0;
  int64_t layer = 0;  // the largest layer's activations
};

// The bytes that a pass adds to the kept ones; negative if it frees them. `kept`: by piece.
int64_t AddedBy(const Pass& pass, const std::vector<Kept>& kept) {
  const Kept& k = kept[static_cast<size_t>(pass.piece)];
  if (pass.forward) return k.activations;
  if (pass.part == Pass::kWeights) return -k.deferred;
  return (pass.part == Pass::kInputs ? k.deferred : 0) - k.activations;
}

// The maximum bytes that the passes of a stage keep at one time. If two passes run together, one frees a
// layer while the other fills one.
int64_t MostKept(const std::vector<Pass>& passes, const std::vector<Kept>& kept) {
  int64_t now = 0, most = 0;
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].merged) {
      const int64_t both = AddedBy(passes[i], kept) + AddedBy(passes[i + 1], kept);
      most =
          std::max(most, now + std::max<int64_t>(0, both) + kept[static_cast<size_t>(passes[i].piece)].layer);
      now += both;
      ++i;
      continue;
    }
    now += AddedBy(passes[i], kept);
    most = std::max(most, now);
  }
  return most;
}

// Inputs, and gradients of outputs, of the GEMMs of attention.
int64_t AttentionDeferred(const StepPlan& p) {
  const ModelSize& m = p.model;
  const int64_t tp = p.split.tp, size = p.element_bytes(), shared = size * p.shared_tokens();
  const int64_t out = size * p.tokens() * m.context_width() / tp + shared * m.hidden;
  if (!m.latent()) {
    const int64_t wide = m.query_width() + 2 * std::max(m.kv_heads, tp) * m.head_dim;
    return out + shared * m.hidden + size * p.tokens() * wide / tp;
  }
  const int64_t down = m.q_rank + m.kv_rank + m.rope_dim;
  const int64_t up = m.query_width() + m.heads * (m.nope_dim + m.v_dim);
  return out + shared * (m.hidden + 2 * down) + size * p.tokens() * up / tp;
}

int64_t MlpDeferred(const StepPlan& p, int64_t rows, int64_t ffn) {
  return p.element_bytes() * rows * ffn * (p.model.gated ? 3 : 2);
}

}  // namespace

int64_t ActivationsOfLayer(const StepPlan& p, int64_t layer) {
  const MadeAgain again = MadeAgainOf(p, layer);
  const int64_t norms = NormsKept(p, layer) * p.element_bytes() * p.shared_tokens() * p.model.hidden;
  const int64_t mlp = p.model.has_experts(layer) ? ExpertActivations(p)
                                                 : MlpActivations(p, p.tokens(), p.model.ffn / p.split.tp);
  // Masks of one byte after attention and the MLP.
  const int64_t masks = p.training.dropout ? 2 * p.shared_tokens() * p.model.hidden : 0;
  // Multi-token prediction has inputs and outputs of two more norms. Norms after attention and the MLP keep
  // their inputs.
  const int64_t posts = p.model.post_norm ? 2 * p.element_bytes() * p.shared_tokens() * p.model.hidden : 0;
  return norms * (layer >= p.model.layers ? 2 : 1) + posts + masks + AttentionActivations(p, layer) + mlp +
         AdapterActivations(p) - again.attention - again.mlp;
}

int64_t DeferredOfLayer(const StepPlan& p, int64_t layer) {
  const ModelSize& m = p.model;
  const int64_t hidden = p.element_bytes() * p.shared_tokens() * m.hidden;
  int64_t bytes = AttentionDeferred(p) + 2 * hidden;  // the input of the MLP, and the gradient of its output
  if (layer >= m.layers) bytes += 2 * hidden + p.element_bytes() * p.tokens() * m.hidden / p.split.tp;
  if (!m.has_experts(layer)) return bytes + MlpDeferred(p, p.tokens(), m.ffn / p.split.tp);
  const int64_t rows = p.shared_tokens() * m.top_k;
  bytes += 4 * p.shared_tokens() * m.experts;
  bytes += MlpDeferred(p, rows, m.expert_ffn) + 2 * p.element_bytes() * rows * m.hidden * p.split.etp;
  if (m.shared_ffn > 0) bytes += MlpDeferred(p, p.tokens(), m.shared_ffn / p.split.tp);
  return bytes;
}

namespace {

// For the weights that it updates, the host has fp32 copies of weights, gradients and two averages. The
// device keeps its fp32 weights (Megatron-Bridge's run: 8 bytes less for each weight).
void MoveAverages(const StepPlan& p, const Held& held, RankMemory* out) {
  if (p.training.offload.share == 0) return;
  const int64_t own = p.training.frozen() ? ShareOf(held.adapters, p.split.holders(false))
                                          : ShareOf(held.dense, p.split.holders(false)) +
                                                ShareOf(held.expert, p.split.holders(true));
  const int64_t moved = UpdatedByHost(p, own);
  out->optimizer -= 8 * moved;
  out->host += 16 * moved;
}

// Activations of a pass that stay on the device if those of the first layers are offloaded: the remaining
// ones, and the largest offloaded one while it is copied. This is the state at the end of the forward pass;
// before, there is less.
int64_t LeftOnDevice(const StepPlan& p, int64_t activations, RankMemory* out) {
  int64_t most = 0;
  for (int64_t i = 0; i < p.training.offload.layers; ++i) {
    const int64_t bytes = ActivationsOfLayer(p, i);
    most = std::max(most, bytes);
    activations -= bytes;
    out->host += bytes;
  }
  return activations + most;
}

}  // namespace

RankMemory MemoryOfStage(const StepPlan& p, int64_t stage) {
  if (p.tables.any()) return MemoryOfTables(p, stage);
  RankMemory out;
  const std::vector<Piece> pieces = PiecesOf(p, stage);
  const Held held = HeldBy(p, pieces);
  AddStates(p, held, &out);
  MoveAverages(p, held, &out);
  const std::vector<Pass> passes = PassesOf(p.split, p.micro_batches(), stage);
  out.in_flight = MostInFlight(passes);
  const int64_t together = p.training.recomputed_at_once();
  const int64_t input = p.element_bytes() * p.shared_tokens() * p.model.hidden;
  std::vector<Kept> kept;
  // again: of the layers that are recomputed together
  int64_t layer_bytes = 0, again = 0, temporaries = 0, head = 0;
  for (const Piece& piece : pieces) {
    Kept& of_piece = kept.emplace_back();
    for (int64_t layer = piece.first; layer < piece.first + piece.layers; ++layer) {
      const int64_t bytes = ActivationsOfLayer(p, layer);
      const int64_t index = layer - piece.first;
      const bool recomputed = p.Recomputes(layer);
      again = index % together == 0 ? 0 : again;
      if (recomputed) again += bytes;
      const MadeAgain modules = MadeAgainOf(p, layer);
      layer_bytes = std::max({layer_bytes, again, modules.attention, modules.mlp});
      temporaries = std::max(temporaries, LayerTemporaries(p, layer));
      const int64_t left = !recomputed ? bytes : index % together == 0 ? input : 0;
      of_piece.activations += left;
      of_piece.layer = std::max(of_piece.layer, left);
      of_piece.deferred += DeferredOfLayer(p, layer);
    }
    if (piece.head) head = (1 + p.model.mtp) * HeadBytes(p);
  }
  out.activations = MostKept(passes, kept);
  if (p.training.offload.activations) out.activations = LeftOnDevice(p, out.activations, &out);
  out.working += temporaries + FrameworkBuffers(p, held, pieces.front());
  out.working += layer_bytes;
  out.working += head;
  return out;
}

}  // namespace chakra::generate
