// Fills a table of residuals for interpolation between its cells.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "replay/compute/model/residual_table.h"

namespace chakra::kernel_laws {

// An observed residual at a place where cells count with weights, which add up to 1.
struct Seen {
  std::vector<std::pair<size_t, double>> cells;
  double residual = 0;
};

// Cells of an array of `sizes` (the last index fastest) that explain the observed residuals. Neighbours along
// an axis of weight `smooth` attract each other; large residuals count less (Huber). Columns of the table are
// the last index; its rows have `labels`.
laws::ResidualTable FillCells(const std::vector<size_t>& sizes, const std::vector<double>& smooth,
                              const std::vector<Seen>& seen, const std::vector<std::string>& labels);

}  // namespace chakra::kernel_laws
