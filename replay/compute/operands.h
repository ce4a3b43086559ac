// What an operator was called with, read from the texts of a trace: inputs.shapes and inputs.types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

using Shape = std::vector<int64_t>;

struct Operand {
  // One for a tensor, one a tensor for a list of them, none for what is no tensor.
  std::vector<Shape> shapes;
  int element_bytes = 0;    // 0: not known
  absl::string_view dtype;  // "fp64", "fp32", "bf16", "fp16", "fp8", "int8"; "": none of these
  bool list = false;
  bool tensor() const { return !shapes.empty() && !list; }
};

// Both texts are lists as PyTorch prints them: shapes "[[8, 4], [], [[2], [3]]]", types
// "['Tensor(float)', 'Int', 'GenericList[Tensor(float),Tensor(float)]']" of the host trace or
// "[\"float\", \"Scalar\", \"TensorList\"]" of Kineto. Without types, every shape of at least one dimension
// is a tensor. Errors (InvalidArgument): a text that is no such list, with the byte at fault; a negative
// dimension; shapes and types of unequal length; nesting deeper than lists of shapes.
absl::StatusOr<std::vector<Operand>> ParseOperands(absl::string_view shapes, absl::string_view types);

// The dtype of the first tensor that `types` (inputs.types of a node) gives an arithmetic type: "fp64",
// "fp32", "bf16", "fp16", "fp8" or "int8"; "" when none does.
absl::string_view DtypeOf(absl::string_view types);

// Bytes of an element of a dtype by the names of DtypeOf and "tf32" (4); 0: not one of these.
int BytesOfDtype(absl::string_view dtype);

// Elements of a tensor; 1 for a scalar.
double Elements(const Shape& shape);

}  // namespace chakra
