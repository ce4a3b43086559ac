#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "replay/sweep/expression_node.h"
#include "trace/base/did_you_mean.h"

namespace chakra::sweep {
namespace {

constexpr int kMostParts = 500;  // maximum number of parentheses and operators in one expression

using Numbers = std::vector<double>;

constexpr ExpressionFunction kFunctions[] = {
    {"min", -1, [](const Numbers& n) { return *std::min_element(n.begin(), n.end()); }},
    {"max", -1, [](const Numbers& n) { return *std::max_element(n.begin(), n.end()); }},
    {"abs", 1, [](const Numbers& n) { return std::fabs(n[0]); }},
    {"sqrt", 1, [](const Numbers& n) { return std::sqrt(n[0]); }},
    {"log2", 1, [](const Numbers& n) { return std::log2(n[0]); }},
    {"log10", 1, [](const Numbers& n) { return std::log10(n[0]); }},
    {"ceil", 1, [](const Numbers& n) { return std::ceil(n[0]); }},
    {"floor", 1, [](const Numbers& n) { return std::floor(n[0]); }},
    {"round", 1, [](const Numbers& n) { return std::round(n[0]); }},
    {"pow", 2, [](const Numbers& n) { return std::pow(n[0], n[1]); }},
};

const ExpressionFunction* FindFunction(absl::string_view name) {
  for (const ExpressionFunction& f : kFunctions) {
    if (name == f.name) return &f;
  }
  return nullptr;
}

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

// A recursive-descent parser; each level has the operators of one precedence.
class ExpressionParser {
 public:
  using Node = Expression::Node;
  using Kind = Node::Kind;

  explicit ExpressionParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Expression> Parse() {
    Expression out;
    out.text_ = std::string(text_);
    auto root = std::make_unique<Node>();
    if (!Choose(root.get()) || (Blanks(), at_ < text_.size())) {
      if (error_.empty()) Fail(absl::StrCat("unexpected \"", text_.substr(at_, 10), "\""));
      return absl::InvalidArgumentError(
          absl::StrCat("column ", error_at_ + 1, " of \"", text_, "\": ", error_));
    }
    out.root_ = std::move(root);
    out.names_ = std::move(names_);
    return out;
  }

 private:
  bool Fail(std::string message) {
    if (error_.empty()) {
      error_ = std::move(message);
      error_at_ = at_;
    }
    return false;
  }

  void Blanks() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  // Consumes an operator. An operator of letters must be a whole word.
  bool Take(absl::string_view token) {
    Blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    const size_t end = at_ + token.size();
    if (IsNameStart(token[0]) && end < text_.size() && IsNamePart(text_[end])) return false;
    at_ = end;
    return true;
  }

  // Makes the content of `out` the first operand of an operator.
  static void Wrap(Node* out, Kind kind, absl::string_view name, size_t column) {
    Node outer;
    outer.kind = kind;
    outer.name = std::string(name);
    outer.column = column;
    outer.of.push_back(std::move(*out));
    *out = std::move(outer);
  }

  bool OneMore() {
    return ++parts_ <= kMostParts ||
           Fail(absl::StrCat("more than ", kMostParts, " operators and parentheses"));
  }

  bool Choose(Node* out) {
    if (!OneMore() || !Or(out)) return false;
    Blanks();
    const size_t column = at_;
    if (Take("?")) {
      Wrap(out, Kind::kChoose, "?", column);
      out->of.resize(3);
      if (!Choose(&out->of[1])) return false;
      if (!Take(":")) return Fail("expected \":\"");
      if (!Choose(&out->of[2])) return false;
    }
    return true;
  }

  bool Or(Node* out) {
    if (!And(out)) return false;
    while (true) {
      Blanks();
      const size_t column = at_;
      if (!Take("or") && !Take("||")) return true;
      if (!OneMore()) return false;
      Wrap(out, Kind::kOr, "or", column);
      if (!And(&out->of.emplace_back())) return false;
    }
  }

  bool And(Node* out) {
    if (!Not(out)) return false;
    while (true) {
      Blanks();
      const size_t column = at_;
      if (!Take("and") && !Take("&&")) return true;
      if (!OneMore()) return false;
      Wrap(out, Kind::kAnd, "and", column);
      if (!Not(&out->of.emplace_back())) return false;
    }
  }

  bool Not(Node* out) {
    Blanks();
    const size_t column = at_;
    const bool sign = text_.substr(at_, 1) == "!" && text_.substr(at_, 2) != "!=";
    if (!Take("not") && !(sign && Take("!"))) return Binary(0, out);
    out->kind = Kind::kNot;
    out->column = column;
    if (!OneMore() || !Not(&out->of.emplace_back())) return false;
    return true;
  }

