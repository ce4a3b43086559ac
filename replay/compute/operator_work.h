// How many operations an operator does and how many bytes it moves, from the shapes of its inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "replay/compute/operands.h"

namespace chakra {

struct OperatorWork {
  double operations = 0;  // multiplications and additions, each counted; 0: none worth counting
  double bytes = 0;       // that it must read and write at least once; 0: not known
  bool exact = true;      // false: a bound, since the shapes alone do not tell (see the registry)
};

// Of an operator of PyTorch by its name, "aten::mm" or "mm". nullopt: it is not in the registry
// (operator_work.cc), or the operands do not fit it. Operands whose element is not known count
// `unknown_element_bytes`; 0: then `bytes` is not known.
std::optional<OperatorWork> WorkOfOperator(absl::string_view name, const std::vector<Operand>& operands,
                                           int unknown_element_bytes);

// The same from the texts of a node; nullopt too where they do not parse.
std::optional<OperatorWork> WorkOfOperator(absl::string_view name, absl::string_view shapes,
                                           absl::string_view dtypes, int unknown_element_bytes);

// Of a kernel: of its operator `op`, where that is given, else of its name. A kernel without an operator
// whose name has "gemm" or "matmul" in it, as those of libraries have, is a product of its operands, where
// they fit one.
std::optional<OperatorWork> WorkOfKernel(absl::string_view name, absl::string_view op,
                                         absl::string_view shapes, absl::string_view dtypes,
                                         int unknown_element_bytes);

// All names of the registry, without "aten::", in its order.
std::vector<std::string> KnownOperators();

}  // namespace chakra
