// Aligned tables of plain text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/base/text_page.h"

namespace chakra {

// A column of a table whose author chose its widths. Cells are aligned right, or left.
struct TextColumn {
  std::string name;
  bool left = false;
  size_t width = 0;  // cells that are wider push what follows in their row; 0: as wide as the widest cell
  size_t gap = 1;    // blanks before it, unless it is the first
};

// Columns as wide as their widest cell, two blanks apart. Columns are aligned
// right, those in `left` left. Columns aligned left hold text, which a narrow page may shorten; numbers are
// never cut.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header, std::vector<bool> left);
  // Lines begin with `mark`, a character for the header and a blank for rows; "": with the first column.
  static TextTable OfWidths(std::vector<TextColumn> columns, std::string mark = "");

  void Add(std::vector<std::string> row);
  // A line of its own below the last row; there is one.
  void AddLine(std::string line);
  size_t rows() const { return rows_.size(); }

  // Every line indented by two blanks (not where widths were chosen) and ended by a newline. No trailing
  // blanks. Null or not limited: as wide as it gets. Else no line is wider than the page, unless a number is:
  // of these the first that is enough, headers in several lines; one blank between columns; texts shortened
  // in their middle; columns in several tables below each other, each with the columns that tell the rows
  // apart; a line for each cell.
  std::string Print(TextPage* page = nullptr) const;

 private:
  TextTable() = default;
  friend class FittedTable;
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> lines;  // below it
  };
  std::string PrintWhole() const;

  std::vector<TextColumn> columns_;
  size_t indent_ = 2;
  std::string mark_;
  std::vector<Row> rows_;
};

// 1234567 as "1,234,567".
std::string FormatCount(uint64_t n);

// `s` cut to `width` bytes with "..." in its middle, control characters as "?",
// an empty text as `empty`.
std::string Shorten(const std::string& s, size_t width, const std::string& empty);

}  // namespace chakra
