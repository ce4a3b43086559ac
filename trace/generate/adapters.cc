// Low-rank adapters (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021): the GEMM of a
// frozen weight has an adapter of two GEMMs, to `lora` features and back, whose output is added. Backward,
// the frozen weight has only the gradient of its input.
//
// Next to a GEMM that is split by columns, each rank of tp has the first half of the adapter whole, and the
// second half split by columns. Next to a GEMM that is split by rows, the first half is split by rows, and
// the ranks reduce its sums of `lora` features; the second half is whole. In latent attention, each down
// projection, which each rank has whole, has an adapter, and so has each up projection. Dropout is applied to
// all tokens before the first half (NeMo's LoRA, dropout_position="pre"); its result is kept for the gradient
// of that half, and is not gathered again.
#include <algorithm>
#include <string_view>

#include "trace/generate/counts.h"
#include "trace/generate/layers.h"

namespace chakra::generate {
namespace {

struct AdapterPart {
  std::string_view product;
  const char* adapter;
  bool mlp;
};
constexpr AdapterPart kParts[] = {
    {"attention.qkv", "attention.qkv_adapter", false},
    {"attention.out", "attention.out_adapter", false},
    {"attention.q_up", "attention.q_up_adapter", false},
    {"attention.kv_up", "attention.kv_up_adapter", false},
    {"mlp.up", "mlp.up_adapter", true},
    {"mlp.down", "mlp.down_adapter", true},
};

}  // namespace

WeightShare TrainedOfLayer(const StepPlan& plan, int64_t layer) {
  if (!plan.training.frozen()) return ShareOfLayer(plan, layer);
  const ModelSize& m = plan.model;
  const int64_t tp = plan.split.tp, keys = std::max<int64_t>(1, m.kv_heads / tp) * m.head_dim;
  // features of GEMMs that are split by columns
  int64_t ins = m.hidden, outs = m.query_width() / tp + 2 * keys;
  int64_t whole = m.hidden;
  if (m.latent()) {  // adapters of both down projections are whole
    const int64_t down = (m.q_rank > 0 ? 2 : 1) * m.hidden + m.q_rank + m.kv_rank + m.rope_dim;
    ins = (m.q_rank > 0 ? m.q_rank : m.hidden) + m.kv_rank;
    outs = (m.query_width() + m.heads * (m.nope_dim + m.v_dim)) / tp;
    whole += down;
  }
  ins += m.context_width() / tp;  // features of GEMMs that are split by rows
  if (plan.training.lora_mlp) {
    outs += (m.gated ? 2 : 1) * m.ffn / tp;
    ins += m.hidden + m.ffn / tp;
    whole += m.hidden;
  }
  WeightShare out;
  out.dense = plan.training.lora * (ins + outs + whole);
  out.replicated = plan.training.lora * whole;
  return out;
}

int64_t TrainedParameters(const StepPlan& plan) {
  if (plan.tables.any()) return CountParameters(plan.tables).total();
  if (!plan.training.frozen()) return CountParameters(plan.model).total;
  StepPlan whole = plan;
  whole.split.tp = 1;
  return plan.model.layers * TrainedOfLayer(whole, 0).dense;
}

const char* LayerBuilder::AdapterOf(const char* part) const {
  if (!frozen()) return nullptr;
  for (const AdapterPart& p : kParts) {
    if (p.product == part) return p.mlp && !plan_.training.lora_mlp ? nullptr : p.adapter;
  }
  return nullptr;
}

NodeList LayerBuilder::Narrow(int64_t rows, int64_t width, const char* adapter, NodeList at) {
  if (plan_.training.lora_dropout) at = Run(ops_.Dropout(rows, width), adapter, at);
  return Run(ops_.PlainProduct(rows, plan_.training.lora, width), adapter, at);
}

NodeList LayerBuilder::AddWidened(int64_t rows, int64_t width, const char* adapter, const NodeList& narrow,
                                  const NodeList& at) {
  const NodeList wide = Run(ops_.PlainProduct(rows, width, plan_.training.lora), adapter, narrow);
  return Run(ops_.Add(rows, width), adapter, Join(at, wide));
}

NodeList LayerBuilder::AddInputGradient(int64_t rows, int64_t width, const char* adapter,
                                        const NodeList& narrow, const NodeList& at) {
  NodeList wide = Run(ops_.PlainProduct(rows, width, plan_.training.lora), adapter, narrow);
  if (plan_.training.lora_dropout) wide = Run(ops_.DropoutBackward(rows, width), adapter, wide);
  return Run(ops_.Add(rows, width), adapter, Join(at, wide));
}

NodeList LayerBuilder::AdaptColumn(int64_t in, int64_t out, const char* part, const NodeList& input,
                                   const NodeList& at) {
  const char* adapter = AdapterOf(part);
  if (adapter == nullptr) return at;
  return AddWidened(tokens_, out, adapter, Narrow(tokens_, in, adapter, input), at);
}

NodeList LayerBuilder::AdaptRow(int64_t in, int64_t out, const char* part, const NodeList& input,
                                const NodeList& at) {
  const char* adapter = AdapterOf(part);
  if (adapter == nullptr) return at;
  const NodeList narrow = ReduceTokens(plan_.training.lora, adapter, Narrow(tokens_, in, adapter, input));
  return AddWidened(shared_tokens_, out, adapter, narrow, at);
}

// The gradient of the adapter's narrow features is a sum over the columns of all ranks of tp. For the input's
// gradient each rank uses only its part of that sum, because the input's gradient is itself reduced
// afterwards.
NodeList LayerBuilder::FrozenColumnBackward(int64_t in, int64_t out, const char* part, const NodeList& at) {
  return ReduceTokens(in, part, FrozenUpBackward(in, out, part, at));
}

NodeList LayerBuilder::FrozenUpBackward(int64_t in, int64_t out, const char* part, const NodeList& at) {
  NodeList gradient = Run(ops_.Product(tokens_, in, out), part, at);
  if (const char* adapter = AdapterOf(part); adapter != nullptr) {
    const int64_t rank = plan_.training.lora;
    const NodeList narrow = Run(ops_.PlainProduct(tokens_, rank, out), adapter, at);
    gradient = AddInputGradient(tokens_, in, adapter, narrow, gradient);
    NowOrLater([=, this] {
      const NodeList whole =
          Tensor(CollectiveType::kAllReduce, tokens_ * rank * ops_.element_bytes(), adapter, narrow);
      const NodeList input = plan_.training.lora_dropout ? at : GatherTokens(in, adapter, at);
      AddAdapterGradient(rank * out, Run(ops_.PlainWeightProduct(out, rank, tokens_), adapter, at));
      AddAdapterGradient(rank * in,
                         Run(ops_.PlainWeightProduct(rank, in, tokens_), adapter, Join(whole, input)));
    });
  }
  return gradient;
}

// The GEMM of both down projections has one adapter for each, on a rank's own tokens.
NodeList LayerBuilder::AdaptDown(const NodeList& input, NodeList at) {
  if (!frozen()) return at;
  for (const DownAdapter& a : DownAdapters()) {
    const NodeList narrow = Narrow(shared_tokens_, plan_.model.hidden, a.part, input);
    at = AddWidened(shared_tokens_, a.out, a.part, narrow, at);
  }
  return at;
}

NodeList LayerBuilder::FrozenDownBackward(int64_t out, const char* part, const NodeList& at) {
  const int64_t h = plan_.model.hidden, rank = plan_.training.lora;
  NodeList gradient = Run(ops_.Product(shared_tokens_, h, out), part, at);
  for (const DownAdapter& a : DownAdapters()) {
    const NodeList narrow = Run(ops_.PlainProduct(shared_tokens_, rank, a.out), a.part, at);
    gradient = AddInputGradient(shared_tokens_, h, a.part, narrow, gradient);
    NowOrLater([=, this] {
      AddAdapterGradient(rank * a.out, Run(ops_.PlainWeightProduct(a.out, rank, shared_tokens_), a.part, at));
      AddAdapterGradient(rank * h, Run(ops_.PlainWeightProduct(rank, h, shared_tokens_), a.part, narrow));
    });
  }
  return gradient;
}

std::vector<LayerBuilder::DownAdapter> LayerBuilder::DownAdapters() const {
  const ModelSize& m = plan_.model;
  std::vector<DownAdapter> out = {{m.kv_rank + m.rope_dim, "attention.kv_down_adapter"}};
  if (m.q_rank > 0) out.push_back({m.q_rank, "attention.q_down_adapter"});
  return out;
}

NodeList LayerBuilder::FrozenRowBackward(int64_t in, int64_t out, const char* part, const NodeList& at) {
  const NodeList whole = GatherInputs(out, part, CastShared(out, part, at, false));
  NodeList gradient = Run(ops_.Product(tokens_, in, out), part, whole);
  const char* adapter = AdapterOf(part);
  if (adapter == nullptr) return gradient;
  const int64_t rank = plan_.training.lora;
  const NodeList narrow =
      GatherTokens(rank, adapter, Run(ops_.PlainProduct(shared_tokens_, rank, out), adapter, at));
  gradient = AddInputGradient(tokens_, in, adapter, narrow, gradient);
  NowOrLater([=, this] {
    AddAdapterGradient(rank * out, Run(ops_.PlainWeightProduct(out, rank, shared_tokens_), adapter, at));
    AddAdapterGradient(rank * in, Run(ops_.PlainWeightProduct(rank, in, tokens_), adapter, narrow));
  });
  return gradient;
}

}  // namespace chakra::generate
