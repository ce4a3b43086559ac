#include "replay/compute/convex_weights.h"

#include <algorithm>
#include <cmath>

namespace chakra {
namespace {

constexpr double kTiny = 1e-9;  // tolerance for coordinates, which are scaled to at most 1
constexpr int kMaxPivots = 2000;
constexpr int kStalled =
    50;  // pivots without progress, after which Bland's rule (which cannot cycle) is used

// Solves the linear program of ConvexWeights() with the revised simplex method. Constraints: one row for each
// coordinate, relative to x and scaled, and a row for the sum of the weights. Columns from `count` on are
// artificial, one for each row.
class FaceWalk {
 public:
  FaceWalk(const PointSet& points, const std::vector<double>& x, size_t without)
      : points_(points), x_(x), without_(without), rows_(points.dimension + 1), scale_(points.dimension, 0) {
    for (size_t i = 0; i < points.count; ++i) {
      for (size_t j = 0; j < points.dimension; ++j) {
        scale_[j] = std::max(scale_[j], std::abs(points.at(i, j) - x[j]));
      }
    }
    inverse_.assign(rows_ * rows_, 0);
    for (size_t r = 0; r < rows_; ++r) inverse_[r * rows_ + r] = 1;
    for (size_t r = 0; r < rows_; ++r) basis_.push_back(points.count + r);
    level_.assign(rows_, 0);
    level_[rows_ - 1] = 1;
    cost_.assign(points.count, 0);
    column_.resize(rows_);
    price_.resize(rows_);
  }

  // Returns false if there is no solution, since x is outside the hull.
  bool Feasible() {
    artificial_cost_ = 1;
    if (!Minimize()) return false;
    double infeasible = 0;
    for (size_t r = 0; r < rows_; ++r) {
      if (artificial(basis_[r])) infeasible += level_[r];
    }
    if (infeasible > kTiny) return false;
    for (size_t r = 0; r < rows_; ++r) {
      if (artificial(basis_[r])) DriveOut(r);
    }
    return true;
  }

  bool Nearest() {
    artificial_cost_ = 0;
    for (size_t i = 0; i < points_.count; ++i) {
      for (size_t j = 0; j < points_.dimension; ++j) {
        const double d = points_.at(i, j) - x_[j];
        cost_[i] += d * d;
      }
    }
    const double most = *std::max_element(cost_.begin(), cost_.end());
    if (most > 0) {
      for (double& c : cost_) c /= most;
    }
    return Minimize();
  }

  std::vector<Weight> Weights() const {
    std::vector<Weight> weights;
    double sum = 0;
    for (size_t r = 0; r < rows_; ++r) {
      if (artificial(basis_[r]) || level_[r] <= 1e-12) continue;
      weights.push_back({basis_[r], level_[r]});
      sum += level_[r];
    }
    for (Weight& w : weights) w.weight /= sum;
    std::sort(weights.begin(), weights.end(),
              [](const Weight& a, const Weight& b) { return a.point < b.point; });
    return weights;
  }

 private:
  bool artificial(size_t column) const { return column >= points_.count; }

  double Entry(size_t row, size_t point) const {
    if (row + 1 == rows_) return 1;
    return scale_[row] > 0 ? (points_.at(point, row) - x_[row]) / scale_[row] : 0;
  }

  // Sets column_ to the inverse of the basis times the point's column.
  void Solve(size_t point) {
    for (size_t r = 0; r < rows_; ++r) {
      double sum = 0;
      for (size_t k = 0; k < rows_; ++k) sum += inverse_[r * rows_ + k] * Entry(k, point);
      column_[r] = sum;
    }
  }

  void Pivot(size_t row, size_t point) {
    const double pivot = column_[row];
    for (size_t k = 0; k < rows_; ++k) inverse_[row * rows_ + k] /= pivot;
    level_[row] /= pivot;
    for (size_t r = 0; r < rows_; ++r) {
      if (r == row || column_[r] == 0) continue;
      for (size_t k = 0; k < rows_; ++k) inverse_[r * rows_ + k] -= column_[r] * inverse_[row * rows_ + k];
      level_[r] = std::max(0.0, level_[r] - column_[r] * level_[row]);
    }
    basis_[row] = point;
  }

