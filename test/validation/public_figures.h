// Published collectives of one NVLink domain, on machines and sizes beyond nccl_one_node.csv, against
// presets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

struct PublicRow {
  std::string preset, collective;
  int ranks = 0;
  uint64_t bytes = 0;
  double measured_us = 0;
  double predicted_us = 0;
  std::string algorithm;  // the preset's, "ring/ll"
  int source = 0;         // its place in the list of sources
};

// Errors: those of CollectiveTable.
absl::StatusOr<std::vector<PublicRow>> PredictPublicFigures();

std::string PublicFiguresMarkdown(const std::vector<PublicRow>& rows);

// Bounds on the median error of each source, and of all rows.
std::vector<Finding> CheckPublicFigures(const std::vector<PublicRow>& rows);

}  // namespace chakra::validation
