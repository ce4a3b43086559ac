// Aligned tables of plain text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chakra {

// Columns as wide as their widest cell, two blanks apart. Columns are aligned
// right, those in `left` left.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header, std::vector<bool> left);
  void Add(std::vector<std::string> row);
  size_t rows() const { return rows_.size() - 1; }
  // Every line indented by two blanks and ended by a newline. No trailing blanks.
  std::string Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
  std::vector<bool> left_;
};

// 1234567 as "1,234,567".
std::string FormatCount(uint64_t n);

// `s` cut to `width` bytes with "..." in its middle, control characters as "?",
// an empty text as `empty`.
std::string Shorten(const std::string& s, size_t width, const std::string& empty);

}  // namespace chakra
