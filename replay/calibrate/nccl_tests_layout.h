// The columns of a printed table. Internal to the readers of this folder.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "replay/calibrate/nccl_tests_rows.h"

namespace chakra::nccl_tests {

enum class LogColumn : uint8_t {
  kSize,
  kCount,
  kType,
  kRedop,
  kRoot,
  kTime,  // begins a half of the row
  kCpuTime,
  kAlg,
  kBus,
  kWrong,
  kStat,  // i_min, i_max, i_p99, i_cv%
  kAlgorithm,
  kProtocol,
  kChannels,
  kOther,
};

struct Layout {
  std::vector<LogColumn> columns;  // empty: no header was seen
  bool milliseconds = false;       // times are in milliseconds
  bool only_out_of_place = false;  // a single half is out-of-place

  // Returns false if `tokens` are not a header.
  static bool OfHeader(const std::vector<absl::string_view>& tokens, Layout* out);
};

// Reads a row with `layout`, or without a header with the known layout that fits. Returns the fault of the
// row, or "".
std::string ReadRow(const std::vector<absl::string_view>& tokens, const Layout& layout, Row* row);

}  // namespace chakra::nccl_tests
