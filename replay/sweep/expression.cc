#include "replay/sweep/expression.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/sweep/expression_node.h"
#include "trace/base/status_macros.h"

namespace chakra::sweep {
std::string ToText(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  if (number == std::rint(number) && std::fabs(number) < 1e15) return absl::StrFormat("%.0f", number + 0.0);
  for (int digits = 1; digits <= 17; ++digits) {
    std::string text = absl::StrFormat("%.*g", digits, number);
    if (std::strtod(text.c_str(), nullptr) == number) return text;
  }
  return absl::StrCat(number);
}

Expression::Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

absl::Status Expression::Error(const Node& node, absl::string_view message) const {
  return absl::InvalidArgumentError(
      absl::StrCat("column ", node.column + 1, " of \"", text_, "\": ", message));
}

absl::StatusOr<Value> Expression::Evaluate(const Lookup& lookup) const { return Evaluate(*root_, lookup); }

absl::StatusOr<double> Expression::EvaluateNumber(const Lookup& lookup) const {
  ASSIGN_OR_RETURN(auto value, Evaluate(lookup));
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text_, "\" is the text \"", std::get<std::string>(value), "\"; expected a number"));
}

absl::StatusOr<Value> Expression::EvaluateLogic(const Node& node, const Lookup& lookup) const {
  ASSIGN_OR_RETURN(auto first, Evaluate(node.of[0], lookup));
  const auto* number = std::get_if<double>(&first);
  if (number == nullptr)
    return Error(node, absl::StrCat("\"", ToText(first), "\" is neither true nor false"));
  const bool truth = *number != 0;
  if (node.kind == Node::Kind::kNot) return Value(truth ? 0.0 : 1.0);
  if (node.kind == Node::Kind::kChoose) return Evaluate(node.of[truth ? 1 : 2], lookup);
  if (truth == (node.kind == Node::Kind::kOr)) return Value(truth ? 1.0 : 0.0);
  ASSIGN_OR_RETURN(auto second, Evaluate(node.of[1], lookup));
  number = std::get_if<double>(&second);
  if (number == nullptr)
    return Error(node, absl::StrCat("\"", ToText(second), "\" is neither true nor false"));
  return Value(*number != 0 ? 1.0 : 0.0);
}

absl::StatusOr<Value> Expression::Evaluate(const Node& node, const Lookup& lookup) const {
  switch (node.kind) {
    case Node::Kind::kLiteral:
      return node.literal;
    case Node::Kind::kName: {
      const std::optional<Value> value = lookup(node.name);
      if (!value.has_value()) return Error(node, absl::StrCat("\"", node.name, "\" has no value"));
      return *value;
    }
    case Node::Kind::kAnd:
    case Node::Kind::kOr:
    case Node::Kind::kNot:
    case Node::Kind::kChoose:
      return EvaluateLogic(node, lookup);
    case Node::Kind::kOperator:
    case Node::Kind::kFunction:
      break;
  }
  std::vector<Value> values;
  for (const Node& operand : node.of) {
    ASSIGN_OR_RETURN(auto value, Evaluate(operand, lookup));
    values.push_back(std::move(value));
  }
  return Calculate(node, values);
}

absl::StatusOr<Value> Expression::Calculate(const Node& node, const std::vector<Value>& values) const {
  const std::string& o = node.name;
  if (node.kind == Node::Kind::kOperator && (o == "==" || o == "!=")) {
    if (values[0].index() != values[1].index()) {
      return Error(node, absl::StrCat("\"", ToText(values[0]), "\" and \"", ToText(values[1]),
                                      "\" are a number and a text, which cannot be compared"));
    }
    return Value((values[0] == values[1]) == (o == "==") ? 1.0 : 0.0);
  }
  std::vector<double> n;
  for (const Value& v : values) {
    const auto* number = std::get_if<double>(&v);
    if (number == nullptr)
      return Error(node, absl::StrCat(o, " needs numbers, but \"", ToText(v), "\" is a text"));
    n.push_back(*number);
  }
  double result = 0;
  if (node.kind == Node::Kind::kFunction) {
    result = node.function->of(n);
  } else if (n.size() == 1) {
    result = -n[0];
  } else if (o == "<" || o == ">" || o == "<=" || o == ">=") {
    result = o == "<" ? n[0] < n[1] : o == ">" ? n[0] > n[1] : o == "<=" ? n[0] <= n[1] : n[0] >= n[1];
  } else if ((o == "/" || o == "%") && n[1] == 0) {
    return Error(node, "a division by 0");
  } else {
    result = o == "+"   ? n[0] + n[1]
             : o == "-" ? n[0] - n[1]
             : o == "*" ? n[0] * n[1]
             : o == "/" ? n[0] / n[1]
                        : std::fmod(n[0], n[1]);
  }
  if (!std::isfinite(result)) return Error(node, absl::StrCat(o, " gives no finite number"));
  return Value(result);
}

namespace {

// Calls `text_part` or `expression_part` for each part of the text, in order.
template <typename TextPart, typename ExpressionPart>
absl::Status WalkTemplate(absl::string_view text, const TextPart& text_part,
                          const ExpressionPart& expression_part) {
  const auto lonely = [&](size_t at, const char* brace, const char* partner) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": \"", brace, "\" in column ", at + 1,
                                                   " has no \"", partner, "\"; a brace itself is ", brace,
                                                   brace));
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      text_part(c);
    } else if (text.substr(i + 1, 1) == text.substr(i, 1)) {
      text_part(c);
      ++i;
    } else if (c == '}') {
      return lonely(i, "}", "{");
    } else {
      const size_t end = text.find('}', i);
      if (end == text.npos) return lonely(i, "{", "}");
      ASSIGN_OR_RETURN(auto expression, Expression::Parse(text.substr(i + 1, end - i - 1)));
      RETURN_IF_ERROR(expression_part(std::move(expression)));
      i = end;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> FillIn(absl::string_view text, const Lookup& lookup) {
  std::string out;
  RETURN_IF_ERROR(WalkTemplate(
      text, [&](char c) { out += c; },
      [&](const Expression& e) {
        auto value = e.Evaluate(lookup);
        if (value.ok()) out += ToText(*value);
        return value.status();
      }));
  return out;
}

absl::StatusOr<std::vector<Expression>> ParseTemplate(absl::string_view text) {
  std::vector<Expression> out;
  RETURN_IF_ERROR(WalkTemplate(
      text, [](char) {},
      [&](Expression&& e) {
        out.push_back(std::move(e));
        return absl::OkStatus();
      }));
  return out;
}

}  // namespace chakra::sweep
