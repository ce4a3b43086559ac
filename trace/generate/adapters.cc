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
#include <vector>

#include "trace/generate/layers.h"

namespace chakra::generate {

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

NodeList LayerBuilder::AdaptColumn(const Operation& op, const NodeList& input, const NodeList& at) {
  if (*op.adapter == 0) return at;
  return AddWidened(tokens_, op.out, op.adapter, Narrow(tokens_, op.in, op.adapter, input), at);
}

NodeList LayerBuilder::AdaptRow(const Operation& op, const NodeList& input, const NodeList& at) {
  if (*op.adapter == 0) return at;
  const NodeList narrow =
      ReduceTokens(plan_.training.lora, op.adapter, Narrow(tokens_, op.in, op.adapter, input));
  return AddWidened(shared_tokens_, op.out, op.adapter, narrow, at);
}

// The gradient of the adapter's narrow features is a sum over the columns of all ranks of tp. For the input's
// gradient each rank uses only its part of that sum, because the input's gradient is itself reduced
// afterwards.
NodeList LayerBuilder::FrozenColumnBackward(const Operation& op, const NodeList& at) {
  return ReduceTokens(op.in, op.part, FrozenUpBackward(op, at));
}

NodeList LayerBuilder::FrozenUpBackward(const Operation& op, const NodeList& at) {
  const int64_t in = op.in, out = op.out;
  NodeList gradient = InputGradient(op, tokens_, at);
  if (const char* adapter = op.adapter; *adapter != 0) {
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
NodeList LayerBuilder::AdaptDown(const Operation& op, const NodeList& input, NodeList at) {
  if (*op.adapter == 0) return at;
  for (const DownAdapter& a : DownAdaptersOf(plan_.model)) {
    const NodeList narrow = Narrow(shared_tokens_, plan_.model.hidden, a.part, input);
    at = AddWidened(shared_tokens_, a.out, a.part, narrow, at);
  }
  return at;
}

NodeList LayerBuilder::FrozenDownBackward(const Operation& op, const NodeList& at) {
  const int64_t h = op.in, rank = plan_.training.lora;
  NodeList gradient = InputGradient(op, shared_tokens_, at);
  if (*op.adapter == 0) return gradient;
  for (const DownAdapter& a : DownAdaptersOf(plan_.model)) {
    const NodeList narrow = Run(ops_.PlainProduct(shared_tokens_, rank, a.out), a.part, at);
    gradient = AddInputGradient(shared_tokens_, h, a.part, narrow, gradient);
    NowOrLater([=, this] {
      AddAdapterGradient(rank * a.out, Run(ops_.PlainWeightProduct(a.out, rank, shared_tokens_), a.part, at));
      AddAdapterGradient(rank * h, Run(ops_.PlainWeightProduct(rank, h, shared_tokens_), a.part, narrow));
    });
  }
  return gradient;
}

NodeList LayerBuilder::FrozenRowBackward(const Operation& op, const NodeList& at) {
  const int64_t in = op.in, out = op.out, rank = plan_.training.lora;
  const char *part = op.part, *adapter = op.adapter;
  const NodeList whole = CastAndGather(out, part, at, false);
  NodeList gradient = Run(OpsOf(part).Product(tokens_, in, out), part, whole);
  if (*adapter == 0) return gradient;
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
