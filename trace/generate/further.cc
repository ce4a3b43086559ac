// Layers of multi-token prediction (DeepSeek-V3, 2024, section 2.2;
// megatron/core/transformer/multi_token_prediction.py). Each has a norm of the embedding of the token after
// the one that the trunk predicts, a norm of the output of the trunk or of the layer before, a GEMM of both,
// and a transformer layer. The head is the trunk's.
#include "trace/generate/layers.h"

namespace chakra::generate {

NodeList LayerBuilder::Further(int64_t layer, int64_t micro_batch, const NodeList& at) {
  spot_ = {static_cast<int32_t>(micro_batch), static_cast<int32_t>(layer), "forward", ""};
  const ModelSize& m = plan_.model;
  const int64_t own = m.hidden / plan_.split.tp;
  NodeList token = Run(ops_.Lookup(outputs_, m.hidden, tokens_), "further.embedding", at);
  token = ReduceTokens(m.hidden, "further.embedding", token);
  token = Run(ops_.Norm(shared_tokens_, m.hidden, m.layer_norm), "further.embedding_norm", token);
  const NodeList hidden = Run(ops_.Norm(shared_tokens_, m.hidden, m.layer_norm), "further.norm", at);
  NodeList both = GatherTokens(2 * m.hidden, "further.projection", Join(token, hidden));
  both = Run(OpsOf("further.projection").Product(tokens_, own, 2 * m.hidden), "further.projection", both);
  both = Tensor(CollectiveType::kAllGather, tokens_ * own * ops_.element_bytes(), "further.projection", both);
  return Forward(layer, micro_batch, "forward", both);
}

NodeList LayerBuilder::FurtherBackward(int64_t layer, int64_t micro_batch, NodeList at,
                                       std::vector<Gradient>* gradients) {
  const ModelSize& m = plan_.model;
  at = Backward(layer, micro_batch, std::move(at), gradients);
  spot_.phase = "backward";
  at = GatherTokens(m.hidden, "further.projection", at);
  at = ColumnBackward(further_.operations.back(), at);
  const NodeList hidden = HiddenNormBackward("further.norm", at);
  NodeList token = HiddenNormBackward("further.embedding_norm", at);
  token = GatherTokens(m.hidden, "further.embedding", token);
  token = Run(ops_.LookupBackward(outputs_, m.hidden, tokens_), "further.embedding", token);
  // The embedding's gradient is complete when the first of these layers, the last one in the backward pass,
  // has added its part.
  if (plan_.copies_embedding() && layer == m.layers) AddGradient(outputs_ * m.hidden, token);
  return hidden;
}

NodeList LayerBuilder::AddFurther(int64_t micro_batch, const NodeList& both) {
  spot_ = {static_cast<int32_t>(micro_batch), -1, "backward", ""};
  return Run(ops_.Add(shared_tokens_, plan_.model.hidden), "further.add", both);
}

}  // namespace chakra::generate
