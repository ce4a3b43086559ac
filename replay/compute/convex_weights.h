// Where a point lies among others: the convex combination of near ones that gives it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace chakra {

struct Weight {
  size_t point = 0;
  double weight = 0;  // > 0
};

// Points of one dimension, which may be 0, one after another: coordinate j of point i is at i * dimension +
// j.
struct PointSet {
  size_t dimension = 0;
  size_t count = 0;
  std::vector<double> coordinates;
  double at(size_t point, size_t j) const { return coordinates[point * dimension + j]; }
};

// The weights w >= 0 of sum 1 with sum w_i p_i = x and the least sum w_i |p_i - x|^2, by ascending point:
// those of the cell of the Delaunay triangulation in which x lies (Rajan, "Optimality of the Delaunay
// triangulation in R^d", 1994), so at most dimension + 1 of them. nullopt: x lies outside the convex hull by
// more than 1e-9 of its size. `without` leaves one point out; pass a number >= count to leave out none.
// Deterministic; where cells tie (points of a grid), one of them, always the same.
std::optional<std::vector<Weight>> ConvexWeights(const PointSet& points, const std::vector<double>& x,
                                                 size_t without);

}  // namespace chakra
