// The attention of a layer.
#include <algorithm>

#include "trace/generate/layers.h"

namespace chakra::generate {

// One GEMM for queries, keys and values together, then norms and positions.
NodeList LayerBuilder::Queries(NodeList at) {
  const ModelSize& m = plan_.model;
  at = Column(m.hidden, widths_.query + widths_.key + widths_.value, "attention.qkv", std::move(at));
  const int64_t turned = widths_.query + widths_.key;
  if (m.has_qk_norm(spot_.layer)) at = QkNorm(turned, false, at);
  if (m.has_rope(spot_.layer)) at = Run(ops_.Rotary(tokens_ * turned, false), "attention.rope", at);
  return at;
}

// Norms of the `turned` features of queries and keys: head by head, or of all features of a token.
NodeList LayerBuilder::QkNorm(int64_t turned, bool backward, const NodeList& at) {
  const ModelSize& m = plan_.model;
  const int64_t width = m.qk_norm_wide ? turned : m.head_dim, rows = tokens_ * turned / width;
  return Run(backward ? ops_.NormBackward(rows, width, m.layer_norm) : ops_.Norm(rows, width, m.layer_norm),
             "attention.qk_norm", at);
}

NodeList LayerBuilder::QueriesBackward(NodeList at) {
  const ModelSize& m = plan_.model;
  const int64_t turned = widths_.query + widths_.key, wide = turned + widths_.value;
  if (m.has_rope(spot_.layer)) at = Run(ops_.Rotary(tokens_ * turned, true), "attention.rope", at);
  if (m.has_qk_norm(spot_.layer)) {
    at = QkNorm(turned, true, at);
    if (!m.qk_norm_bare) AddGradient(m.QkNormWeights(widths_.query, widths_.key), at);
  }
  if (m.qkv_bias) AddBiasGradient(tokens_, wide, "attention.qkv", at);
  at = Cast(tokens_, wide, "attention.qkv", at);
  return ColumnBackward(m.hidden, wide, "attention.qkv", at);
}

// Down projections of each rank's own tokens. Their outputs are gathered and projected up (DeepSeek-V2,
// section 2.1.2).
NodeList LayerBuilder::LatentQueries(NodeList at) {
  const ModelSize& m = plan_.model;
  const int64_t down = m.q_rank + m.kv_rank + m.rope_dim;
  const NodeList input = Cast(shared_tokens_, m.hidden, "attention.down", at);
  at = AdaptDown(input, Run(ops_.Product(shared_tokens_, down, m.hidden), "attention.down", input));
  return LatentUp(
      Run(ops_.Norm(shared_tokens_, m.q_rank + m.kv_rank, m.layer_norm), "attention.latent_norm", at), input);
}

NodeList LayerBuilder::LatentUp(NodeList at, const NodeList& input) {
  const ModelSize& m = plan_.model;
  const int64_t down = m.q_rank + m.kv_rank + m.rope_dim;
  at = GatherInputs(down, "attention.down", CastShared(down, "attention.down", at, true));
  const auto project = [&](int64_t in, int64_t out, const char* part, const NodeList& from) {
    return AdaptColumn(in, out, part, from, Run(ops_.Product(tokens_, out, in), part, from));
  };
  if (m.q_rank > 0) {
    at = project(m.q_rank, widths_.query, "attention.q_up", at);
  } else {
    const NodeList whole = GatherInputs(m.hidden, "attention.q_up", input);
    at = project(m.hidden, widths_.query, "attention.q_up", Join(at, whole));
  }
  const int64_t up = m.heads / plan_.split.tp * (m.nope_dim + m.v_dim);
  at = project(m.kv_rank, up, "attention.kv_up", at);
  const int64_t turned = (m.heads / plan_.split.tp + 1) * m.rope_dim;
  return Run(ops_.Rotary(tokens_ * turned, false), "attention.rope", at);
}

NodeList LayerBuilder::LatentQueriesBackward(NodeList at) {
  const ModelSize& m = plan_.model;
  const int64_t down = m.q_rank + m.kv_rank + m.rope_dim;
  const int64_t turned = (m.heads / plan_.split.tp + 1) * m.rope_dim;
  at = Run(ops_.Rotary(tokens_ * turned, true), "attention.rope", at);
  const int64_t up = m.heads / plan_.split.tp * (m.nope_dim + m.v_dim);
  const auto project = [&](int64_t in, int64_t out, const char* part) {
    const NodeList narrow = Cast(tokens_, out, part, at);
    if (frozen()) return FrozenUpBackward(in, out, part, narrow);
    const NodeList gradient = Run(ops_.Product(tokens_, in, out), part, narrow);
    ForWeight([=, this] { AddGradient(in * out, Run(ops_.WeightProduct(out, in, tokens_), part, narrow)); });
    return gradient;
  };
  const NodeList keys = project(m.kv_rank, up, "attention.kv_up");
  NodeList queries;
  if (m.q_rank > 0) {
    queries = project(m.q_rank, widths_.query, "attention.q_up");
  } else {
    queries = ColumnBackward(m.hidden, widths_.query, "attention.q_up",
                             Cast(tokens_, widths_.query, "attention.q_up", at));
  }
  at = ReduceTokens(down, "attention.down", Join(keys, queries));
  at =
      Run(ops_.NormBackward(shared_tokens_, m.q_rank + m.kv_rank, m.layer_norm), "attention.latent_norm", at);
  AddGradient(m.NormWeights(m.q_rank + m.kv_rank), at);
  at = Cast(shared_tokens_, down, "attention.down", at);
  return frozen() ? FrozenDownBackward(down, "attention.down", at)
                  : WholeBackward(m.hidden, down, "attention.down", at);
}

NodeList LayerBuilder::Attention(NodeList at) {
  const ModelSize& m = plan_.model;
  if (m.pre_norm) at = Run(ops_.Norm(shared_tokens_, m.hidden, m.layer_norm), "attention.norm", at);
  at = m.latent() ? LatentQueries(std::move(at)) : Queries(std::move(at));
  at = Cast(tokens_, widths_.context, "attention.out", Core(std::move(at)));
  return Row(widths_.context, m.hidden, "attention.out", at);
}

NodeList LayerBuilder::AttentionBackward(NodeList at) {
  const ModelSize& m = plan_.model;
  if (m.mlp_norm()) {  // a norm that the MLP shares is already computed
    at = Again(kLayerNorms, std::move(at), [&](const NodeList& from) {
      return Run(ops_.Norm(shared_tokens_, m.hidden, m.layer_norm), "attention.norm", from);
    });
  }
  if (m.bias) AddBiasGradient(shared_tokens_, m.hidden, "attention.out", at);
  at = RowBackward(widths_.context, m.hidden, "attention.out", at);
  at = Again(kLatentUp, std::move(at), [this](const NodeList& from) { return LatentUp(from, from); });
  at = Again(kCoreAttention, std::move(at), [this](NodeList from) { return Core(std::move(from)); });
  at = CoreBackward(std::move(at));
  if (m.sinks) AddGradient(m.heads / plan_.split.tp, at);
  at = m.latent() ? LatentQueriesBackward(std::move(at)) : QueriesBackward(std::move(at));
  return m.pre_norm ? NormBackward(shared_tokens_, m.hidden, "attention.norm", at) : at;
}

// The part of attention that a rank of cp computes at once. `ring_step` counts the blocks of keys that arrive
// over the ring. Each rank has an early and a late part of the sequence, so that all ranks have equal work in
// spite of the causal mask: of a block from another rank, one half of the queries or of the keys remains.
Operators::Core LayerBuilder::CoreOf(int64_t ring_step) const {
  const ModelSize& m = plan_.model;
  const Split& s = plan_.split;
  Operators::Core c;
  c.batch = plan_.training.micro_batch;
  c.qk_dim = m.latent() ? m.nope_dim + m.rope_dim : m.head_dim;
  c.v_dim = m.latent() ? m.v_dim : m.head_dim;
  c.heads = m.heads / s.tp;
  c.kv_heads = m.latent() ? c.heads : std::max<int64_t>(1, m.kv_heads / s.tp);
  c.queries = c.keys = plan_.training.seq / s.cp;
  c.causal = m.causal;
  c.capped = m.score_cap;
  const int64_t seq = plan_.training.seq, window = spot_.layer < 0 ? seq : m.WindowOf(spot_.layer, seq);
  if (window < seq) c.window = window;
  const int64_t chunk = spot_.layer < 0 ? seq : m.ChunkOf(spot_.layer, seq);
  if (chunk < seq) c.chunk = chunk;
  if (s.cp == 1) return c;
  if (s.cp_kind == proto::Parallel::ULYSSES) {
    c.queries = c.keys = plan_.training.seq;
    c.heads /= s.cp;
    c.kv_heads /= s.cp;
  } else if (s.cp_kind == proto::Parallel::ALL_GATHER) {
    c.keys = m.causal ? plan_.training.seq / 2 : plan_.training.seq;  // keys that a query sees, on average
    c.causal = false;
  } else if (ring_step > 0) {
    if (m.causal) c.keys /= 2;
    c.causal = false;
  }
  return c;
}

// The exchange from the tokens of a rank with all heads to all tokens with the heads of a rank; or back.
NodeList LayerBuilder::Exchange(const char* part, int64_t width, const NodeList& at) {
  spot_.part = part;
  return {graph_->Collective(CollectiveType::kAllToAll, GroupKind::kContext, Stream::kContext,
                             tokens_ * width * ops_.element_bytes(), spot_, at)};
}

NodeList LayerBuilder::Core(NodeList at) {
  const Split& s = plan_.split;
  if (s.cp > 1 && s.cp_kind == proto::Parallel::RING) return Ring(at);
  if (s.cp > 1 && s.cp_kind == proto::Parallel::ULYSSES) {
    at = Exchange("attention.exchange", widths_.query + widths_.key + widths_.value, at);
  } else if (s.cp > 1) {
    spot_.part = "attention.keys";
    at = {graph_->Collective(CollectiveType::kAllGather, GroupKind::kContext, Stream::kContext, KeyBytes(),
                             spot_, at)};
  }
  const Operators::Core core = CoreOf(0);
  at = plan_.training.attention == proto::Training::MATH ? RunAll(ops_.Math(core), "attention.core", at)
                                                         : Run(ops_.Flash(core), "attention.core", at);
  if (s.cp > 1 && s.cp_kind == proto::Parallel::ULYSSES)
    at = Exchange("attention.exchange", widths_.context, at);
  return at;
}

NodeList LayerBuilder::CoreBackward(NodeList at) {
  const Split& s = plan_.split;
  if (s.cp > 1 && s.cp_kind == proto::Parallel::RING) return RingBackward(at);
  if (s.cp > 1 && s.cp_kind == proto::Parallel::ULYSSES)
    at = Exchange("attention.exchange", widths_.context, at);
  const Operators::Core core = CoreOf(0);
  if (plan_.training.attention == proto::Training::MATH) {
    at = RunAll(ops_.MathBackward(core), "attention.core", at);
  } else {
    at = Run(ops_.FlashBackward(core), "attention.core", at);
    at = RunAll(ops_.Flash1Rest(core), "attention.core", at);
  }
  if (s.cp > 1 && s.cp_kind == proto::Parallel::ULYSSES) {
    at = Exchange("attention.exchange", widths_.query + widths_.key + widths_.value, at);
  } else if (s.cp > 1) {
    spot_.part = "attention.keys";
    const int64_t all = KeyBytes() * s.cp;
    at = {graph_->Collective(CollectiveType::kReduceScatter, GroupKind::kContext, Stream::kContext, all,
                             spot_, at)};
  }
  return at;
}

// One step around the ring: the data that is complete at `at` goes to the next rank, and the previous rank's
// data arrives.
NodeList LayerBuilder::RingStep(int64_t bytes, const char* part, const NodeList& at) {
  spot_.part = part;
  const int32_t tag = ring_tag_++;
  graph_->Message(NodeType::kSend, PeerKind::kNextContext, 0, Stream::kSendRing, tag, bytes, spot_, at);
  return {graph_->Message(NodeType::kRecv, PeerKind::kPreviousContext, 0, Stream::kReceiveRing, tag, bytes,
                          spot_, at)};
}

// Liu et al., "Ring Attention", 2023: keys and values pass to the next rank while the current ones are used.
NodeList LayerBuilder::Ring(const NodeList& at) {
  const int64_t bytes = KeyBytes();
  NodeList keys = at, done;
  for (int64_t i = 0; i < plan_.split.cp; ++i) {
    NodeList next;
    if (i + 1 < plan_.split.cp) next = RingStep(bytes, "attention.keys", keys);
    done = Run(ops_.Flash(CoreOf(i)), "attention.core", Join(keys, done));
    keys = next;
  }
  return done;
}

// Keys and values pass around the ring again, followed by their gradients.
NodeList LayerBuilder::RingBackward(const NodeList& at) {
  const int64_t bytes = KeyBytes();
  NodeList keys = at, done = at, gradients;
  for (int64_t i = 0; i < plan_.split.cp; ++i) {
    NodeList next;
    if (i + 1 < plan_.split.cp) next = RingStep(bytes, "attention.keys", keys);
    done = Run(ops_.FlashBackward(CoreOf(i)), "attention.core", Join(keys, done));
    if (i + 1 < plan_.split.cp) gradients = RingStep(bytes, "attention.key_gradients", Join(done, gradients));
    keys = next;
  }
  return Join(done, gradients);
}

}  // namespace chakra::generate
