// The MLP of a layer without experts, and the MLP that shared experts are together.
#include "trace/generate/blocks/blocks.h"

namespace chakra::generate {

int32_t AddMlp(bool shared, int64_t ffn, BlockWriter* w) {
  const ModelSize& m = w->model();
  const char *up = shared ? "shared.up" : "mlp.up", *down = shared ? "shared.down" : "mlp.down";
  const char* adapters[] = {shared ? "" : "mlp.up_adapter", shared ? "" : "mlp.down_adapter"};
  if (!w->training().lora_mlp) adapters[0] = adapters[1] = "";
  const int64_t wide = (m.gated ? 2 : 1) * ffn;
  const int32_t gate = w->Column(up, m.hidden, wide, adapters[0]);
  if (m.gated) w->Fuses(gate, {ffn, ffn}, Fused::kJoined);
  if (m.bias) w->Bias(up, w->tokens(), wide);
  Operation op;
  op.act = Act::kActivation;
  op.part = "mlp.activation";
  op.rows = w->tokens();
  op.in = op.out = ffn;
  op.keeps_input = true;
  op.out_bytes = w->size() * w->tokens() * ffn;
  w->Add(op);
  if (m.bias) w->Bias(down, w->shared(), m.hidden);
  return w->Row(down, ffn, m.hidden, adapters[1]);
}

void DescribeMlp(BlockWriter* w) {
  w->Begin("mlp.add", "mlp.post_norm");
  w->MlpNorm();
  const int32_t begin = w->next();
  const int64_t ffn = w->model().ffn / w->split().tp;
  const int32_t last = AddMlp(false, ffn, w);
  w->RecomputeNorm(last);
  w->Recompute(kDenseMlp, begin, last + 1, last, true);
  w->Recompute(kMlpUp, begin, last, last, false);
  w->End(2 * ffn);
}

}  // namespace chakra::generate
