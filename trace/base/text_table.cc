#include "trace/base/text_table.h"

#include <algorithm>
#include <utility>

#include "trace/base/printable.h"

namespace chakra {

TextTable::TextTable(std::vector<std::string> header, std::vector<bool> left) {
  for (size_t c = 0; c < header.size(); ++c) columns_.push_back({std::move(header[c]), left[c], 0, 2});
}

TextTable TextTable::OfWidths(std::vector<TextColumn> columns, std::string mark) {
  TextTable table;
  table.columns_ = std::move(columns);
  table.indent_ = mark.size();
  table.mark_ = std::move(mark);
  return table;
}

void TextTable::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = Printable(cell);
  rows_.push_back({std::move(row), {}});
}

void TextTable::AddLine(std::string line) { rows_.back().lines.push_back(Printable(line)); }

std::string TextTable::PrintWhole() const {
  std::vector<size_t> width;
  std::vector<std::string> header;
  for (const TextColumn& column : columns_) {
    header.push_back(column.name);
    width.push_back(column.width > 0 ? column.width : column.name.size());
  }
  for (const Row& row : rows_) {
    for (size_t c = 0; c < row.cells.size(); ++c) {
      if (columns_[c].width == 0) width[c] = std::max(width[c], row.cells[c].size());
    }
  }
  const auto print = [&](const std::vector<std::string>& cells) {
    std::string line(indent_, ' ');
    for (size_t c = 0; c < cells.size(); ++c) {
      const size_t pad = width[c] - std::min(width[c], cells[c].size());
      line.append((c == 0 ? 0 : columns_[c].gap) + (columns_[c].left ? 0 : pad), ' ');
      line.append(cells[c]);
      if (columns_[c].left) line.append(pad, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  };
  std::string out = print(header);
  out.replace(0, mark_.size(), mark_);
  for (const Row& row : rows_) {
    out += print(row.cells);
    for (const std::string& line : row.lines) out += line + "\n";
  }
  return out;
}

std::string FormatCount(uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out.push_back(',');
    out.push_back(digits[i]);
  }
  return out;
}

std::string Shorten(const std::string& s, size_t width, const std::string& empty) {
  if (s.empty()) return empty;
  const std::string out = Printable(s);
  if (out.size() <= width) return out;
  const auto boundary = [&](size_t i) {
    while (i > 0 && (static_cast<unsigned char>(out[i]) & 0xc0) == 0x80) --i;
    return i;
  };
  const size_t head = boundary((width - 3) / 2);
  const size_t tail = boundary(out.size() - (width - 3 - head));
  return out.substr(0, head) + "..." + out.substr(tail);
}

}  // namespace chakra
