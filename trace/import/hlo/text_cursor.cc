#include "trace/import/hlo/text_cursor.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace chakra::hlo {
namespace {

constexpr int kDeepestTuple = 64;

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("_.-$:/@", c);
}

char Closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

}  // namespace

int64_t TextCursor::line() const {
  const size_t to = std::min(at_, text_.size());
  counted_ += std::count(text_.begin() + static_cast<ptrdiff_t>(counted_to_),
                         text_.begin() + static_cast<ptrdiff_t>(to), '\n');
  counted_to_ = to;
  return 1 + counted_;
}

std::string TextCursor::Rest() const {
  constexpr size_t kShown = 60;
  if (done()) return "the end of the file";
  const absl::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
  return absl::StrCat("\"", line.substr(0, kShown), line.size() > kShown ? "..." : "", "\"");
}

void TextCursor::SkipInLine() {
  while (!done()) {
    if (absl::StartsWith(text_.substr(at_), "/*")) {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == text_.npos ? text_.size() : end + 2;
    } else if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

void TextCursor::Skip() {
  for (;;) {
    SkipInLine();
    if (absl::StartsWith(text_.substr(std::min(at_, text_.size())), "//")) {
      SkipLine();
    } else if (peek() == '\n') {
      ++at_;
    } else {
      return;
    }
  }
}

void TextCursor::SkipLine() {
  const size_t end = text_.find('\n', at_);
  at_ = end == text_.npos ? text_.size() : end + 1;
}

bool TextCursor::Consume(absl::string_view token) {
  Skip();
  if (!absl::StartsWith(text_.substr(at_), token)) return false;
  at_ += token.size();
  return true;
}

bool TextCursor::ConsumeLine(absl::string_view token) {
  Skip();
  absl::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
  if (!absl::ConsumePrefix(&line, token) || !absl::StripAsciiWhitespace(line).empty()) return false;
  SkipLine();
  return true;
}

absl::string_view TextCursor::Name() {
  Skip();
  size_t begin = at_;
  if (peek() == '%') begin = ++at_;
  while (!done() && IsNameChar(text_[at_])) {
    if (text_[at_] == '-' && absl::StartsWith(text_.substr(at_), "->")) break;
    ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

bool TextCursor::SkipQuoted() {
  for (++at_; !done(); ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == '"') {
      ++at_;
      return true;
    }
  }
  at_ = std::min(at_, text_.size());
  return false;
}

bool TextCursor::Bracketed(absl::string_view* inside) {
  std::vector<char> open = {Closing(peek())};
  const size_t begin = ++at_;
  while (!done()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!SkipQuoted()) return false;
      continue;
    }
    if (absl::StartsWith(text_.substr(at_), "/*")) {
      SkipInLine();
      continue;
    }
    if (c == '(' || c == '[' || c == '{') open.push_back(Closing(c));
    if (c == open.back()) open.pop_back();
    ++at_;
    if (open.empty()) {
      *inside = text_.substr(begin, at_ - 1 - begin);
      return true;
    }
  }
  return false;
}

bool TextCursor::ReadShapeAt(int depth, Shape* out) {
  if (depth > kDeepestTuple) return false;
  Skip();
  if (peek() == '(') {
    ++at_;
    for (;;) {
      if (Consume(")")) return true;
      if (!out->parts.empty() && !Consume(",")) return false;
      if (!ReadShapeAt(depth + 1, &out->parts.emplace_back())) return false;
    }
  }
  const size_t begin = at_;
  while (!done() && (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
  out->type = std::string(text_.substr(begin, at_ - begin));
  if (out->type.empty() || peek() != '[') return false;
  absl::string_view dims;
  if (!Bracketed(&dims)) return false;
  for (absl::string_view d : SplitList(dims)) {
    d = absl::StripPrefix(absl::StripAsciiWhitespace(d), "<=");
    int64_t n = 0;
    if (d != "?" && (!absl::SimpleAtoi(d, &n) || n < 0)) return false;
    out->dims.push_back(n);
  }
  // A layout follows the dimensions without a blank; the body of a computation does not.
  absl::string_view layout;
  if (peek() == '{' && !Bracketed(&layout)) return false;
  out->host = absl::StrContains(layout, "S(5)");
  return true;
}

bool TextCursor::SkipValue() {
  absl::string_view inside;
  while (!done() && text_[at_] != ',' && text_[at_] != '\n') {
    const char c = text_[at_];
    if (c == ')' || c == ']' || c == '}') return true;  // closes the bracket around the attributes
    if (c == '"') {
      if (!SkipQuoted()) return false;
    } else if (c == '(' || c == '[' || c == '{') {
      if (!Bracketed(&inside)) return false;
    } else {
      ++at_;
    }
  }
  return true;
}

bool TextCursor::ReadAttributes(std::vector<std::pair<absl::string_view, absl::string_view>>* out) {
  for (;;) {
    SkipInLine();
    const size_t end = at_;
    Skip();
    if (peek() != ',') {
      at_ = end;
      return true;
    }
    ++at_;
    Skip();
    const size_t begin = at_;
    while (!done() && (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' ||
                       text_[at_] == '-'))
      ++at_;
    const absl::string_view key = text_.substr(begin, at_ - begin);
    if (peek() == '=') ++at_;
    const size_t value = at_;
    if (!SkipValue()) return false;
    // Groups along a mesh whose devices are listed: mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'b'}
    if (key == "replica_groups" && absl::StartsWith(text_.substr(at_), ", device_ids=")) {
      ++at_;
      if (!SkipValue()) return false;
    }
    out->emplace_back(key, absl::StripAsciiWhitespace(text_.substr(value, at_ - value)));
  }
}

std::vector<absl::string_view> SplitList(absl::string_view text) {
  std::vector<absl::string_view> out;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      if (i < text.size()) continue;
    }
    if (c == '"') quoted = true;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    const absl::string_view part =
        absl::StripAsciiWhitespace(text.substr(begin, std::min(i, text.size()) - begin));
    if (!part.empty() || !out.empty() || i < text.size()) out.push_back(part);
    begin = i + 1;
  }
  return out;
}

std::string Unquoted(absl::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
  std::string out;
  text = text.substr(1, text.size() - 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

bool ParseNumbers(absl::string_view text, std::vector<int64_t>* out) {
  text = absl::StripAsciiWhitespace(text);
  if (!text.empty() && (text.front() == '{' || text.front() == '[')) {
    if (text.size() < 2 || text.back() != Closing(text.front())) return false;
    text = text.substr(1, text.size() - 2);
  }
  for (const absl::string_view part : SplitList(text)) {
    if (!absl::SimpleAtoi(part, &out->emplace_back())) return false;
  }
  return true;
}

}  // namespace chakra::hlo
