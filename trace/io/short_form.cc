#include "trace/io/short_form.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Splits `text` at commas outside of parentheses.
absl::StatusOr<std::vector<absl::string_view>> SplitItems(absl::string_view text) {
  std::vector<absl::string_view> items;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      items.push_back(text.substr(begin, i - begin));
      begin = i + 1;
      continue;
    }
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth < 0) return Bad("a \")\" without its \"(\"");
  }
  if (depth > 0) return Bad("a \"(\" without its \")\"");
  return items;
}

}  // namespace

absl::Status CheckColon(absl::string_view text, absl::string_view what) {
  const size_t first = text.find_first_of(":=,");
  if (first == absl::string_view::npos || first == 0 || text[first] != ',') return absl::OkStatus();
  const size_t next = text.find_first_of(":=,(", first + 1);
  if (next == absl::string_view::npos || text[next] != '=') return absl::OkStatus();
  return Bad(
      absl::StrCat(what, " follows a colon; expected ", text.substr(0, first), ":", text.substr(first + 1)));
}

absl::StatusOr<ShortForm> ParseShortForm(absl::string_view text) {
  RETURN_IF_ERROR(CheckColon(text, "the first key"));
  ShortForm form;
  const size_t colon = text.find(':');
  form.name = std::string(absl::StripAsciiWhitespace(text.substr(0, colon)));
  if (form.name.empty()) return Bad("no name; expected NAME or NAME:key=value,...");
  if (colon == absl::string_view::npos) return form;
  ASSIGN_OR_RETURN(auto items, SplitItems(text.substr(colon + 1)));
  for (const absl::string_view item : items) {
    const size_t equals = item.find('=');
    const absl::string_view key = absl::StripAsciiWhitespace(item.substr(0, equals));
    if (equals == absl::string_view::npos || key.empty()) {
      return Bad(absl::StrCat("\"", item, "\"; expected KEY=VALUE"));
    }
    for (const auto& [other, value] : form.set) {
      if (other == key) return Bad(absl::StrCat(key, " is given twice"));
    }
    form.set.emplace_back(std::string(key), std::string(absl::StripAsciiWhitespace(item.substr(equals + 1))));
  }
  return form;
}

std::string PrintShortForm(const ShortForm& form) {
  return absl::StrCat(form.name, form.set.empty() ? "" : ":",
                      absl::StrJoin(form.set, ",", absl::PairFormatter("=")));
}

absl::string_view WithoutParentheses(absl::string_view value) {
  if (value.size() < 2 || value.front() != '(' || value.back() != ')') return value;
  return value.substr(1, value.size() - 2);
}

}  // namespace chakra
