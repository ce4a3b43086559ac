// Prints aligned tables as plain text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/base/text_page.h"

namespace chakra {

// A column of a table with fixed widths. Cells are aligned right unless `left` is set.
struct TextColumn {
  std::string name;
  bool left = false;
  size_t width = 0;  // a wider cell pushes the rest of its row to the right; 0: as wide as the widest cell
  size_t gap = 1;    // blanks before the column, unless it is the first
};

// A table whose columns are as wide as their widest cells, with two blanks between columns. Columns are
// aligned right, except those that `left` marks. Columns aligned left hold text, which may be shortened on a
// narrow page; numbers are never cut.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header, std::vector<bool> left);
  // A table with the given columns. The header line begins with `mark`, and every row with blanks in its
  // place. If `mark` is "", lines begin with the first column.
  static TextTable OfWidths(std::vector<TextColumn> columns, std::string mark = "");

  // Adds a row. Cells, and the lines of AddLine(), are printed as Printable() returns them (printable.h).
  void Add(std::vector<std::string> row);
  // Adds a line of text below the last row. Precondition: the table has a row.
  void AddLine(std::string line);
  size_t rows() const { return rows_.size(); }

  // Prints the table. Every line ends with a newline and has no trailing blanks; lines are indented by two
  // blanks, except with OfWidths(). If `page` is null or not limited, the table is as wide as its cells.
  // Otherwise no line is wider than the page, unless a single number is wider. Print() chooses the first of
  // these layouts that fits: headers on several lines; one blank between columns, and texts shortened in
  // their middle; several tables below each other, each with the columns that identify the rows; one line for
  // each cell.
  std::string Print(TextPage* page = nullptr) const;

 private:
  TextTable() = default;
  friend class FittedTable;
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> lines;  // printed below the row
  };
  std::string PrintWhole() const;

  std::vector<TextColumn> columns_;
  size_t indent_ = 2;
  std::string mark_;
  std::vector<Row> rows_;
};

// Formats 1234567 as "1,234,567".
std::string FormatCount(uint64_t n);

// Returns Printable(s), cut to `width` bytes with "..." in its middle. Returns `empty` if `s` is empty.
std::string Shorten(const std::string& s, size_t width, const std::string& empty);

}  // namespace chakra
