#include "test/validation/between_nodes_cells.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/median.h"

namespace chakra::validation {

double MedianAbsolute(std::vector<double> errors) {
  for (double& e : errors) e = std::abs(e);
  return Median(std::move(errors));
}

void AppendTableHead(const std::string& columns, size_t count, std::string* out) {
  absl::StrAppend(out, "\n| ", columns);
  for (const char* band : kNodesBands) absl::StrAppend(out, " | ", band);
  absl::StrAppend(out, " |\n|");
  for (size_t i = 0; i < count + kNodesBands.size(); ++i) absl::StrAppend(out, "---|");
  absl::StrAppend(out, "\n");
}

void AppendCells(const std::string& head, const Cells& cells, std::string* out) {
  absl::StrAppend(out, "| ", head, " |");
  for (const std::vector<double>& errors : cells) {
    if (errors.empty()) {
      absl::StrAppend(out, " - |");
    } else {
      absl::StrAppendFormat(out, " %+.0f, %.0f (%d) |", 100 * Median(errors), 100 * MedianAbsolute(errors),
                            errors.size());
    }
  }
  absl::StrAppend(out, "\n");
}

}  // namespace chakra::validation
