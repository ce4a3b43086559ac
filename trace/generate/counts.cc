#include "trace/generate/counts.h"

namespace chakra::generate {
namespace {

// The elements of a GEMM from `in` to `out` features.
int64_t Product(int64_t in, int64_t out, bool bias) { return in * out + (bias ? out : 0); }

int64_t Mlp(const ModelSize& m, int64_t ffn) {
  return Product(m.hidden, (m.gated ? 2 : 1) * ffn, m.bias) + Product(ffn, m.hidden, m.bias);
}

void CountAttention(const ModelSize& m, LayerParameters* p) {
  if (!m.latent()) {
    const int64_t q = m.query_width(), k = m.key_width();
    p->attention = Product(m.hidden, q + 2 * k, m.qkv_bias) + Product(q, m.hidden, m.bias);
    if (m.qk_norm) p->norms += m.QkNormWeights(q, k);
    if (m.sinks) p->attention += m.heads;
    return;
  }
  p->attention = Product(m.q_rank > 0 ? m.q_rank : m.hidden, m.query_width(), m.qkv_bias) +
                 m.kv_rank * m.heads * (m.nope_dim + m.v_dim) + Product(m.context_width(), m.hidden, m.bias);
  p->latent = m.hidden * (m.q_rank + m.kv_rank + m.rope_dim) + (m.q_rank > 0 ? m.NormWeights(m.q_rank) : 0) +
              m.NormWeights(m.kv_rank);
}

// Multiplications of one token in GEMMs: of the shared experts' MLPs, of a layer's MLPs, of latent
// attention's up projections, and of a whole layer.
double SharedProducts(const ModelSize& m) {
  return static_cast<double>(m.hidden * m.shared_ffn * (m.gated ? 3 : 2));
}

double MlpProducts(const ModelSize& m, int64_t layer) {
  const int64_t ffn = m.has_experts(layer) ? m.top_k * m.expert_ffn : m.ffn;
  const double own = static_cast<double>(m.hidden * ffn * (m.gated ? 3 : 2));
  return m.has_experts(layer) ? own + SharedProducts(m) : own;
}

double LatentUpProducts(const ModelSize& m) {
  const int64_t query = (m.q_rank > 0 ? m.q_rank : m.hidden) * m.query_width();
  return static_cast<double>(query + m.kv_rank * m.heads * (m.nope_dim + m.v_dim));
}

double LayerProducts(const ModelSize& m, int64_t layer) {
  ModelSize bare = m;
  bare.bias = bare.qkv_bias = bare.sinks = false;
  double sum = static_cast<double>(ParametersOfLayer(bare, layer).attention);
  if (m.latent()) sum += static_cast<double>(m.hidden * (m.q_rank + m.kv_rank + m.rope_dim));
  return sum + MlpProducts(m, layer);
}

// Multiplications of one token in the core of a layer's attention. A query with a window of w sees w keys,
// except the first w queries, which see half as many on average. Each chunk is a sequence of its own.
double CoreProducts(const ModelSize& m, int64_t layer, int64_t seq) {
  const double width = static_cast<double>(m.query_width() + m.context_width());
  if (!m.causal) return width * static_cast<double>(seq);
  const int64_t chunk = m.ChunkOf(layer, seq);
  if (chunk < seq) return width * 0.5 * static_cast<double>(chunk);
  const double window = static_cast<double>(m.WindowOf(layer, seq));
  return width * window * (1 - 0.5 * window / static_cast<double>(seq));
}

}  // namespace

LayerParameters ParametersOfLayer(const ModelSize& m, int64_t layer) {
  LayerParameters p;
  p.norms = ((m.pre_norm ? 1 : 0) + (m.mlp_norm() ? 1 : 0) + (m.post_norm ? 2 : 0)) * m.NormWeights(m.hidden);
  CountAttention(m, &p);
  if (!m.has_experts(layer)) {
    p.mlp = Mlp(m, m.ffn);
    return p;
  }
  p.router = Product(m.hidden, m.experts, m.bias);
  p.experts = m.experts * Mlp(m, m.expert_ffn);
  if (m.shared_ffn > 0) p.shared = Mlp(m, m.shared_ffn) + (m.shared_gate ? m.hidden : 0);
  return p;
}

ModelParameters CountParameters(const ModelSize& m) {
  ModelParameters out;
  if (m.image > 0) {
    out.embedding =
        Product(m.patch * m.patch * m.channels, m.hidden, true) + m.hidden;  // and the token of the class
  } else {
    out.embedding = m.vocab * m.hidden;
  }
  out.embedding +=
      (m.positions + m.token_types) * m.hidden + (m.embedding_norm ? m.NormWeights(m.hidden) : 0);
  if (m.image > 0) {
    out.head = Product(m.hidden, m.classes, true);
  } else if (!m.tied) {
    out.head = m.vocab * m.hidden;
  }
  if (m.head_bias) out.head += m.vocab;
  // BERT has a norm after the embedding, in place of one after the last layer.
  out.rest = m.NormWeights(m.hidden) + (m.pooler ? Product(m.hidden, m.hidden, true) : 0);
  out.total = out.embedding + out.head + out.rest;
  out.active = out.total;
  for (int64_t i = 0; i < m.layers; ++i) {
    const LayerParameters p = ParametersOfLayer(m, i);
    out.total += p.total();
    out.active += p.total() - p.experts + (m.experts > 0 ? p.experts / m.experts * m.top_k : 0);
  }
  return out;
}

double TrainingFlopsPerToken(const ModelSize& m, int64_t seq) {
  double sum = 0;
  for (int64_t i = 0; i < m.layers + m.mtp; ++i) sum += LayerProducts(m, i) + CoreProducts(m, i, seq);
  if (m.image > 0) {  // the head is applied to one token of each image
    sum += static_cast<double>(m.patch * m.patch * m.channels * m.hidden);
    sum += static_cast<double>(m.classes * m.hidden) / static_cast<double>(seq);
  } else {
    sum += static_cast<double>((1 + m.mtp) * m.vocab * m.hidden);
  }
  return 6 * sum;
}

double TrainingFlopsPerToken(const StepPlan& plan) {
  if (plan.tables.any()) return TrainingFlopsPerSample(plan.tables);
  const ModelSize& m = plan.model;
  const int64_t seq = plan.training.seq;
  const double all = TrainingFlopsPerToken(m, seq);
  if (!plan.training.frozen()) return all;
  double cores = 0;
  for (int64_t i = 0; i < m.layers; ++i) cores += 6 * CoreProducts(m, i, seq);
  return cores + (all - cores) * 2 / 3 + 6 * static_cast<double>(TrainedParameters(plan));
}

double RecomputedFlopsPerToken(const StepPlan& plan) {
  const ModelSize& m = plan.model;
  const TrainingPlan& t = plan.training;
  double sum = 0;
  for (int64_t i = 0; i < m.layers + m.mtp; ++i) {
    if (t.MakesAgain(kCoreAttention) || plan.Recomputes(i)) sum += CoreProducts(m, i, t.seq);
    if (plan.Recomputes(i)) sum += LayerProducts(m, i);
    if (t.MakesAgain(kLatentUp)) sum += LatentUpProducts(m);
    const bool mlp = t.MakesAgain(m.has_experts(i) ? kMoe : kDenseMlp);
    if (mlp) sum += MlpProducts(m, i);
    if (t.MakesAgain(kSharedExperts) && m.has_experts(i)) sum += SharedProducts(m);
  }
  return 2 * sum;
}

}  // namespace chakra::generate
