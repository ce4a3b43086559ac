#include "bench/kernel_laws/cells.h"

#include <algorithm>
#include <cmath>

namespace chakra::kernel_laws {
namespace {

constexpr double kHuber = 0.08;  // larger residuals count in proportion to this
constexpr int kSweeps = 40;

}  // namespace

laws::ResidualTable FillCells(const std::vector<size_t>& sizes, const std::vector<double>& smooth,
                              const std::vector<Seen>& seen, const std::vector<std::string>& labels) {
  size_t count = 1;
  for (size_t s : sizes) count *= s;
  std::vector<double> cell(count, 0.0), found(seen.size(), 0.0);
  std::vector<std::vector<std::pair<size_t, double>>> of_cell(count);
  for (size_t s = 0; s < seen.size(); ++s) {
    for (const auto& [at, weight] : seen[s].cells) of_cell[at].push_back({s, weight});
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t i = 0; i < count; ++i) {
      double sum = 0, weights = 0;
      for (const auto& [s, weight] : of_cell[i]) {
        const double off = seen[s].residual - found[s];
        const double trust = std::min(1.0, kHuber / std::max(1e-9, std::abs(off)));
        sum += trust * weight * (off + weight * cell[i]);
        weights += trust * weight * weight;
      }
      size_t stride = count;
      for (size_t axis = 0; axis < sizes.size(); ++axis) {
        stride /= sizes[axis];
        const size_t at = i / stride % sizes[axis];
        for (int side : {-1, 1}) {
          if (side < 0 ? at == 0 : at + 1 == sizes[axis]) continue;
          sum += smooth[axis] * cell[side < 0 ? i - stride : i + stride];
          weights += smooth[axis];
        }
      }
      if (weights <= 0) continue;
      const double value = sum / weights;
      for (const auto& [s, weight] : of_cell[i]) found[s] += weight * (value - cell[i]);
      cell[i] = value;
    }
  }
  std::vector<int> steps;
  for (double c : cell) steps.push_back(laws::ResidualStepsOf(c));
  return laws::ResidualTable(labels, steps, sizes.back());
}

}  // namespace chakra::kernel_laws
