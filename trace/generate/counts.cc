#include "trace/generate/counts.h"

#include <vector>

#include "trace/generate/block.h"

namespace chakra::generate {
namespace {

// The elements of a GEMM from `in` to `out` features.
int64_t Product(int64_t in, int64_t out, bool bias) { return in * out + (bias ? out : 0); }

LayerParameters ParametersOf(const Block& block) {
  const WeightShare share = ShareOf(block);
  LayerParameters out = {share.dense, share.expert};
  for (const Operation& op : block.operations) out.dense += op.buffers;
  return out;
}

// Multiplications of one token in a layer.
struct LayerProducts {
  double weights = 0;  // by weights, without the router
  double core = 0;     // by other tokens
};
LayerProducts ProductsOf(const Block& block) {
  LayerProducts out;
  for (const Operation& op : block.operations) {
    out.weights += op.products;
    out.core += op.core;
  }
  return out;
}

// The part of them that the backward pass recomputes by modules or operators.
double RecomputedProducts(const Block& block, const TrainingPlan& t) {
  double sum = 0;
  for (int32_t i = 0; i < block.needed && t.recomputes_operators(); ++i) {
    const Operation& op = block.operations[static_cast<size_t>(i)];
    if (op.saves_all()) continue;
    const double saved = static_cast<double>(op.saved_width());
    sum += op.core + op.products * (op.out > 0 ? 1 - saved / static_cast<double>(op.out) : 1);
  }
  for (const Recomputed& r : block.modules) {
    for (int32_t i = r.begin; i < r.end && t.MakesAgain(r.module); ++i) {
      const Operation& op = block.operations[static_cast<size_t>(i)];
      sum += op.products + op.core;
    }
  }
  return sum;
}

}  // namespace

LayerParameters ParametersOfLayer(const ModelSize& m, int64_t layer) {
  const StepPlan whole = WholeModel(m, 0);
  return ParametersOf(DescribeLayer(whole, m.SpecOf(layer)));
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
  const StepPlan whole = WholeModel(m, 0);
  const Blocks blocks(whole);
  std::vector<LayerParameters> of_kind;
  for (const Block& block : blocks.kinds()) of_kind.push_back(ParametersOf(block));
  for (int64_t i = 0; i < m.layers; ++i) {
    const LayerParameters& p = of_kind[blocks.KindOf(i)];
    out.total += p.total();
    out.active += p.dense + (m.experts > 0 ? p.experts / m.experts * m.top_k : 0);
  }
  return out;
}

double TrainingFlopsPerToken(const ModelSize& m, int64_t seq) {
  const StepPlan whole = WholeModel(m, seq);
  const Blocks blocks(whole);
  std::vector<double> of_kind;
  for (const Block& block : blocks.kinds()) {
    const LayerProducts p = ProductsOf(block);
    of_kind.push_back(p.weights + p.core);
  }
  double sum = 0;
  for (int64_t i = 0; i < m.layers + m.mtp; ++i) sum += of_kind[blocks.KindOf(i)];
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
  const double all = TrainingFlopsPerToken(m, plan.training.seq);
  if (!plan.training.frozen()) return all;
  const StepPlan whole = WholeModel(m, plan.training.seq);
  const Blocks blocks(whole);
  double cores = 0;
  for (int64_t i = 0; i < m.layers; ++i) cores += 6 * ProductsOf(blocks.Of(i)).core;
  return cores + (all - cores) * 2 / 3 + 6 * static_cast<double>(TrainedParameters(plan));
}

double RecomputedFlopsPerToken(const StepPlan& plan) {
  const ModelSize& m = plan.model;
  StepPlan whole = WholeModel(m, plan.training.seq);
  whole.training = plan.training;  // which operations the framework has, and keeps
  whole.training.micro_batch = 0;
  const Blocks blocks(whole);
  double sum = 0;
  for (int64_t i = 0; i < m.layers + m.mtp; ++i) {
    const Block& block = blocks.Of(i);
    const LayerProducts p = ProductsOf(block);
    sum += plan.Recomputes(i) ? p.weights + p.core : RecomputedProducts(block, plan.training);
  }
  return 2 * sum;
}

}  // namespace chakra::generate
