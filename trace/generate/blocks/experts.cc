// The experts of a layer. The model assumes that tokens are spread equally over experts.
#include <algorithm>
#include <cmath>

#include "trace/generate/blocks/blocks.h"

namespace chakra::generate {
namespace {

double Choose(int64_t n, int64_t k) {
  if (k < 0 || k > n) return 0;
  double ways = 1;
  for (int64_t i = 0; i < k; ++i) ways *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  return ways;
}

// The share of all choices of `k` out of `all` that contain none of `some`.
double NoneOf(int64_t some, int64_t all, int64_t k) {
  double none = 1;
  for (int64_t i = 0; i < k; ++i)
    none *= static_cast<double>(std::max<int64_t>(0, all - some - i)) / static_cast<double>(all - i);
  return none;
}

// The share of tokens that at least one of `here` consecutive experts gets. All choices of top_groups groups
// are equally likely, and so are all choices of top_k experts in them. If `here` is neither a divisor nor a
// multiple of the size of a group, groups are ignored.
double ShareWithOneOf(const ModelSize& m, int64_t here) {
  const int64_t group = m.experts / m.expert_groups;
  if (here % group != 0 && group % here != 0) return 1 - NoneOf(here, m.experts, m.top_k);
  const int64_t groups = std::max<int64_t>(1, here / group), of_group = std::min(here, group);
  double share = 0;
  for (int64_t taken = 1; taken <= std::min(groups, m.top_groups); ++taken) {
    const double likely = Choose(groups, taken) * Choose(m.expert_groups - groups, m.top_groups - taken) /
                          Choose(m.expert_groups, m.top_groups);
    share += likely * (1 - NoneOf(taken * of_group, m.top_groups * group, m.top_k));
  }
  return share;
}

Operation Of(Act act, const char* part, bool back = false) {
  Operation op;
  op.act = act;
  op.part = part;
  op.back = back;
  return op;
}

// GEMMs of all experts on a rank. `out_bytes`: of all ranks of etp, with a share of the features each.
int32_t ExpertProduct(const char* part, int64_t in, int64_t out, int64_t out_bytes, WeightMatrix::Cut cut,
                      BlockWriter* w) {
  Operation op = Of(Act::kExpertProduct, part);
  op.matrices = {{out, in, w->model().experts / w->split().ep, cut}};
  op.in = in;
  op.out = out;
  op.expert = true;
  op.weights = w->model().experts / w->split().ep * in * out;
  op.products = static_cast<double>(w->model().top_k * in * out);
  op.keeps_input = !w->training().frozen();
  op.keeps_cast = w->KeepsCast(part);
  op.out_bytes = op.gradient_bytes = out_bytes;
  return w->Add(op);
}

int32_t AddRouter(BlockWriter* w) {
  const ModelSize& m = w->model();
  Operation op = Of(Act::kRouter, "router");
  op.in = m.hidden;
  op.out = m.experts;
  op.weights = m.hidden * m.experts + (m.bias ? m.experts : 0) + (m.shared_gate ? m.hidden : 0);
  op.matrices = {{m.experts, m.hidden}};
  op.buffers = m.router_bias ? m.experts : 0;
  op.replicated = true;
  op.keeps_input = true;
  op.own_bytes = op.gradient_bytes = 4 * w->shared() * m.experts;
  return w->Add(op);
}

}  // namespace

// DeepEP and HybridEP send a token once to each node with one of its experts, and there once to each such
// rank (Zhao et al., "DeepEP", 2025).
int64_t RowsTo(const StepPlan& plan, int64_t places) {
  const ModelSize& m = plan.model;
  const int64_t all = plan.shared_tokens() * m.top_k;
  if (!plan.split.deep || plan.split.ep == 1) return all;
  const double copies = static_cast<double>(places) * ShareWithOneOf(m, m.experts / places);
  const double rows = std::ceil(static_cast<double>(plan.shared_tokens()) * copies - 1e-6);
  return std::min(all, static_cast<int64_t>(rows));
}

int64_t RowsOfExpert(const StepPlan& plan) {
  const int64_t rows = plan.shared_tokens() * plan.model.top_k * plan.split.etp;
  const int64_t experts = plan.model.experts / plan.split.ep;
  return std::max<int64_t>(1, (rows + experts - 1) / experts);
}

void DescribeExperts(BlockWriter* w) {
  const ModelSize& m = w->model();
  const Split& s = w->split();
  const int64_t h = m.expert_width(), ffn = m.expert_ffn / s.etp, wide = (m.gated ? 2 : 1) * ffn;
  const int64_t row = w->size() * w->shared() * m.top_k;  // bytes of a feature of the rows of this rank
  w->Begin("mlp.add", "mlp.post_norm");
  w->MlpNorm();
  const int32_t first = w->next(), input = w->current();
  if (m.shared_ffn > 0) {
    w->Add(Of(Act::kBranch, "shared"));
    const int32_t down = AddMlp(true, m.shared_ffn / s.tp, w);
    w->at(down).gradient_bytes = 0;  // the gradient of the sum with the experts' outputs
    w->at(first).other = w->next();
    w->Recompute(kSharedExperts, first + 1, w->next(), down, true);
    w->From(input);
  }
  AddRouter(w);
  if (m.expert_latent > 0) w->Product(Act::kWhole, "experts.latent_down", m.hidden, h);
  w->Add(Of(Act::kByToken, "experts.permute"));
  Operation dispatch = Of(Act::kDispatch, "experts.dispatch");
  dispatch.out_bytes = row * h * s.etp;
  dispatch.keeps_output = !w->KeepsCast("experts.up").has_value();
  w->Add(dispatch);
  w->Add(Of(Act::kByExpert, "experts.sort"));
  w->Add(Of(Act::kPad, "experts.pad"));
  Operation cast = Of(Act::kCast, "experts.up");
  cast.in = h;
  w->Add(cast);
  const int32_t up = ExpertProduct("experts.up", h, wide, row * wide * s.etp, WeightMatrix::kRows, w);
  if (m.gated) w->Fuses(up, {ffn, ffn}, Fused::kJoined);
  if (m.bias) w->at(up).weights += m.experts / s.ep * (h + wide);  // the biases of both GEMMs
  const int32_t clamp = w->Add(Of(Act::kClamp, "experts.activation"));
  Operation activation = Of(Act::kExpertActivation, "experts.activation");
  activation.keeps_input = true;
  activation.out_bytes = row * ffn * s.etp;
  w->Add(activation);
  cast = Of(Act::kCast, "experts.down", true);
  cast.in = ffn;
  w->Add(cast);
  const int32_t down = ExpertProduct("experts.down", ffn, h, row * h * s.etp, WeightMatrix::kColumns, w);
  w->at(down).back = true;
  w->Recompute(kExpertActivation, clamp, down, down, false);
  w->Add(Of(Act::kExpertBias, "experts.bias"));
  w->Add(Of(Act::kPad, "experts.pad", true));
  w->Add(Of(Act::kByExpert, "experts.sort", true));
  Operation combine = Of(Act::kDispatch, "experts.combine", true);
  combine.out_bytes = row * h;
  combine.keeps_output = true;
  w->Add(combine);
  Operation sum = Of(Act::kByToken, "experts.permute", true);
  sum.out_bytes = sum.gradient_bytes = w->size() * w->shared() * h;
  int32_t last = w->Add(sum);
  if (m.expert_latent > 0) last = w->Product(Act::kWhole, "experts.latent_up", h, m.hidden);
  if (m.shared_ffn > 0) {
    Operation join = Of(Act::kJoin, "shared.add");
    join.other = first;
    last = w->Add(join);
  }
  w->RecomputeNorm(last);
  w->Recompute(kMoe, first, w->next(), last, true);
  w->Recompute(kMlpUp, first, w->next(), last, true);
  w->End(2 * m.top_k * m.expert_ffn / s.tp);
}

}  // namespace chakra::generate
