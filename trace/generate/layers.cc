#include "trace/generate/layers.h"

#include <algorithm>

#include "trace/generate/counts.h"

namespace chakra::generate {
namespace {

constexpr int32_t kFirstRingTag = 1 << 28;  // above the tags of the pipeline

}  // namespace

WeightShare ShareOfLayer(const StepPlan& plan, int64_t layer) {
  const ModelSize& m = plan.model;
  const Split& s = plan.split;
  const LayerParameters p = ParametersOfLayer(m, layer);
  WeightShare out;
  out.replicated = p.norms + p.latent + p.router + (p.shared > 0 && m.shared_gate ? m.hidden : 0);
  // Biases of GEMMs that are split by rows are on every rank.
  const bool mlp = p.mlp > 0 || p.shared > 0;
  const int64_t biases = m.bias ? (mlp ? 2 : 1) * m.hidden : 0;
  const int64_t gate = p.shared > 0 && m.shared_gate ? m.hidden : 0;
  out.dense = (p.attention + p.mlp + p.shared - gate - biases) / s.tp + biases + out.replicated;
  if (!m.latent() && m.kv_heads < s.tp)  // each key head is on several ranks
    out.dense += 2 * m.hidden * m.head_dim * (s.tp - m.kv_heads) / s.tp;
  out.expert = p.experts / (s.ep * s.etp);
  if (layer >= m.layers) {  // of multi-token prediction: norms, and a GEMM that is split by columns
    const int64_t norms = 3 * m.NormWeights(m.hidden);
    out.dense += norms + 2 * m.hidden * m.hidden / s.tp;
    out.replicated += norms;
  }
  return out;
}

int64_t ShareOfEmbedding(const StepPlan& plan) {
  const ModelSize& m = plan.model;
  const int64_t all = CountParameters(m).embedding;
  if (m.image > 0) return all;
  return plan.padded_outputs() / plan.split.tp * m.hidden + (m.positions + m.token_types) * m.hidden +
         (m.embedding_norm ? m.NormWeights(m.hidden) : 0);
}

int64_t CopyOfEmbedding(const StepPlan& plan) {
  return plan.padded_outputs() / plan.split.tp * plan.model.hidden;
}

int64_t ShareOfHead(const StepPlan& plan) {
  const ModelSize& m = plan.model;
  const int64_t norm = CountParameters(m).rest;
  const int64_t rows = plan.padded_outputs() / plan.split.tp;
  const int64_t bias = m.image > 0 || m.head_bias ? rows : 0;
  return norm + bias + (m.tied && plan.split.ends_together() ? 0 : rows * m.hidden);
}

LayerBuilder::LayerBuilder(const StepPlan& plan, StageGraph* graph)
    : plan_(plan),
      graph_(graph),
      ops_(plan.training),
      tokens_(plan.tokens()),
      shared_tokens_(plan.shared_tokens()),
      ring_tag_(kFirstRingTag) {
  const ModelSize& m = plan.model;
  const int64_t tp = plan.split.tp;
  widths_.query = m.query_width() / tp;
  const int64_t kv_heads = std::max<int64_t>(1, m.kv_heads / tp);
  widths_.key = m.latent() ? m.key_width() / tp : kv_heads * m.head_dim;
  widths_.value = m.latent() ? m.value_width() / tp : kv_heads * m.head_dim;
  widths_.context = m.context_width() / tp;
  widths_.ffn = m.ffn / tp;
  widths_.shared = m.shared_ffn / tp;
  widths_.outputs = plan.padded_outputs() / tp;
}

NodeList LayerBuilder::Run(const Operator& op, const char* part, const NodeList& at) {
  spot_.part = part;
  return {graph_->Compute(op, spot_, at)};
}

NodeList LayerBuilder::RunAll(const std::vector<Operator>& ops, const char* part, NodeList at) {
  for (const Operator& op : ops) at = Run(op, part, at);
  return at;
}

NodeList LayerBuilder::Tensor(CollectiveType type, int64_t bytes, const char* part, const NodeList& at) {
  if (plan_.split.tp == 1) return at;
  spot_.part = part;
  return {graph_->Collective(type, GroupKind::kTensor, Stream::kTensor, bytes, spot_, at)};
}

NodeList LayerBuilder::GatherTokens(int64_t width, const char* part, const NodeList& at) {
  if (!plan_.split.sp) return at;
  return Tensor(CollectiveType::kAllGather, shared_tokens_ * width * ops_.element_bytes(), part, at);
}

// With block scales, the data that was cast along rows and along columns are gathered separately:
// `directions` of them.
NodeList LayerBuilder::GatherInputs(int64_t width, const char* part, const NodeList& at, int64_t directions) {
  if (!plan_.training.narrow()) return GatherTokens(width, part, at);
  if (!plan_.split.sp) return at;
  if (!plan_.training.block_scales) directions = 1;
  return Tensor(CollectiveType::kAllGather, directions * shared_tokens_ * width, part, at);
}

NodeList LayerBuilder::ReduceTokens(int64_t width, const char* part, const NodeList& at) {
  return Tensor(plan_.split.sp ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce,
                tokens_ * width * ops_.element_bytes(), part, at);
}

NodeList LayerBuilder::Column(int64_t in, int64_t out, const char* part, NodeList at) {
  at = GatherInputs(in, part, CastShared(in, part, at, plan_.model.pre_norm));
  const NodeList done = Run(ops_.Product(tokens_, out, in), part, at);
  return AdaptColumn(in, out, part, at, done);
}

// With sequence parallelism, the input is gathered again for the weight's gradient. With overlap_tensor this
// overlaps with the GEMM of the input's gradient, and the reduction of that gradient overlaps with the GEMM
// of the weight's.
NodeList LayerBuilder::ColumnBackward(int64_t in, int64_t out, const char* part, const NodeList& at) {
  if (frozen()) return FrozenColumnBackward(in, out, part, at);
  const bool now = put_off_ == nullptr;
  const NodeList input = now ? GatherInputs(in, part, at) : NodeList();
  const auto weight = [=, this](const NodeList& gathered) {
    const NodeList ready = ForWeightProduct(in, part, Join(gathered, at), plan_.model.pre_norm);
    const NodeList done = Run(ops_.WeightProduct(out, in, tokens_), part, Join(ready, at));
    AddGradient(in * out, done);
    return done;
  };
  if (now && !plan_.split.overlap_tensor) {
    const NodeList product = Run(ops_.Product(tokens_, in, out), part, Join(input, at));
    return ReduceTokens(in, part, Join(product, weight(input)));
  }
  const NodeList gradient = ReduceTokens(in, part, Run(ops_.Product(tokens_, in, out), part, at));
  ForWeight([=, this] { weight(now ? input : GatherInputs(in, part, at)); });
  return gradient;
}

NodeList LayerBuilder::Cast(int64_t rows, int64_t width, const char* part, const NodeList& at) {
  if (!plan_.training.narrow()) return at;
  const NodeList from = plan_.training.looks_before_cast ? Run(ops_.Greatest(rows, width), part, at) : at;
  return Run(ops_.CastTranspose(rows, width), part, from);
}

NodeList LayerBuilder::CastShared(int64_t width, const char* part, const NodeList& at, bool behind) {
  const bool looks = plan_.training.looks_before_cast;
  if (!plan_.training.narrow() || (behind && !looks)) return at;
  if (!plan_.split.sp || plan_.training.block_scales) return Cast(shared_tokens_, width, part, at);
  const NodeList from =
      looks ? Tensor(CollectiveType::kAllReduce, 4, part, Run(ops_.Greatest(shared_tokens_, width), part, at))
            : at;
  return Run(ops_.Cast(shared_tokens_, width), part, from);
}

NodeList LayerBuilder::ForWeightProduct(int64_t width, const char* part, const NodeList& at, bool behind) {
  const TrainingPlan& t = plan_.training;
  const bool later = plan_.split.sp || (behind && !t.looks_before_cast);
  return t.narrow() && !t.block_scales && later ? Run(ops_.Transpose(tokens_, width), part, at) : at;
}

NodeList LayerBuilder::Row(int64_t in, int64_t out, const char* part, const NodeList& at) {
  const NodeList done = ReduceTokens(out, part, Run(ops_.Product(tokens_, out, in), part, at));
  return AdaptRow(in, out, part, at, done);
}

NodeList LayerBuilder::RowBackward(int64_t in, int64_t out, const char* part, const NodeList& at) {
  if (frozen()) return FrozenRowBackward(in, out, part, at);
  const NodeList whole = GatherInputs(out, part, CastShared(out, part, at, false), 2);
  const NodeList gradient = Run(ops_.Product(tokens_, in, out), part, whole);
  ForWeight([=, this] {
    const NodeList ready = ForWeightProduct(out, part, whole, false);
    AddGradient(in * out, Run(ops_.WeightProduct(out, in, tokens_), part, ready));
  });
  return gradient;
}

NodeList LayerBuilder::WholeBackward(int64_t in, int64_t out, const char* part, const NodeList& at) {
  const NodeList gradient = Run(ops_.Product(shared_tokens_, in, out), part, at);
  ForWeight([=, this] { AddGradient(in * out, Run(ops_.WeightProduct(out, in, shared_tokens_), part, at)); });
  return gradient;
}

NodeList LayerBuilder::NormBackward(int64_t rows, int64_t width, const char* part, const NodeList& at) {
  const NodeList done = Run(ops_.NormBackward(rows, width, plan_.model.layer_norm), part, at);
  AddGradient(plan_.model.NormWeights(width), done);
  return done;
}

void LayerBuilder::AddGradient(int64_t elements, const NodeList& node, bool expert) {
  if (frozen()) return;
  gradients_->push_back({elements, expert, node.front()});
}

void LayerBuilder::Finish(PutOff* put_off) {
  gradients_ = &put_off->gradients;
  const size_t first = gradients_->size();
  for (const std::function<void()>& work : put_off->work) work();
  if (gradients_->size() > first) Accumulate(first, {gradients_->back().node});
  put_off->work.clear();
}

void LayerBuilder::AddBiasGradient(int64_t rows, int64_t width, const char* part, const NodeList& at) {
  if (!frozen()) AddGradient(width, Run(ops_.SumRows(rows, width), part, at));
}

NodeList LayerBuilder::Forward(int64_t layer, int64_t micro_batch, const char* phase, NodeList at) {
  spot_ = {static_cast<int32_t>(micro_batch), static_cast<int32_t>(layer), phase, ""};
  const int64_t h = plan_.model.hidden;
  graph_->HostWorks(graph_->host.layer_ns, spot_);
  at = Attention(std::move(at));
  if (plan_.model.post_norm)
    at = Run(ops_.Norm(shared_tokens_, h, plan_.model.layer_norm), "attention.post_norm", at);
  at = Run(ops_.AddResidual(shared_tokens_, h), "attention.add", at);
  if (plan_.model.mlp_norm()) at = Run(ops_.Norm(shared_tokens_, h, plan_.model.layer_norm), "mlp.norm", at);
  at = plan_.model.has_experts(layer) ? Experts(at) : Mlp(widths_.ffn, "mlp.up", "mlp.down", at);
  if (plan_.model.post_norm)
    at = Run(ops_.Norm(shared_tokens_, h, plan_.model.layer_norm), "mlp.post_norm", at);
  return Run(ops_.AddResidual(shared_tokens_, h), "mlp.add", at);
}

NodeList LayerBuilder::Backward(int64_t layer, int64_t micro_batch, NodeList at,
                                std::vector<Gradient>* gradients, bool recomputed) {
  gradients_ = gradients;
  if (!recomputed && plan_.Recomputes(layer)) {
    // Inferred from vTrain's rows of one node, where host and device take about equally long: at that time
    // the host was not ahead of the device when it recomputed a layer.
    if (plan_.training.unfused()) graph_->HostWaits(at);
    at = Forward(layer, micro_batch, "recompute", at);
  }
  spot_ = {static_cast<int32_t>(micro_batch), static_cast<int32_t>(layer), "backward", ""};
  const int64_t h = plan_.model.hidden;
  const size_t first = gradients->size();
  if (plan_.training.dropout) at = Run(ops_.DropoutBackward(shared_tokens_, h), "mlp.add", at);
  if (plan_.model.post_norm) at = NormBackward(shared_tokens_, h, "mlp.post_norm", at);
  at = Again(kLayerNorms, std::move(at), [=, this](const NodeList& from) {
    return Run(ops_.Norm(shared_tokens_, h, plan_.model.layer_norm),
               plan_.model.mlp_norm() ? "mlp.norm" : "attention.norm", from);
  });
  if (plan_.model.has_experts(layer)) {
    at = Again(kMoe, std::move(at), [this](NodeList from) { return Experts(std::move(from)); });
    at = ExpertsBackward(at);
  } else {
    at = Again(kDenseMlp, std::move(at),
               [this](NodeList from) { return Mlp(widths_.ffn, "mlp.up", "mlp.down", std::move(from)); });
    at = MlpBackward(widths_.ffn, "mlp.up", "mlp.down", at);
  }
  if (plan_.model.mlp_norm()) at = NormBackward(shared_tokens_, h, "mlp.norm", at);
  at = Run(ops_.Add(shared_tokens_, h), "mlp.add", at);
  if (plan_.training.dropout) at = Run(ops_.DropoutBackward(shared_tokens_, h), "attention.add", at);
  if (plan_.model.post_norm) at = NormBackward(shared_tokens_, h, "attention.post_norm", at);
  at = AttentionBackward(at);
  at = Run(ops_.Add(shared_tokens_, h), "attention.add", at);
  Accumulate(first, at);
  return at;
}

// Adds the gradients from index `first` on to those of earlier micro-batches, if the GEMMs do not do this
// themselves.
void LayerBuilder::Accumulate(size_t first, const NodeList& at) {
  const proto::Training::Framework framework = plan_.training.framework;
  const bool alone = framework == proto::Training::DDP && plan_.micro_batches() == 1;
  if (plan_.training.accumulates() || framework == proto::Training::FSDP || alone) return;
  int64_t elements = 0;
  for (size_t i = first; i < gradients_->size(); ++i) elements += (*gradients_)[i].elements;
  if (elements == 0) return;
  const NodeList done =
      Run(ops_.Accumulate(elements, static_cast<int>(gradients_->size() - first)), "accumulate", at);
  for (size_t i = first; i < gradients_->size(); ++i) (*gradients_)[i].node = done.front();
}

Operator LayerBuilder::Activation(int64_t rows, int64_t ffn, bool backward) const {
  return ops_.Activation(rows, ffn, plan_.model.gated, backward);
}

NodeList LayerBuilder::Mlp(int64_t ffn, const char* up, const char* down, NodeList at) {
  const int64_t h = plan_.model.hidden;
  at = Column(h, (plan_.model.gated ? 2 : 1) * ffn, up, std::move(at));
  at = Cast(tokens_, ffn, down, Run(Activation(tokens_, ffn, false), "mlp.activation", at));
  return Row(ffn, h, down, at);
}

NodeList LayerBuilder::MlpBackward(int64_t ffn, const char* up, const char* down, NodeList at) {
  const int64_t h = plan_.model.hidden;
  at = RowBackward(ffn, h, down, at);
  if (plan_.model.bias) AddBiasGradient(shared_tokens_, h, down, at);
  at = Run(Activation(tokens_, ffn, true), "mlp.activation", at);
  const int64_t wide = (plan_.model.gated ? 2 : 1) * ffn;
  if (plan_.model.bias) AddBiasGradient(tokens_, wide, up, at);
  return ColumnBackward(h, wide, up, Cast(tokens_, wide, up, at));
}

NodeList LayerBuilder::Embed(int64_t micro_batch, NodeList at) {
  spot_ = {static_cast<int32_t>(micro_batch), -1, "forward", ""};
  const ModelSize& m = plan_.model;
  if (m.image > 0) {
    at = Run(ops_.PlainProduct(tokens_, m.hidden, m.patch * m.patch * m.channels), "embedding", at);
  } else {
    at = Run(ops_.Lookup(widths_.outputs, m.hidden, tokens_), "embedding", at);
    at = ReduceTokens(m.hidden, "embedding", at);
  }
  if (m.positions + m.token_types > 0) at = Run(ops_.Add(shared_tokens_, m.hidden), "positions", at);
  if (m.embedding_norm) at = Run(ops_.Norm(shared_tokens_, m.hidden, m.layer_norm), "embedding.norm", at);
  if (plan_.training.dropout) at = Run(ops_.Dropout(shared_tokens_, m.hidden), "embedding", at);
  return at;
}

void LayerBuilder::EmbedBackward(int64_t micro_batch, const NodeList& at, std::vector<Gradient>* gradients) {
  if (frozen()) return;
  gradients_ = gradients;
  spot_ = {static_cast<int32_t>(micro_batch), -1, "backward", ""};
  const ModelSize& m = plan_.model;
  const size_t first = gradients->size();
  NodeList whole = at;
  if (m.positions + m.token_types > 0) {
    AddGradient((m.positions + m.token_types) * m.hidden,
                Run(ops_.LookupBackward(m.positions, m.hidden, shared_tokens_), "positions", at));
  }
  if (m.image > 0) {
    const int64_t pixels = m.patch * m.patch * m.channels;
    AddGradient(pixels * m.hidden + 2 * m.hidden,
                Run(ops_.PlainWeightProduct(m.hidden, pixels, tokens_), "embedding", whole));
    Accumulate(first, at);
    return;
  }
  if (plan_.training.dropout) whole = Run(ops_.DropoutBackward(shared_tokens_, m.hidden), "embedding", at);
  if (m.embedding_norm) whole = NormBackward(shared_tokens_, m.hidden, "embedding.norm", whole);
  whole = GatherTokens(m.hidden, "embedding", whole);
  const NodeList done = Run(ops_.LookupBackward(widths_.outputs, m.hidden, tokens_), "embedding", whole);
  AddGradient(widths_.outputs * m.hidden, done);
  Accumulate(first, done);
}

NodeList LayerBuilder::Head(int64_t micro_batch, NodeList at) {
  spot_ = {static_cast<int32_t>(micro_batch), -1, "forward", ""};
  const ModelSize& m = plan_.model;
  at = Run(ops_.Norm(shared_tokens_, m.hidden, m.layer_norm), "head.norm", at);
  if (m.pooler) at = Run(ops_.PlainProduct(plan_.training.micro_batch, m.hidden, m.hidden), "pooler", at);
  if (m.image > 0) {
    at = Run(ops_.PlainProduct(plan_.training.micro_batch, widths_.outputs, m.hidden), "head", at);
    return RunAll(ops_.Loss(plan_.training.micro_batch, widths_.outputs), "loss", at);
  }
  at = GatherTokens(m.hidden, "head", at);
  at = Run(ops_.PlainProduct(tokens_, widths_.outputs, m.hidden), "head", at);
  if (m.logit_cap) at = Run(ops_.Cap(tokens_, widths_.outputs, false), "head.cap", at);
  // The vocabulary is split, so the maximum logit, the sum of exponentials and the target's logit are
  // reduced.
  for (int i = 0; i < 3; ++i) at = Tensor(CollectiveType::kAllReduce, 4 * tokens_, "loss", at);
  return RunAll(ops_.Loss(tokens_, widths_.outputs), "loss", at);
}

NodeList LayerBuilder::HeadBackward(int64_t micro_batch, NodeList at, std::vector<Gradient>* gradients,
                                    bool counts) {
  gradients_ = gradients;
  spot_ = {static_cast<int32_t>(micro_batch), -1, "backward", ""};
  const ModelSize& m = plan_.model;
  const int64_t rows = m.image > 0 ? plan_.training.micro_batch : tokens_;
  const size_t first = gradients->size();
  at = RunAll(ops_.LossBackward(rows, widths_.outputs), "loss", at);
  if (m.logit_cap) at = Run(ops_.Cap(rows, widths_.outputs, true), "head.cap", at);
  if (m.pooler) {
    at = Run(ops_.PlainProduct(m.hidden, m.hidden, plan_.training.micro_batch), "pooler", at);
    AddGradient(m.hidden * (m.hidden + 1), at);
  }
  const bool gathers = m.image == 0, now = put_off_ == nullptr && !frozen();
  const NodeList input = gathers && now ? GatherTokens(m.hidden, "head", at) : at;
  NodeList gradient = Run(ops_.PlainProduct(rows, m.hidden, widths_.outputs), "head", at);
  if (gathers) gradient = ReduceTokens(m.hidden, "head", gradient);
  if (m.head_bias && counts) AddBiasGradient(rows, widths_.outputs, "head", at);
  ForWeight([=, this] {
    const NodeList whole = gathers && !now ? GatherTokens(plan_.model.hidden, "head", at) : input;
    const NodeList weight =
        Run(ops_.PlainWeightProduct(widths_.outputs, plan_.model.hidden, rows), "head", Join(whole, at));
    // A tied head's gradient is a part of the embedding's if one stage has both.
    if (counts && (!plan_.model.tied || !plan_.split.ends_together()))
      AddGradient(widths_.outputs * (plan_.model.hidden + (gathers ? 0 : 1)), weight);
  });
  const NodeList done = NormBackward(shared_tokens_, m.hidden, "head.norm", gradient);
  Accumulate(first, done);
  return done;
}

}  // namespace chakra::generate
