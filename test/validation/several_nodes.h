// All-reduces over several nodes against presets. Nothing is fitted to them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

struct NodesRow {
  uint64_t bytes = 0;
  double measured_us = 0;
  double preset_us = 0;
  double efa_us = 0;      // of aws-p6-b200, whose cards were measured
  std::string algorithm;  // the preset's, "tree/ll"
};

// 4 nodes of 8 B200 with EFA cards of 400 Gb/s, published bus bandwidths. Errors: those of CollectiveTable.
absl::StatusOr<std::vector<NodesRow>> PredictSeveralNodes();

std::string SeveralNodesMarkdown(const std::vector<NodesRow>& rows);

// Sizes whose time is the links' must agree.
std::vector<Finding> CheckSeveralNodes(const std::vector<NodesRow>& rows);

}  // namespace chakra::validation
