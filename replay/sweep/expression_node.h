// The nodes of an expression, shared by the parser and the evaluation.
#pragma once

#include <string>
#include <vector>

#include "replay/sweep/expression.h"

namespace chakra::sweep {

// A function of numbers.
struct ExpressionFunction {
  const char* name;
  int arguments;  // -1: one or more
  double (*of)(const std::vector<double>&);
};

struct Expression::Node {
  enum class Kind { kLiteral, kName, kOperator, kFunction, kAnd, kOr, kNot, kChoose };
  Kind kind = Kind::kLiteral;
  size_t column = 0;  // from 0
  Value literal;
  std::string name;  // name, or operator
  const ExpressionFunction* function = nullptr;
  std::vector<Node> of;
};

}  // namespace chakra::sweep
