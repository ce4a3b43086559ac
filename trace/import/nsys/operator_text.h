// Reads PyTorch operators from the texts of NVTX ranges (torch.autograd.profiler.emit_nvtx, nsys --pytorch).
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra::nsys {

// "aten::mm, seq = 12, op_id = 7, sizes = [[8, 4], [4, 2]], input_op_ids = [(5,0), ...]": all parts but the
// name are optional (PyTorch's getNvtxStr, torch/csrc/profiler/util.cpp).
struct OperatorText {
  absl::string_view name;
  int64_t seq = -1;
  std::string shapes;  // in the form of Kineto's "Input Dims": "[[8,4],[4,2]]"; "": not recorded
};

// Returns false if the text is not that of an operator.
bool ReadOperatorText(absl::string_view text, OperatorText* out);

}  // namespace chakra::nsys
