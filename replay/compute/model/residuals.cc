// Looks up residuals, which the laws leave unexplained.
#include <algorithm>
#include <cmath>

#include "replay/compute/model/fit_file.h"
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

// Interpolates between the four cells around `a` along rows and `b` along columns.
double Interpolated(const ResidualTable& table, size_t first_row, const Place& a, const Place& b) {
  const size_t row = first_row + a.at, column = b.at;
  const double low = table.Residual(row, column) * (1 - b.share) + table.Residual(row, column + 1) * b.share;
  const double high =
      table.Residual(row + 1, column) * (1 - b.share) + table.Residual(row + 1, column + 1) * b.share;
  return low * (1 - a.share) + high * a.share;
}

}  // namespace

Place PlaceOf(absl::Span<const double> nodes, double value) {
  if (!(value > nodes.front())) return {0, 0};
  if (value >= nodes.back()) return {nodes.size() - 2, 1};
  const size_t above = std::upper_bound(nodes.begin(), nodes.end(), value) - nodes.begin();
  return {above - 1, std::log(value / nodes[above - 1]) / std::log(nodes[above] / nodes[above - 1])};
}

double ResidualOf(const GemmFit& fit, const GemmCall& call) {
  if (fit.residuals.rows() == 0 || call.batch != 1) return 0;
  constexpr size_t kRows = std::size(kGemmRows), kSides = std::size(kGemmSides);
  const size_t row =
      std::min<size_t>(std::lower_bound(kGemmRows, kGemmRows + kRows, call.m) - kGemmRows, kRows - 1);
  return Interpolated(fit.residuals, row * kSides, PlaceOf(kGemmSides, call.n), PlaceOf(kGemmSides, call.k));
}

double ResidualOf(const AttentionFit& fit, const AttentionCall& call) {
  // The group of the nearest head size, and among these with the nearest window.
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
  return Interpolated(fit.residuals, best * std::size(kAttentionLengths),
                      PlaceOf(kAttentionLengths, call.seq),
                      PlaceOf(kAttentionHeads, call.batch * call.heads));
}

double ResidualOf(const MoeFit& fit, const MoeCall& call) {
  const MoeGroup group = MoeGroupOf(call);
  size_t row = 0;
  for (size_t end = fit.residuals.rows(); row < end;) {
    const size_t middle = row + (end - row) / 2;
    if (MoeGroupOfLabel(fit.residuals.Label(middle)) < group) {
      row = middle + 1;
    } else {
      end = middle;
    }
  }
  if (row == fit.residuals.rows() || MoeGroupOfLabel(fit.residuals.Label(row)) != group) return 0;
  const Place a = PlaceOf(kMoeTokens, call.tokens);
  return fit.residuals.Residual(row, a.at) * (1 - a.share) + fit.residuals.Residual(row, a.at + 1) * a.share;
}

}  // namespace chakra::laws
