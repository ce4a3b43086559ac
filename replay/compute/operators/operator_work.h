// Counts the operations of an operator, and the bytes that it moves, from the shapes of its inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "replay/compute/operators/operands.h"

namespace chakra {

namespace operator_rules {
class Call;
}

struct OperatorWork {
  double operations = 0;  // multiplications and additions, each counted; 0: negligible
  double bytes = 0;       // bytes that must be read and written at least once; 0: unknown
  bool exact = true;  // false: an upper bound, since shapes alone do not determine the work (see the rules)
};

// The work of an operator of PyTorch, given by name, such as "aten::mm" or "mm". nullopt: the registry
// (operator_work.cc) does not have the operator, or the operands do not fit. Elements of unknown type count
// as `unknown_element_bytes` bytes; if this is 0, `bytes` is unknown too.
std::optional<OperatorWork> WorkOfOperator(absl::string_view name, const std::vector<Operand>& operands,
                                           int unknown_element_bytes);

// The same, from the texts of a node; nullopt also if the texts do not parse.
std::optional<OperatorWork> WorkOfOperator(absl::string_view name, absl::string_view shapes,
                                           absl::string_view dtypes, int unknown_element_bytes);

// The work of a kernel: that of its operator `op`, if given, else that of the operator of its name. A kernel
// without an operator whose name contains "gemm" or "matmul", as in libraries, counts as a GEMM of its
// operands if they fit.
std::optional<OperatorWork> WorkOfKernel(absl::string_view name, absl::string_view op,
                                         absl::string_view shapes, absl::string_view dtypes,
                                         int unknown_element_bytes);

// The registry's rule for an operator; null: the registry does not have the operator.
using OperatorRule = std::optional<OperatorWork> (*)(const operator_rules::Call&);
OperatorRule RuleOfOperator(absl::string_view name);

// All names of the registry, without "aten::", in its order.
std::vector<std::string> KnownOperators();

}  // namespace chakra
