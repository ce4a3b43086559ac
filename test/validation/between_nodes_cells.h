// Tables of errors by band of sizes, for the pages of calls between nodes.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "test/validation/between_nodes.h"

namespace chakra::validation {

using Cells = std::array<std::vector<double>, kNodesBands.size()>;  // errors by band

double MedianAbsolute(std::vector<double> errors);

template <typename KeyOf>
auto CellsBy(const std::vector<NodesCall>& calls, const KeyOf& key_of) {
  std::map<decltype(key_of(calls[0])), Cells> cells;
  for (const NodesCall& c : calls) cells[key_of(c)][NodesBand(c.bytes)].push_back(c.Error());
  return cells;
}

// The head of a table of `count` columns and one column for each band.
void AppendTableHead(const std::string& columns, size_t count, std::string* out);

// "+3, 12 (66)" for each band, or "-".
void AppendCells(const std::string& head, const Cells& cells, std::string* out);

}  // namespace chakra::validation
