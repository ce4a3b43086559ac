// NCCL's collectives on one node, with a thread for each GPU (nccl_one_node.csv), against presets, by band of
// size, collective and machine; and against laws only, with one machine left out at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

struct OneNodeRow {
  std::string gpu, collective, dtype;  // as in the file
  std::string preset;
  int ranks = 0;
  uint64_t bytes = 0;
  double time_us = 0;
};

// Errors name the line, the column and the expected values.
absl::StatusOr<std::vector<OneNodeRow>> ParseOneNode(const std::string& text);

// Each row's predicted time in us; 0: none. With `left_out`, a machine's kernels take the constants of the
// other generations (their geometric means; the rate of a channel with LL as a share of the rate that NCCL's
// tuner allows), and its links take the constants of its data sheet. PCIe machines then have no prediction:
// the file has no machine like them.
absl::StatusOr<std::vector<double>> PredictOneNode(const std::vector<OneNodeRow>& rows, bool left_out);

// A table by machine, collective and band, with medians of both predictions.
std::string OneNodeMarkdown(const std::vector<OneNodeRow>& rows, const std::vector<double>& presets,
                            const std::vector<double>& left_out);

// The figures that presets must reach: medians by band, the share of rows within 30 %, each cell of the
// table.
std::vector<Finding> CheckOneNode(const std::vector<OneNodeRow>& rows, const std::vector<double>& presets);

}  // namespace chakra::validation