  // Replaces an artificial column at level 0 by a point with a nonzero entry in its row. If there is no such
  // point, the row is redundant and keeps the artificial column.
  void DriveOut(size_t row) {
    size_t best = points_.count;
    double most = 1e-7;
    for (size_t i = 0; i < points_.count; ++i) {
      if (i == without_ || InBasis(i)) continue;
      double sum = 0;
      for (size_t k = 0; k < rows_; ++k) sum += inverse_[row * rows_ + k] * Entry(k, i);
      if (std::abs(sum) <= most) continue;
      most = std::abs(sum);
      best = i;
    }
    if (best == points_.count) return;
    level_[row] = 0;
    Solve(best);
    Pivot(row, best);
  }

  bool InBasis(size_t point) const { return std::find(basis_.begin(), basis_.end(), point) != basis_.end(); }

  double Cost(size_t column) const { return artificial(column) ? artificial_cost_ : cost_[column]; }

  // The point that lowers the cost most, or, with `first`, the first point that lowers it; `count`: none.
  size_t Entering(bool first) {
    for (size_t k = 0; k < rows_; ++k) {
      price_[k] = 0;
      for (size_t r = 0; r < rows_; ++r) price_[k] += Cost(basis_[r]) * inverse_[r * rows_ + k];
    }
    size_t best = points_.count;
    double least = -kTiny;
    for (size_t i = 0; i < points_.count; ++i) {
      if (i == without_) continue;
      double reduced = cost_[i];
      for (size_t k = 0; k < rows_; ++k) reduced -= price_[k] * Entry(k, i);
      if (reduced >= least || InBasis(i)) continue;
      best = i;
      if (first) break;
      least = reduced;
    }
    return best;
  }

  // The row that limits the entering point; among equal rows, the row with the lowest column. rows_: none.
  size_t Leaving() const {
    size_t best = rows_;
    double least = 0;
    for (size_t r = 0; r < rows_; ++r) {
      // An artificial column at level 0 must stay at 0.
      const bool held = artificial_cost_ == 0 && artificial(basis_[r]) && std::abs(column_[r]) > kTiny;
      if (!held && column_[r] <= kTiny) continue;
      const double ratio = held ? 0 : level_[r] / column_[r];
      if (best == rows_ || ratio < least || (ratio == least && basis_[r] < basis_[best])) {
        best = r;
        least = ratio;
      }
    }
    return best;
  }

  // Returns false if the method did not converge. That was never observed, but no answer is better than a
  // wrong one.
  bool Minimize() {
    int stalled = 0;
    for (int i = 0; i < kMaxPivots; ++i) {
      const size_t point = Entering(stalled > kStalled);
      if (point == points_.count) return true;
      Solve(point);
      const size_t row = Leaving();
      if (row == rows_) return false;
      stalled = level_[row] > kTiny ? 0 : stalled + 1;
      Pivot(row, point);
    }
    return false;
  }

  const PointSet& points_;
  const std::vector<double>& x_;
  const size_t without_;
  const size_t rows_;
  std::vector<double> scale_;
  std::vector<double> inverse_;  // inverse of the basis, row by row
  std::vector<size_t> basis_;    // the column of each row
  std::vector<double> level_;    // the value of each row's column
  std::vector<double> cost_;
  std::vector<double> column_, price_;
  double artificial_cost_ = 1;
};

}  // namespace

std::optional<std::vector<Weight>> ConvexWeights(const PointSet& points, const std::vector<double>& x,
                                                 size_t without) {
  if (points.count == 0 || (points.count == 1 && without == 0)) return std::nullopt;
  FaceWalk simplex(points, x, without);
  if (!simplex.Feasible() || !simplex.Nearest()) return std::nullopt;
  std::vector<Weight> weights = simplex.Weights();
  if (weights.empty()) return std::nullopt;
  return weights;
}

}  // namespace chakra
