// A table of residuals as a file has it: rows of equal length, each with a label, ":" and kCell characters
// for each number. Any number is found without reading the others.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace chakra::laws {

// Residuals are ln(measured / law), stored as whole numbers of steps.
inline constexpr double kResidualStep = 0.02;
inline constexpr int kMostResidualSteps = 45;  // up or down
int ResidualStepsOf(double residual);          // the nearest number of steps

class ResidualTable {
 public:
  static constexpr size_t kCell = 4;  // characters of a number, with leading blanks

  ResidualTable() = default;
  // `text` consists of whole lines and must outlive the table. If the lines are not of equal length with
  // `columns` numbers each, the table has no rows.
  ResidualTable(absl::string_view text, size_t columns);
  // A row for each label.
  ResidualTable(absl::Span<const std::string> labels, absl::Span<const int> steps, size_t columns);

  absl::string_view text() const { return text_; }
  size_t rows() const { return rows_; }
  absl::string_view Label(size_t row) const;  // without trailing blanks
  int Steps(size_t row, size_t column) const {
    const char* cell = cells_ + row * length_ + column * kCell;
    const int number = (cell[2] >= '0' ? 10 * (cell[2] - '0') : 0) + (cell[3] - '0');
    return cell[1] == '-' || cell[2] == '-' ? -number : number;
  }
  double Residual(size_t row, size_t column) const { return Steps(row, column) * kResidualStep; }

 private:
  std::shared_ptr<const std::string> own_;  // the text of `text_`; null: the text is not owned
  absl::string_view text_;
  const char* cells_ = nullptr;  // of the first row, after its label
  size_t label_ = 0, length_ = 0, rows_ = 0;
};

}  // namespace chakra::laws
