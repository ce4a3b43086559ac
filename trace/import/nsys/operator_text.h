// PyTorch's operators as the texts of NVTX ranges (torch.autograd.profiler.emit_nvtx, nsys --pytorch).
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra::nsys {

// "aten::mm, seq = 12, op_id = 7, sizes = [[8, 4], [4, 2]], input_op_ids = [(5,0), ...]": each part but the
// name may be absent (PyTorch's getNvtxStr, torch/csrc/profiler/util.cpp).
struct OperatorText {
  absl::string_view name;
  int64_t seq = -1;
  std::string shapes;  // as Kineto writes "Input Dims": "[[8,4],[4,2]]"; "": not told
};

// False: the text is no operator's.
bool ReadOperatorText(absl::string_view text, OperatorText* out);

}  // namespace chakra::nsys
