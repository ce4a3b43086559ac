#include "trace/text_table.h"

#include <algorithm>
#include <utility>

namespace chakra {

TextTable::TextTable(std::vector<std::string> header, std::vector<bool> left) : left_(std::move(left)) {
  rows_.push_back(std::move(header));
}

void TextTable::Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string TextTable::Print() const {
  std::vector<size_t> width(rows_[0].size(), 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const size_t pad = width[c] - row[c].size();
      line.append(left_[c] ? 2 : 2 + pad, ' ');
      line.append(row[c]);
      if (left_[c]) line.append(pad, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
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
  std::string out = s;
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
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
