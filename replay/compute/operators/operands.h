// The operands of an operator's call, parsed from inputs.shapes and inputs.types of a node of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

using Shape = std::vector<int64_t>;

struct Operand {
  // One shape for a tensor, one for each tensor of a list, none for an operand that is not a tensor.
  std::vector<Shape> shapes;
  int element_bytes = 0;    // 0: unknown
  // "fp64", "fp32", "bf16", "fp16", "fp8", "fp4" (an element is a pair of 4 bits), "int8"; "": any other
  absl::string_view dtype;
  bool list = false;
  bool tensor() const { return !shapes.empty() && !list; }
};

// Both texts are lists as PyTorch prints them. Shapes: "[[8, 4], [], [[2], [3]]]". Types: "['Tensor(float)',
// 'Int', 'GenericList[Tensor(float),Tensor(float)]']" of the host trace, or "[\"float\", \"Scalar\",
// \"TensorList\"]" of Kineto. Without types, every shape of at least one dimension is a tensor. Errors
// (InvalidArgument): a text that is not such a list (the error names the byte); a negative dimension; shapes
// and types of unequal length; nesting deeper than lists of shapes.
absl::StatusOr<std::vector<Operand>> ParseOperands(absl::string_view shapes, absl::string_view types);

// The dtype of the first tensor in `types` (inputs.types of a node) that has an arithmetic type: "fp64",
// "fp32", "bf16", "fp16", "fp8", "fp4" or "int8"; "" if there is none.
absl::string_view DtypeOf(absl::string_view types);

// The bytes of an element of a dtype: one of the names that DtypeOf() returns, or "tf32" (4). Of "fp4", those
// of a pair. 0 for any other name.
int BytesOfDtype(absl::string_view dtype);

// The number of elements of a tensor; 1 for a scalar.
double Elements(const Shape& shape);

}  // namespace chakra
