// Median errors, and the tables that show them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/validation/measured.h"
#include "test/validation/predict.h"

namespace chakra::validation {

// The least size that counts as large.
inline constexpr uint64_t kLarge = uint64_t{1} << 20;

// The medians of |error| of rows from kLarge up, and of rows below.
struct Medians {
  std::optional<double> large, small;  // none without rows
  size_t large_rows = 0, small_rows = 0;
};

Medians MediansOf(const PredictedColumn& column, const std::vector<MeasuredRow>& rows,
                  const std::vector<size_t>& of);

// The rows that are compared, by index.
std::vector<size_t> Compared(const std::vector<MeasuredRow>& rows);

// Every row of the file, in its order, with four cells for each column.
std::string CsvTable(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns);

// The medians of all rows and of each subset, the worst rows, the rows left out, and `notes` as a list at the
// end.
std::string Markdown(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns,
                     const std::vector<std::string>& notes);

}  // namespace chakra::validation
