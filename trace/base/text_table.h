// Aligned tables of plain text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/base/text_page.h"

namespace chakra {

// A column of a table whose author chose the widths. Cells are aligned right unless `left` is set.
struct TextColumn {
  std::string name;
  bool left = false;
  size_t width = 0;  // a wider cell pushes the rest of its row to the right; 0: as wide as the widest cell
  size_t gap = 1;    // blanks before the column, unless it is the first
};

// Columns as wide as their widest cell, two blanks apart. Columns are aligned right, except those that `left`
// marks. Columns aligned left hold text, which a narrow page may shorten; numbers are never cut.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header, std::vector<bool> left);
  // The header begins with `mark`, one character, and each row with a blank in its place; with "" lines begin
  // with the first column.
  static TextTable OfWidths(std::vector<TextColumn> columns, std::string mark = "");

  // Cells are printed as Printable() has them (printable.h), and so are lines.
  void Add(std::vector<std::string> row);
  // Adds a line of text below the last row. Precondition: the table has a row.
  void AddLine(std::string line);
  size_t rows() const { return rows_.size(); }

  // Every line ends with a newline, has no trailing blanks, and is indented by two blanks unless widths were
  // chosen. If `page` is null or not limited, the table is as wide as its cells. Otherwise no line is wider
  // than the page, unless a single number is: Print() takes the first of these layouts that fits: headers in
  // several lines; one blank between columns; texts shortened in their middle; several tables below each
  // other, each with the columns that tell the rows apart; one line for each cell.
  std::string Print(TextPage* page = nullptr) const;

 private:
  TextTable() = default;
  friend class FittedTable;
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> lines;  // below the row
  };
  std::string PrintWhole() const;

  std::vector<TextColumn> columns_;
  size_t indent_ = 2;
  std::string mark_;
  std::vector<Row> rows_;
};

// 1234567 as "1,234,567".
std::string FormatCount(uint64_t n);

// `s` as Printable() has it, cut to `width` bytes with "..." in its middle. An empty `s` becomes `empty`.
std::string Shorten(const std::string& s, size_t width, const std::string& empty);

}  // namespace chakra
