// The core of attention, whose tokens the ranks of cp share.
#include <algorithm>

#include "trace/generate/layers.h"

namespace chakra::generate {

// The part of attention that a rank of cp computes at once. `ring_step` counts the blocks of keys that arrive
// over the ring. Each rank has an early and a late part of the sequence, so that all ranks have equal work in
// spite of the causal mask: of a block from another rank, one half of the queries or of the keys remains.
Operators::Core LayerBuilder::CoreOf(int64_t ring_step) const {
  const LayerSpec& spec = block_->spec;
  const ModelSize& m = plan_.model;
  const Split& s = plan_.split;
  Operators::Core c;
  c.batch = plan_.training.micro_batch;
  c.qk_dim = m.latent() ? m.nope_dim + m.rope_dim : m.head_dim;
  c.v_dim = m.latent() ? m.v_dim : m.head_dim;
  c.heads = m.heads / s.tp;
  c.kv_heads = m.latent() ? c.heads : std::max<int64_t>(1, m.kv_heads / s.tp);
  c.queries = c.keys = plan_.training.seq / s.cp;
  if (m.sparse()) {  // the heads share one key of latent features
    c.qk_dim = m.kv_rank + m.rope_dim;
    c.v_dim = m.kv_rank;
    c.kv_heads = 1;
    if (m.index_topk < plan_.training.seq) c.window = m.index_topk;
  }
  c.causal = m.causal;
  c.capped = m.score_cap;
  const int64_t seq = plan_.training.seq;
  if (spec.window > 0 && spec.window < seq) c.window = spec.window;
  if (spec.chunk < seq) c.chunk = spec.chunk;
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
