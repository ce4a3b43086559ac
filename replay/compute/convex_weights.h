// Expresses a point as a convex combination of nearby points.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace chakra {

struct Weight {
  size_t point = 0;
  double weight = 0;  // > 0
};

// Points of equal dimension, which may be 0. Coordinate j of point i is at i * dimension + j.
struct PointSet {
  size_t dimension = 0;
  size_t count = 0;
  std::vector<double> coordinates;
  double at(size_t point, size_t j) const { return coordinates[point * dimension + j]; }
};

// Returns the weights w >= 0, by ascending point, with sum 1, sum w_i p_i = x and the smallest possible sum
// w_i |p_i - x|^2. They are the weights for the cell of the Delaunay triangulation that contains x (Rajan,
// "Optimality of the Delaunay triangulation in R^d", 1994), so there are at most dimension + 1. nullopt: x is
// outside the convex hull by more than 1e-9 of the hull's size. `without` is a point to leave out; a number
// >= count leaves out none. Deterministic: if several cells are equally good (points of a grid), the result
// is always the same cell.
std::optional<std::vector<Weight>> ConvexWeights(const PointSet& points, const std::vector<double>& x,
                                                 size_t without);

}  // namespace chakra
