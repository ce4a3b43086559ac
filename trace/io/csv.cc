#include "trace/io/csv.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "trace/base/printable.h"
#include "trace/base/status_macros.h"

namespace chakra {

namespace {

constexpr absl::string_view kFormula = "=+-@";

}  // namespace

bool LooksLikeFormula(absl::string_view text) {
  if (text.empty() || kFormula.find(text[0]) == absl::string_view::npos) return false;
  double number = 0;
  return text.size() > 1 && !absl::SimpleAtod(text, &number);
}

std::string CsvField(absl::string_view text) {
  const std::string printable = Printable(text);
  return CsvAsItIs(LooksLikeFormula(printable) ? absl::StrCat("'", printable) : printable);
}

std::string CsvNamed(absl::string_view text) {
  return LooksLikeFormula(text) || absl::StartsWith(text, "'") ? absl::StrCat("'", text) : std::string(text);
}

absl::string_view CsvNameOf(absl::string_view cell) {
  const bool marked = cell.size() > 1 && cell[0] == '\'' &&
                      (cell[1] == '\'' || kFormula.find(cell[1]) != absl::string_view::npos);
  return cell.substr(marked ? 1 : 0);
}

std::string CsvAsItIs(absl::string_view text) {
  return text.find_first_of(",\"\r\n") == absl::string_view::npos ? std::string(text) : CsvQuoted(text);
}

std::string CsvQuoted(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

CsvReader::CsvReader(absl::string_view content, absl::string_view name, Fields kind)
    : rest_(absl::StripPrefix(content, "\xef\xbb\xbf")), name_(name), kind_(kind) {}

std::string CsvReader::where() const { return absl::StrCat(name_, ":", line_); }

absl::Status CsvReader::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(where(), ": ", what));
}

absl::StatusOr<bool> CsvReader::Next(std::vector<std::string>* fields) {
  for (;;) {
    if (rest_.empty()) return false;
    line_ = next_line_;
    fields->clear();
    RETURN_IF_ERROR(Record(fields));
    if (fields->size() > 1 || !absl::StripAsciiWhitespace((*fields)[0]).empty()) return true;
  }
}

absl::Status CsvReader::Record(std::vector<std::string>* fields) {
  for (;;) {
    RETURN_IF_ERROR(Field(&fields->emplace_back()));
    whole_ = !rest_.empty();
    if (rest_.empty()) return absl::OkStatus();
    const char c = rest_[0];
    rest_.remove_prefix(1);
    if (c == '\n') {
      ++next_line_;
      return absl::OkStatus();
    }
  }
}

void CsvReader::SkipBlanks() {
  while (!rest_.empty() && rest_[0] != '\n' && absl::ascii_isspace(static_cast<unsigned char>(rest_[0]))) {
    rest_.remove_prefix(1);
  }
}

// Reads a field and stops before ',' or the line end.
absl::Status CsvReader::Field(std::string* out) {
  if (kind_ == Fields::kTrimmed) SkipBlanks();
  if (!rest_.empty() && rest_[0] == '"') {
    RETURN_IF_ERROR(Quoted(out));
    if (kind_ == Fields::kTrimmed) SkipBlanks();
    if (absl::StartsWith(rest_, "\r\n")) rest_.remove_prefix(1);
    if (rest_.empty() || rest_[0] == ',' || rest_[0] == '\n') return absl::OkStatus();
    return Error("text after a closing quote; expected ',' or the end of the line");
  }
  const size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
  const bool last = end == rest_.size() || rest_[end] == '\n';
  absl::string_view text = rest_.substr(0, end);
  if (kind_ == Fields::kTrimmed) text = absl::StripAsciiWhitespace(text);
  if (last) absl::ConsumeSuffix(&text, "\r");
  *out = std::string(text);
  rest_.remove_prefix(end);
  return absl::OkStatus();
}

absl::Status CsvReader::Quoted(std::string* out) {
  for (size_t i = 1; i < rest_.size(); ++i) {
    if (rest_[i] == '\n') {
      if (kind_ == Fields::kTrimmed) break;
      ++next_line_;
    }
    if (rest_[i] != '"') {
      out->push_back(rest_[i]);
    } else if (i + 1 < rest_.size() && rest_[i + 1] == '"') {
      out->push_back(rest_[i++]);
    } else {
      rest_.remove_prefix(i + 1);
      return absl::OkStatus();
    }
  }
  return Error(kind_ == Fields::kTrimmed ? "expected the quote to be closed on its line"
                                         : "a quote that is not closed");
}

}  // namespace chakra
