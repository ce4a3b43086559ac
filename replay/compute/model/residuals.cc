// Looks up what the laws leave unexplained.
#include <algorithm>
#include <cmath>

#include "replay/compute/model/fits.h"

namespace chakra::laws {

char ResidualChar(double residual) {
  const long step = std::lround(residual / kResidualStep) + kResidualZero;
  return static_cast<char>('#' + std::clamp(step, 0L, 2L * kResidualZero));
}

Place PlaceOf(absl::Span<const double> nodes, double value) {
  if (!(value > nodes.front())) return {0, 0};
  if (value >= nodes.back()) return {nodes.size() - 2, 1};
  const size_t above = std::upper_bound(nodes.begin(), nodes.end(), value) - nodes.begin();
  return {above - 1, std::log(value / nodes[above - 1]) / std::log(nodes[above] / nodes[above - 1])};
}

double ResidualOf(const GemmFit& fit, const GemmCall& call) {
  if (fit.residuals.empty() || call.batch != 1) return 0;
  constexpr size_t kRows = std::size(kGemmRows), kSides = std::size(kGemmSides);
  const size_t row =
      std::min<size_t>(std::lower_bound(kGemmRows, kGemmRows + kRows, call.m) - kGemmRows, kRows - 1);
  const Place a = PlaceOf(kGemmSides, call.n), b = PlaceOf(kGemmSides, call.k);
  const char* cells = fit.residuals.data() + (row * kSides + a.at) * kSides + b.at;
  const double low = Residual(cells[0]) * (1 - b.share) + Residual(cells[1]) * b.share;
  const double high = Residual(cells[kSides]) * (1 - b.share) + Residual(cells[kSides + 1]) * b.share;
  return low * (1 - a.share) + high * a.share;
}

double ResidualOf(const AttentionFit& fit, const AttentionCall& call) {
  // Of the groups of the nearest head size that with the nearest window.
  size_t best = fit.groups.size();
  double least = HUGE_VAL;
  for (size_t g = 0; g < fit.groups.size(); ++g) {
    const AttentionGroup& group = fit.groups[g];
    const double window = call.window > 0 && call.window < call.seq + call.prefix ? call.window : 0;
    double far = (call.kv_heads < call.heads) == group.shared ? 0 : 3;
    far += 10 * std::abs(std::log(call.head_dim / group.head_dim));
    if ((window > 0) != (group.window > 0)) {
      far += 5;
    } else if (window > 0) {
      far += std::abs(std::log(window / group.window));
    }
    if (far < least) {
      least = far;
      best = g;
    }
  }
  if (best == fit.groups.size() || call.backward || !call.causal) return 0;
  constexpr size_t kLengths = std::size(kAttentionLengths), kHeads = std::size(kAttentionHeads);
  const Place a = PlaceOf(kAttentionLengths, call.seq), b = PlaceOf(kAttentionHeads, call.batch * call.heads);
  const char* cells = fit.residuals.data() + (best * kLengths + a.at) * kHeads + b.at;
  const double low = Residual(cells[0]) * (1 - b.share) + Residual(cells[1]) * b.share;
  const double high = Residual(cells[kHeads]) * (1 - b.share) + Residual(cells[kHeads + 1]) * b.share;
  return low * (1 - a.share) + high * a.share;
}

double ResidualOf(const MoeFit& fit, const MoeCall& call) {
  constexpr size_t kTokens = std::size(kMoeTokens);
  for (size_t g = 0; g < fit.groups.size(); ++g) {
    const MoeGroup& group = fit.groups[g];
    if (group.hidden != call.hidden || group.inter != call.inter || group.topk != call.topk ||
        group.experts != call.experts || group.tp != call.tp || group.ep != call.ep ||
        group.skewed != (call.power_law > 0)) {
      continue;
    }
    const Place a = PlaceOf(kMoeTokens, call.tokens);
    const char* cells = fit.residuals.data() + g * kTokens + a.at;
    return Residual(cells[0]) * (1 - a.share) + Residual(cells[1]) * a.share;
  }
  return 0;
}

}  // namespace chakra::laws
