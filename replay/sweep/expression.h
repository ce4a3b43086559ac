// The expression language of constraints, of metrics and of {...} in words.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::sweep {

// A number or a text. Truth is a number: 0 is false.
using Value = std::variant<double, std::string>;

// A number as the shortest text that reads back equal ("400", "0.1"); a text unchanged.
std::string ToText(const Value& value);

// Returns the value of a name; nullopt: the name has no value.
using Lookup = std::function<std::optional<Value>(const std::string& name)>;

// A parsed expression. The language has: numbers; "text" or 'text'; names; the operators + - * / %, == != <
// <= > >=, and or not (&& || !), a ? b : c; parentheses; the functions min max abs sqrt log2 log10 ceil floor
// round pow. `and` and `or` evaluate their right side only if it matters.
class Expression {
 public:
  // Errors (InvalidArgument) have the column (from 1), the text, and what was expected.
  static absl::StatusOr<Expression> Parse(absl::string_view text);

  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  // Errors (InvalidArgument), with the column: a name without a value, a text where a number is needed, a
  // result that is not finite, a division by 0.
  absl::StatusOr<Value> Evaluate(const Lookup& lookup) const;
  // Evaluate() for results that must be numbers.
  absl::StatusOr<double> EvaluateNumber(const Lookup& lookup) const;
  // The distinct names in the expression, in order.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  struct Node;
  Expression();
  absl::StatusOr<Value> Evaluate(const Node& node, const Lookup& lookup) const;
  absl::StatusOr<Value> EvaluateLogic(const Node& node, const Lookup& lookup) const;
  absl::StatusOr<Value> Calculate(const Node& node, const std::vector<Value>& values) const;
  absl::Status Error(const Node& node, absl::string_view message) const;

  std::string text_;
  std::unique_ptr<Node> root_;
  std::vector<std::string> names_;
};

// Returns `text` with each {EXPRESSION} replaced by its value, and {{ and }} by single braces. Errors
// (InvalidArgument): errors of expressions, braces without a partner.
absl::StatusOr<std::string> FillIn(absl::string_view text, const Lookup& lookup);

// The expressions in {...}, in order. Errors: those of FillIn() that do not need values.
absl::StatusOr<std::vector<Expression>> ParseTemplate(absl::string_view text);

}  // namespace chakra::sweep