  // Comparisons (level 0), sums (level 1) and products (level 2).
  bool Binary(int level, Node* out) {
    static constexpr absl::string_view kOperators[3][6] = {
        {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
    if (level == 3) return Unary(out);
    if (!Binary(level + 1, out)) return false;
    while (true) {
      Blanks();
      const size_t column = at_;
      absl::string_view taken;
      for (const absl::string_view o : kOperators[level]) {
        if (taken.empty() && !o.empty() && Take(o)) taken = o;
      }
      if (taken.empty()) {
        if (level == 0 && text_.substr(at_, 1) == "=") return Fail("expected == for equality");
        return true;
      }
      if (level == 0 && out->kind == Kind::kOperator && out->name.find_first_of("=<>") != std::string::npos &&
          out->column != parenthesized_) {
        return Fail("a comparison of a comparison; expected `and` between them");
      }
      if (!OneMore()) return false;
      Wrap(out, Kind::kOperator, taken, column);
      if (!Binary(level + 1, &out->of.emplace_back())) return false;
    }
  }

  bool Unary(Node* out) {
    Blanks();
    const size_t column = at_;
    if (!Take("-")) return Primary(out);
    out->kind = Kind::kOperator;
    out->name = "-";
    out->column = column;
    if (!OneMore() || !Unary(&out->of.emplace_back())) return false;
    return true;
  }

  bool Primary(Node* out) {
    Blanks();
    out->column = at_;
    if (at_ == text_.size()) return Fail("expected a number, a name or a text, but it ends here");
    const char c = text_[at_];
    if (c == '(') {
      ++at_;
      if (!Choose(out)) return false;
      if (!Take(")")) return Fail("expected \")\"");
      parenthesized_ = out->column;
      return true;
    }
    if (c == '"' || c == '\'') {
      const size_t end = text_.find(c, at_ + 1);
      if (end == text_.npos) return Fail("the text is never closed");
      out->literal = std::string(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return true;
    }
    if (absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.') return ParseNumber(out);
    if (IsNameStart(c)) return ParseName(out);
    return Fail(
        absl::StrCat("unexpected \"", text_.substr(at_, 1), "\"; expected a number, a name or a text"));
  }

  bool ParseNumber(Node* out) {
    size_t end = at_;
    while (end < text_.size() &&
           (IsNamePart(text_[end]) || text_[end] == '.' ||
            ((text_[end] == '-' || text_[end] == '+') && absl::ascii_tolower(text_[end - 1]) == 'e'))) {
      ++end;
    }
    const absl::string_view word = text_.substr(at_, end - at_);
    double number = 0;
    if (!absl::SimpleAtod(word, &number) || !std::isfinite(number)) {
      return Fail(absl::StrCat("\"", word, "\" is not a number; expected one without a unit"));
    }
    out->literal = number;
    at_ = end;
    return true;
  }

  bool ParseName(Node* out) {
    size_t end = at_;
    while (end < text_.size() && IsNamePart(text_[end])) ++end;
    out->name = std::string(text_.substr(at_, end - at_));
    if (out->name == "and" || out->name == "or" || out->name == "not") {
      return Fail(absl::StrCat("unexpected \"", out->name, "\"; expected a number, a name or a text"));
    }
    const size_t begin = at_;
    at_ = end;
    if (!Take("(")) {
      out->kind = Kind::kName;
      if (std::find(names_.begin(), names_.end(), out->name) == names_.end()) names_.push_back(out->name);
      return true;
    }
    out->kind = Kind::kFunction;
    out->function = FindFunction(out->name);
    if (out->function == nullptr) {
      std::vector<std::string> known;
      for (const ExpressionFunction& f : kFunctions) known.emplace_back(f.name);
      at_ = begin;
      return Fail(absl::StrCat("there is no function \"", out->name, "\"", SuggestName(out->name, known)));
    }
    do {
      if (!Choose(&out->of.emplace_back())) return false;
    } while (Take(","));
    if (!Take(")")) return Fail("expected \")\"");
    const int wanted = out->function->arguments;
    if (wanted >= 0 && static_cast<int>(out->of.size()) != wanted) {
      at_ = begin;
      return Fail(absl::StrCat(out->name, " takes ", wanted, " values, not ", out->of.size()));
    }
    return true;
  }

  absl::string_view text_;
  size_t at_ = 0;
  int parts_ = 0;
  size_t parenthesized_ = absl::string_view::npos;  // column of the last operator in parentheses
  std::vector<std::string> names_;
  std::string error_;
  size_t error_at_ = 0;
};

absl::StatusOr<Expression> Expression::Parse(absl::string_view text) {
  return ExpressionParser(text).Parse();
}

}  // namespace chakra::sweep
