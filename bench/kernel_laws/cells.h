// Fills a table of residuals between whose cells is interpolated.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "replay/compute/model/residual_table.h"

namespace chakra::kernel_laws {

// A residual that was seen where cells count with weights, which add up to 1.
struct Seen {
  std::vector<std::pair<size_t, double>> cells;
  double residual = 0;
};

// Cells of an array of `sizes` (the last index fastest) that explain what was seen. Neighbours along an axis
// of weight `smooth` draw each other; far residuals count less (Huber). Columns of the table are
// the last index; its rows have `labels`.
laws::ResidualTable FillCells(const std::vector<size_t>& sizes, const std::vector<double>& smooth,
                              const std::vector<Seen>& seen, const std::vector<std::string>& labels);

}  // namespace chakra::kernel_laws
