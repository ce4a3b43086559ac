#include "trace/generate/layers.h"

#include <algorithm>

namespace chakra::generate {
namespace {

constexpr int32_t kFirstRingTag = 1 << 28;  // above the tags of the pipeline

}  // namespace

LayerBuilder::LayerBuilder(const StepPlan& plan, StageGraph* graph)
    : plan_(plan),
      graph_(graph),
      ops_(plan.training),
      others_{Operators(plan.training.With(proto::Training::BF16)),
              Operators(plan.training.With(proto::Training::FP8)),
              Operators(plan.training.With(proto::Training::NVFP4))},
      blocks_(plan),
      widths_(WidthsOf(plan)),
      tokens_(plan.tokens()),
      shared_tokens_(plan.shared_tokens()),
      ring_tag_(kFirstRingTag) {
  if (plan.model.mtp > 0) further_ = DescribeFurther(plan);
  outputs_ = plan.padded_outputs() / plan.split.tp;
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
  const TrainingPlan& t = OpsOf(part).training();
  if (!t.narrow() || t.gathers_before_cast()) return GatherTokens(width, part, at);
  if (!plan_.split.sp) return at;
  if (!t.block_scales) directions = 1;
  return Tensor(CollectiveType::kAllGather, directions * t.NarrowBytes(shared_tokens_ * width), part, at);
}

NodeList LayerBuilder::ReduceTokens(int64_t width, const char* part, const NodeList& at) {
  return Tensor(plan_.split.sp ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce,
                tokens_ * width * ops_.element_bytes(), part, at);
}

NodeList LayerBuilder::Products(const Operation& op, int64_t rows, const NodeList& at) {
  NodeList out;
  for (size_t i = 0; i < op.gemms(); ++i) {
    if (by_operator_ && op.saves(i)) continue;
    out = Join(out, Run(OpsOf(op.part).Product(rows, op.width(i), op.in), op.part, at));
  }
  return out;
}

NodeList LayerBuilder::InputGradient(const Operation& op, int64_t rows, const NodeList& at) {
  NodeList out;
  for (size_t i = 0; i < op.gemms(); ++i) {
    const int64_t width = op.width(i);
    const NodeList gradient = Run(OpsOf(op.part).Product(rows, op.in, width), op.part, at);
    const bool adds = !out.empty() && !plan_.training.compiled;
    out = Join(out, gradient);
    if (adds) out = Run(ops_.Add(rows, op.in), op.part, out);
  }
  return out;
}

NodeList LayerBuilder::WeightGradient(const Operation& op, int64_t rows, const NodeList& at) {
  NodeList out;
  for (size_t i = 0; i < op.gemms(); ++i) {
    const int64_t width = op.width(i);
    const NodeList gradient = Run(OpsOf(op.part).WeightProduct(width, op.in, rows), op.part, at);
    AddGradient(op.in * width, gradient);
    out = Join(out, gradient);
  }
  return out;
}

NodeList LayerBuilder::Column(const Operation& op, NodeList at) {
  at = CastAndGather(op.in, op.part, at, plan_.model.pre_norm);
  return AdaptColumn(op, at, Products(op, tokens_, at));
}

// With sequence parallelism, the input is gathered again for the weight's gradient. With overlap_tensor this
// overlaps with the GEMM of the input's gradient, and the reduction of that gradient overlaps with the GEMM
// of the weight's.
NodeList LayerBuilder::ColumnBackward(const Operation& op, const NodeList& at) {
  if (frozen()) return FrozenColumnBackward(op, at);
  const int64_t in = op.in;
  const char* part = op.part;
  const bool now = put_off_ == nullptr;
  const NodeList input = now ? GatherInputs(in, part, at) : NodeList();
  const auto weight = [=, this, &op](const NodeList& gathered) {
    const NodeList ready = ForWeightProduct(in, part, Join(gathered, at), plan_.model.pre_norm);
    return WeightGradient(op, tokens_, Join(ready, at));
  };
  if (now && !plan_.split.overlap_tensor) {
    const NodeList product = InputGradient(op, tokens_, Join(input, at));
    return ReduceTokens(in, part, Join(product, weight(input)));
  }
  const NodeList gradient = ReduceTokens(in, part, InputGradient(op, tokens_, at));
  ForWeight([=, this] { weight(now ? input : GatherInputs(in, part, at)); });
  return gradient;
}

NodeList LayerBuilder::Cast(int64_t rows, int64_t width, const char* part, const NodeList& at) {
  const Operators& ops = OpsOf(part);
  if (!ops.training().narrow()) return at;
  const NodeList from = ops.training().looks_before_cast ? Run(ops.Greatest(rows, width), part, at) : at;
  return Run(ops.CastTranspose(rows, width, InGradient()), part, from);
}

NodeList LayerBuilder::CastShared(int64_t width, const char* part, const NodeList& at, bool behind) {
  const Operators& ops = OpsOf(part);
  const TrainingPlan& t = ops.training();
  const bool looks = t.looks_before_cast;
  if (!t.narrow() || (behind && !looks)) return at;
  if (!plan_.split.sp || (t.block_scales && !looks)) return Cast(shared_tokens_, width, part, at);
  NodeList from = at;
  if (looks) {
    // of nvfp4 two maxima, of rows and of columns
    from = Tensor(CollectiveType::kAllReduce, t.block_scales ? 8 : 4, part,
                  Run(ops.Greatest(shared_tokens_, width), part, at));
  }
  return Run(t.block_scales ? ops.CastTranspose(shared_tokens_, width, InGradient())
                            : ops.Cast(shared_tokens_, width),
             part, from);
}

NodeList LayerBuilder::ForWeightProduct(int64_t width, const char* part, const NodeList& at, bool behind) {
  const Operators& ops = OpsOf(part);
  const TrainingPlan& t = ops.training();
  const bool later = plan_.split.sp || (behind && !t.looks_before_cast);
  return t.narrow() && !t.block_scales && later ? Run(ops.Transpose(tokens_, width), part, at) : at;
}

NodeList LayerBuilder::Row(const Operation& op, NodeList at) {
  at = Cast(tokens_, op.in, op.part, at);
  const NodeList done = Products(op, tokens_, at);
  // Checkpointing by operator keeps the reduced sums.
  return by_operator_ ? done : AdaptRow(op, at, ReduceTokens(op.out, op.part, done));
}

NodeList LayerBuilder::RowBackward(const Operation& op, const NodeList& at) {
  if (frozen()) return FrozenRowBackward(op, at);
  const int64_t in = op.in, out = op.out;
  const char* part = op.part;
  const NodeList whole = CastAndGather(out, part, at, false, 2);
  const NodeList gradient = Run(OpsOf(part).Product(tokens_, in, out), part, whole);
  ForWeight([=, this] {
    const NodeList ready = ForWeightProduct(out, part, whole, false);
    AddGradient(in * out, Run(OpsOf(part).WeightProduct(out, in, tokens_), part, ready));
  });
  return gradient;
}

NodeList LayerBuilder::Whole(const Operation& op, const NodeList& at) {
  whole_input_ = Cast(shared_tokens_, op.in, op.part, at);
  return AdaptDown(op, whole_input_, Products(op, shared_tokens_, whole_input_));
}

NodeList LayerBuilder::Up(const Operation& op, NodeList at) {
  if (op.act == Act::kUpOfInput) at = Join(at, GatherInputs(op.in, op.part, whole_input_));
  return AdaptColumn(op, at, Products(op, tokens_, at));
}

NodeList LayerBuilder::UpBackward(const Operation& op, const NodeList& at) {
  const NodeList narrow = Cast(tokens_, op.out, op.part, at);
  if (op.act == Act::kUpOfInput) return ColumnBackward(op, narrow);
  if (frozen()) return FrozenUpBackward(op, narrow);
  const NodeList gradient = InputGradient(op, tokens_, narrow);
  ForWeight([=, this, &op] { WeightGradient(op, tokens_, narrow); });
  return gradient;
}

NodeList LayerBuilder::WholeBackward(const Operation& op, const NodeList& at) {
  const NodeList gradient = InputGradient(op, shared_tokens_, at);
  ForWeight([=, this, &op] { WeightGradient(op, shared_tokens_, at); });
  return gradient;
}

NodeList LayerBuilder::NormBackward(int64_t rows, int64_t width, int64_t weights, const char* part,
                                    const NodeList& at) {
  const NodeList done = Run(ops_.NormBackward(rows, width, plan_.model.layer_norm), part, at);
  if (weights > 0) AddGradient(weights, done);
  return done;
}

NodeList LayerBuilder::HiddenNormBackward(const char* part, const NodeList& at) {
  const int64_t h = plan_.model.hidden;
  return NormBackward(shared_tokens_, h, plan_.model.NormWeights(h), part, at);
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

NodeList LayerBuilder::ForwardOf(int32_t begin, int32_t end, NodeList at) {
  NodeList branch;
  for (int32_t i = begin; i < end; ++i) {
    const Operation& op = block_->operations[static_cast<size_t>(i)];
    if (op.act == Act::kBranch) {
      branch = ForwardOf(i + 1, op.other, at);
      i = op.other - 1;
    } else if (op.act == Act::kJoin) {
      at = Run(ops_.Add(shared_tokens_, plan_.model.hidden), op.part, Join(at, branch));
    } else if (!by_operator_ || !op.saves_all()) {
      at = Compute(op, std::move(at));
    } else if (op.act == Act::kWhole) {
      whole_input_ = at;
    }
  }
  return at;
}

NodeList LayerBuilder::Again(int32_t before, NodeList at) {
  for (const Recomputed& r : block_->modules) {
    if (r.before != before || !plan_.training.MakesAgain(r.module)) continue;
    spot_.phase = "recompute";
    whole_input_ = at;
    at = ForwardOf(r.begin, r.end, std::move(at));
    spot_.phase = "backward";
  }
  return at;
}

NodeList LayerBuilder::BackwardOf(int32_t begin, int32_t end, NodeList at) {
  const auto operation = [this](int32_t i) -> const Operation& {
    return block_->operations[static_cast<size_t>(i)];
  };
  NodeList branch;
  int32_t branch_begin = -1, branch_end = -1;  // of the last kJoin
  for (int32_t i = end - 1; i >= begin; --i) {
    if (i + 1 == branch_end) {
      at = Run(ops_.Add(shared_tokens_, plan_.model.hidden), "shared.add", Join(at, branch));
      i = branch_begin;
      continue;
    }
    at = Again(i, std::move(at));
    const Operation& op = operation(i);
    if (op.act == Act::kJoin) {
      branch_begin = op.other;
      branch_end = operation(op.other).other;
      branch = BackwardOf(branch_begin + 1, branch_end, at);
    } else if (op.beside) {
      const NodeList gradient = ComputeBackward(op, at);
      at = Join(gradient, ComputeBackward(operation(--i), at));
    } else {
      at = ComputeBackward(op, std::move(at));
    }
  }
  return at;
}

NodeList LayerBuilder::Forward(int64_t layer, int64_t micro_batch, const char* phase, NodeList at) {
  spot_ = {static_cast<int32_t>(micro_batch), static_cast<int32_t>(layer), phase, ""};
  block_ = &blocks_.Of(layer);
  const ModelSize& m = plan_.model;
  graph_->HostWorks(graph_->host.layer_ns, spot_);
  by_operator_ = plan_.training.recomputes_operators() && absl::string_view(phase) == "recompute";
  for (const Sublayer& s : block_->sublayers) {
    const bool stops = by_operator_ && &s == &block_->sublayers.back();
    at = ForwardOf(s.begin, stops ? block_->needed : s.end, std::move(at));
    if (stops) break;  // PyTorch stops before the layer's output
    if (m.post_norm) at = Run(ops_.Norm(shared_tokens_, m.hidden, m.layer_norm), s.post_norm, at);
    at = Run(ops_.AddResidual(shared_tokens_, m.hidden), s.add, at);
  }
  by_operator_ = false;
  return at;
}

NodeList LayerBuilder::Backward(int64_t layer, int64_t micro_batch, NodeList at,
                                std::vector<Gradient>* gradients, bool recomputed) {
  gradients_ = gradients;
  if (!recomputed && (plan_.Recomputes(layer) || plan_.training.recomputes_operators())) {
    // Inferred from vTrain's rows of one node, where host and device take about equally long: at that time
    // the host was not ahead of the device when it recomputed a layer.
    if (plan_.training.unfused()) graph_->HostWaits(at);
    at = Forward(layer, micro_batch, "recompute", at);
  }
  spot_ = {static_cast<int32_t>(micro_batch), static_cast<int32_t>(layer), "backward", ""};
  block_ = &blocks_.Of(layer);
  const int64_t h = plan_.model.hidden;
  const size_t first = gradients->size();
  for (auto s = block_->sublayers.rbegin(); s != block_->sublayers.rend(); ++s) {
    if (plan_.training.dropout) at = Run(ops_.DropoutBackward(shared_tokens_, h), s->add, at);
    if (plan_.model.post_norm) at = HiddenNormBackward(s->post_norm, at);
    at = BackwardOf(s->begin, s->end, std::move(at));
    at = Run(ops_.Add(shared_tokens_, h), s->add, at);
  }
  Accumulate(first, at);
  return at;
}

NodeList LayerBuilder::Compute(const Operation& op, NodeList at) {
  const ModelSize& m = plan_.model;
  switch (op.act) {
    case Act::kNorm:
      return Run(ops_.Norm(op.rows, op.in, m.layer_norm), op.part, at);
    case Act::kColumn:
      return Column(op, std::move(at));
    case Act::kRow:
      return Row(op, std::move(at));
    case Act::kWhole:
      return Whole(op, at);
    case Act::kUp:
    case Act::kUpOfInput:
      return Up(op, std::move(at));
    case Act::kGather:
      return CastAndGather(op.in, op.part, at, true);
    case Act::kRotary:
      return Run(ops_.Rotary(op.rows * op.in, false), op.part, at);
    case Act::kCore:
      return Core(std::move(at));
    case Act::kActivation:
      return Run(ops_.Activation(op.rows, op.in, m.gated, false), op.part, at);
    case Act::kKernels:
      return RunAll(op.forward, op.part, std::move(at));
    case Act::kExchange:
      return Exchange(op.part, op.in, at);
    case Act::kRouter:
      return Route(op, std::move(at));
    case Act::kByToken:
      return ByToken(op.back, false, at);
    case Act::kDispatch:
      return Dispatch(op.part, !op.back, std::move(at));
    case Act::kByExpert:
      return ByExpert(op.back, false, at);
    case Act::kPad:
      return PadExperts(!op.back, at);
    case Act::kCast:
      return op.back && CastsInGraph(op.part) ? at
                                              : CastExperts(RowsOfExperts(), op.in, op.part, std::move(at));
    case Act::kExpertProduct:
      return ExpertProduct(op, at);
    case Act::kExpertBias:
      return AddExpertBias(false, at);
    case Act::kClamp:
      return ClampExperts(false, at);
    case Act::kExpertActivation:
      return ActivateExperts(false, at);
    case Act::kBias:
    case Act::kBranch:
    case Act::kJoin:
      return at;
  }
  return at;
}

NodeList LayerBuilder::ComputeBackward(const Operation& op, NodeList at) {
  const ModelSize& m = plan_.model;
  switch (op.act) {
    case Act::kNorm:
      return NormBackward(op.rows, op.in, op.weights, op.part, at);
    case Act::kColumn:
      return ColumnBackward(op, Cast(tokens_, op.out, op.part, at));
    case Act::kRow:
      return RowBackward(op, at);
    case Act::kWhole:
      at = Cast(shared_tokens_, op.out, op.part, at);
      return frozen() ? FrozenDownBackward(op, at) : WholeBackward(op, at);
    case Act::kUp:
    case Act::kUpOfInput:
      return UpBackward(op, at);
    case Act::kGather:
      return op.back ? at : ReduceTokens(op.in, op.part, at);
    case Act::kBias:
      AddBiasGradient(op.rows, op.in, op.part, at);
      return at;
    case Act::kRotary:
      return Run(ops_.Rotary(op.rows * op.in, true), op.part, at);
    case Act::kCore:
      at = CoreBackward(std::move(at));
      if (op.weights > 0) AddGradient(op.weights, at);
      return at;
    case Act::kActivation:
      return Run(ops_.Activation(op.rows, op.in, m.gated, true), op.part, at);
    case Act::kKernels:
      at = RunAll(op.backward, op.part, std::move(at));
      if (op.weights > 0) AddGradient(op.weights, at);
      return at;
    case Act::kExchange:
      return Exchange(op.part, op.in, at);
    case Act::kRouter:
      return RouteBackward(op, std::move(at));
    case Act::kByToken:
      return ByToken(op.back, true, at);
    case Act::kDispatch:
      return Dispatch(op.part, op.back, std::move(at));
    case Act::kByExpert:
      return ByExpert(op.back, true, at);
    case Act::kPad:
      return PadExperts(op.back, at);
    case Act::kExpertProduct:
      return ExpertProductBackward(op, std::move(at));
    case Act::kExpertBias:
      return AddExpertBias(true, at);
    case Act::kClamp:
      return ClampExperts(true, at);
    case Act::kExpertActivation:
      return ActivateExperts(true, at);
    case Act::kCast:
    case Act::kBranch:
    case Act::kJoin:
      return at;
  }
  return at;
}

// Adds the gradients from index `first` on to those of earlier micro-batches, if the GEMMs do not do this
// themselves.
void LayerBuilder::Accumulate(size_t first, const NodeList& at) {
  const proto::Training::Framework framework = plan_.training.framework;
  const bool alone = framework == proto::Training::DDP && plan_.micro_batches() == 1;
  const bool sharded = framework == proto::Training::FSDP && !plan_.accumulates_whole();
  if (plan_.training.accumulates() || sharded || alone) return;
  int64_t elements = 0;
  for (size_t i = first; i < gradients_->size(); ++i) elements += (*gradients_)[i].elements;
  if (elements == 0) return;
  const NodeList done =
      Run(ops_.Accumulate(elements, static_cast<int>(gradients_->size() - first)), "accumulate", at);
  for (size_t i = first; i < gradients_->size(); ++i) (*gradients_)[i].node = done.front();
}

NodeList LayerBuilder::Embed(int64_t micro_batch, NodeList at) {
  spot_ = {static_cast<int32_t>(micro_batch), -1, "forward", ""};
  const ModelSize& m = plan_.model;
  if (m.image > 0) {
    at = Run(ops_.PlainProduct(tokens_, m.hidden, m.patch * m.patch * m.channels), "embedding", at);
  } else {
    at = Run(ops_.Lookup(outputs_, m.hidden, tokens_), "embedding", at);
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
  if (m.embedding_norm) whole = HiddenNormBackward("embedding.norm", whole);
  whole = GatherTokens(m.hidden, "embedding", whole);
  const NodeList done = Run(ops_.LookupBackward(outputs_, m.hidden, tokens_), "embedding", whole);
  AddGradient(outputs_ * m.hidden, done);
  Accumulate(first, done);
}

NodeList LayerBuilder::Head(int64_t micro_batch, NodeList at) {
  spot_ = {static_cast<int32_t>(micro_batch), -1, "forward", ""};
  const ModelSize& m = plan_.model;
  at = Run(ops_.Norm(shared_tokens_, m.hidden, m.layer_norm), "head.norm", at);
  if (m.pooler) at = Run(ops_.PlainProduct(plan_.training.micro_batch, m.hidden, m.hidden), "pooler", at);
  if (m.image > 0) {
    at = Run(ops_.PlainProduct(plan_.training.micro_batch, outputs_, m.hidden), "head", at);
    return RunAll(ops_.Loss(plan_.training.micro_batch, outputs_), "loss", at);
  }
  at = GatherTokens(m.hidden, "head", at);
  at = Run(ops_.PlainProduct(tokens_, outputs_, m.hidden), "head", at);
  if (m.logit_cap) at = Run(ops_.Cap(tokens_, outputs_, false), "head.cap", at);
  // The vocabulary is split, so the maximum logit, the sum of exponentials and the target's logit are
  // reduced.
  for (int i = 0; i < 3; ++i) at = Tensor(CollectiveType::kAllReduce, 4 * tokens_, "loss", at);
  return RunAll(ops_.Loss(tokens_, outputs_), "loss", at);
}

NodeList LayerBuilder::HeadBackward(int64_t micro_batch, NodeList at, std::vector<Gradient>* gradients,
                                    bool counts) {
  gradients_ = gradients;
  spot_ = {static_cast<int32_t>(micro_batch), -1, "backward", ""};
  const ModelSize& m = plan_.model;
  const int64_t rows = m.image > 0 ? plan_.training.micro_batch : tokens_;
  const size_t first = gradients->size();
  at = RunAll(ops_.LossBackward(rows, outputs_), "loss", at);
  if (m.logit_cap) at = Run(ops_.Cap(rows, outputs_, true), "head.cap", at);
  if (m.pooler) {
    at = Run(ops_.PlainProduct(m.hidden, m.hidden, plan_.training.micro_batch), "pooler", at);
    AddGradient(m.hidden * (m.hidden + 1), at);
  }
  const bool gathers = m.image == 0, now = put_off_ == nullptr && !frozen();
  const NodeList input = gathers && now ? GatherTokens(m.hidden, "head", at) : at;
  NodeList gradient = Run(ops_.PlainProduct(rows, m.hidden, outputs_), "head", at);
  if (gathers) gradient = ReduceTokens(m.hidden, "head", gradient);
  if (m.head_bias && counts) AddBiasGradient(rows, outputs_, "head", at);
  ForWeight([=, this] {
    const NodeList whole = gathers && !now ? GatherTokens(plan_.model.hidden, "head", at) : input;
    const NodeList weight =
        Run(ops_.PlainWeightProduct(outputs_, plan_.model.hidden, rows), "head", Join(whole, at));
    // A tied head's gradient is a part of the embedding's if one stage has both.
    if (counts && (!plan_.model.tied || !plan_.split.ends_together()))
      AddGradient(outputs_ * (plan_.model.hidden + (gathers ? 0 : 1)), weight);
  });
  const NodeList done = HiddenNormBackward("head.norm", gradient);
  Accumulate(first, done);
  return done;
}

}  // namespace chakra::generate
