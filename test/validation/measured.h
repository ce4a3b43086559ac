// The published measurements: collectives_measured.csv, row by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace chakra::validation {

struct MeasuredRow {
  std::string gpu;     // as in the file
  std::string source;  // who published it: the first word of the file's column
  int ranks = 0;
  int nodes = 0;
  uint64_t bytes = 0;
  double time_us = 0;
  double busbw = 0;            // GB/s
  int devices_per_thread = 1;  // of the nccl-tests run: 8 with -g 8, where one thread launches for a node
  std::string preset;          // the preset of the machine; empty if the row is left out
  std::string rule;            // for TableOptions::algorithm; empty: the library's own choice
  std::string left_out;        // why the row is not compared; empty if it is
};

// Reads all rows of the table, in order. Errors name the line, the column and the expected values.
absl::StatusOr<std::vector<MeasuredRow>> ParseMeasured(const std::string& text);

// Rows of one machine, source and number of ranks: one curve by size.
struct Subset {
  std::string preset;
  std::string source;
  int ranks = 0;
  std::vector<size_t> rows;   // by size, then as in the file
  std::string Label() const;  // "dgx-a100, vTrain, 8 GPUs"
};

// The subsets of the rows that are not left out, by preset, source and ranks.
std::vector<Subset> Subsets(const std::vector<MeasuredRow>& rows);

// "1 MiB", "32 KiB", "1000 B".
std::string SizeText(uint64_t bytes);

}  // namespace chakra::validation
