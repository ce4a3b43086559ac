#include "trace/generate/weights.h"

#include "trace/generate/counts.h"

namespace chakra::generate {

WeightShare ShareOfLayer(const StepPlan& plan, int64_t layer) {
  WeightShare out = ShareOf(DescribeLayer(plan, plan.model.SpecOf(layer)));
  if (layer < plan.model.layers) return out;
  const WeightShare further = ShareOf(DescribeFurther(plan));
  out.dense += further.dense;
  out.replicated += further.replicated;
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

// The adapters of latent attention's down projections: that of keys and values, then that of queries.
std::vector<DownAdapter> DownAdaptersOf(const ModelSize& m) {
  std::vector<DownAdapter> out = {{m.kv_rank + m.rope_dim, "attention.kv_down_adapter"}};
  if (m.q_rank > 0) out.push_back({m.q_rank, "attention.q_down_adapter"});
  return out;
}

WeightShare TrainedOf(const StepPlan& plan, const Block& block) {
  if (!plan.training.frozen()) return ShareOf(block);
  const int64_t rank = plan.training.lora;
  WeightShare out;
  for (const Operation& op : block.operations) {
    if (*op.adapter == 0) continue;
    if (op.act == Act::kWhole) {
      for (const DownAdapter& a : DownAdaptersOf(plan.model)) out.replicated += rank * (op.in + a.out);
    } else {
      out.dense += rank * (op.act == Act::kRow ? op.in : op.in + op.out);
      if (op.act == Act::kRow) out.replicated += rank * op.out;
    }
  }
  out.dense += out.replicated;
  return out;
}

WeightShare TrainedOfLayer(const StepPlan& plan, int64_t layer) {
  if (!plan.training.frozen()) return ShareOfLayer(plan, layer);
  return TrainedOf(plan, DescribeLayer(plan, plan.model.SpecOf(layer)));
}

int64_t TrainedParameters(const StepPlan& plan) {
  if (plan.tables.any()) return CountParameters(plan.tables).total();
  if (!plan.training.frozen()) return CountParameters(plan.model).total;
  StepPlan whole = plan;
  whole.split = {};
  int64_t sum = 0;
  for (int64_t i = 0; i < plan.model.layers; ++i) sum += TrainedOfLayer(whole, i).dense;
  return sum;
}

}  // namespace chakra::generate
