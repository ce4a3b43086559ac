// Fills a table of residuals between whose cells is interpolated.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace chakra::kernel_laws {

// A residual that was seen where cells count with weights, which add up to 1.
struct Seen {
  std::vector<std::pair<size_t, double>> cells;
  double residual = 0;
};

// Cells of an array of `sizes` (the last index fastest) that explain what was seen. Neighbours along an axis
// of weight `smooth` draw each other; far residuals count less (Huber). Cells as characters
// (laws::ResidualChar).
std::string FillCells(const std::vector<size_t>& sizes, const std::vector<double>& smooth,
                      const std::vector<Seen>& seen);

}  // namespace chakra::kernel_laws
