// Tables of numbers by name, and the differences between two tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/compare.pb.h"

namespace chakra {

// A whole or a real number.
struct Number {
  Number(__int128 n) : whole(n) {}              // NOLINT: implicit, so that numbers can be written directly
  Number(double x) : real(x), is_real(true) {}  // NOLINT
  Number(int32_t n) : whole(n) {}               // NOLINT
  Number(int64_t n) : whole(n) {}               // NOLINT
  Number(uint32_t n) : whole(n) {}              // NOLINT
  Number(uint64_t n) : whole(static_cast<__int128>(n)) {}  // NOLINT
  __int128 whole = 0;
  double real = 0;
  bool is_real = false;
};

struct ComparedRow {
  std::string name;
  std::vector<Number> numbers;     // one for each measure
  std::vector<std::string> texts;  // one for each of ComparedTable::texts
};

struct ComparedTable {
  std::string name;
  std::vector<std::string> measures;  // the most important first
  std::vector<std::string> texts;
  std::vector<ComparedRow> rows;
  bool cut = false;  // the table has only the most important rows
};

// a, b, b - a, and 100 (b - a) / |a|; no percentage if a is 0 and b is not.
proto::MeasureChange ChangeOf(const std::string& name, const Number& a, const Number& b);

// The differences of two tables. Rows pair by name. If several rows have the same name, the n-th of A pairs
// with the n-th of B and is called "NAME #n". Changes are sorted by |difference| of the first measure that
// differs in any row, the largest first; equal changes by length of the name, then by name. Precondition:
// both tables have the same measures and texts.
proto::Section DiffTables(const ComparedTable& a, const ComparedTable& b);

}  // namespace chakra
