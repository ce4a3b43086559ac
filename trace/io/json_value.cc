#include "trace/io/json_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/ascii.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr int kMaxDepth = 100;

void AppendUtf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xc0 | (c >> 6)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | (c >> 12)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xf0 | (c >> 18)));
    out->push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  }
}

// Parses a literal such as "4.0" or "4e3". Returns false unless it is an integer with a magnitude below 2^63.
bool WholeDouble(absl::string_view text, double* out) {
  return absl::SimpleAtod(text, out) && std::trunc(*out) == *out && std::abs(*out) < 9223372036854775808.0;
}

bool LooksNumeric(absl::string_view text) {
  return !text.empty() && (IsDigit(text.back()) || text.back() == '.') &&
         (IsDigit(text[0]) || text[0] == '-');
}

}  // namespace

absl::string_view Name(JsonValue::Kind kind) {
  static constexpr absl::string_view kNames[] = {"null", "boolean", "number", "string", "array", "object"};
  return kNames[static_cast<int>(kind)];
}

const JsonValue* JsonValue::Find(absl::string_view key) const {
  for (const JsonMember& m : members) {
    if (m.key == key) return &m.value;
  }
  return nullptr;
}

bool JsonValue::ToInt64(int64_t* out) const {
  if ((kind != Kind::kNumber && kind != Kind::kString) || !LooksNumeric(text)) return false;
  if (absl::SimpleAtoi(text, out)) return true;
  double d;
  if (!WholeDouble(text, &d)) return false;
  *out = static_cast<int64_t>(d);
  return true;
}

bool JsonValue::ToUint64(uint64_t* out) const {
  if ((kind != Kind::kNumber && kind != Kind::kString) || !LooksNumeric(text)) return false;
  if (absl::SimpleAtoi(text, out)) return true;
  double d;
  if (!WholeDouble(text, &d) || d < 0) return false;
  *out = static_cast<uint64_t>(d);
  return true;
}

bool JsonValue::ToDouble(double* out, bool allow_special) const {
  if (allow_special && kind == Kind::kString) {
    const double inf = std::numeric_limits<double>::infinity();
    if (text == "NaN") return *out = std::numeric_limits<double>::quiet_NaN(), true;
    if (text == "Infinity") return *out = inf, true;
    if (text == "-Infinity") return *out = -inf, true;
  }
  if ((kind != Kind::kNumber && kind != Kind::kString) || !LooksNumeric(text)) return false;
  return absl::SimpleAtod(text, out) && std::isfinite(*out);
}

std::string JsonReader::Where(size_t offset) const {
  offset = std::min(offset, source_.size());
  const absl::string_view before = source_.substr(0, offset);
  const size_t line = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const size_t newline = before.rfind('\n');
  const size_t column = newline == absl::string_view::npos ? offset + 1 : offset - newline;
  return absl::StrCat(name_, ":", line, ":", column);
}

absl::Status JsonReader::Error(size_t offset, absl::string_view message) const {
  return absl::InvalidArgumentError(absl::StrCat(message, " at ", Where(offset), " (byte ", offset, ")"));
}

void JsonReader::SkipBlanks() {
  while (at_ < source_.size() &&
         (source_[at_] == ' ' || source_[at_] == '\n' || source_[at_] == '\t' || source_[at_] == '\r')) {
    ++at_;
  }
}

bool JsonReader::AtEnd() {
  SkipBlanks();
  return at_ == source_.size();
}

bool JsonReader::Take(char c) {
  SkipBlanks();
  if (at_ == source_.size() || source_[at_] != c) return false;
  ++at_;
  return true;
}

absl::Status JsonReader::Expected(absl::string_view what) const {
  std::string found = "the end of the file";
  if (at_ < source_.size()) {
    const auto c = static_cast<unsigned char>(source_[at_]);
    found = c >= 0x20 && c < 0x7f ? absl::StrFormat("'%c'", c) : absl::StrFormat("byte 0x%02x", c);
  }
  return Error(at_, absl::StrCat("JSON: expected ", what, ", found ", found));
}

absl::StatusOr<JsonValue> JsonReader::Next() {
  JsonValue value;
  RETURN_IF_ERROR(ReadValue(0, &value));
  return value;
}

absl::Status JsonReader::ReadValue(int depth, JsonValue* out) {
  SkipBlanks();
  if (depth > kMaxDepth)
    return Error(at_, absl::StrCat("JSON: nested more than ", kMaxDepth, " levels deep"));
  out->begin = at_;
  const char c = at_ < source_.size() ? source_[at_] : '\0';
  absl::Status status;
  if (c == '{') {
    status = ReadObject(depth, out);
  } else if (c == '[') {
    status = ReadArray(depth, out);
  } else if (c == '"') {
    out->kind = JsonValue::Kind::kString;
    status = ReadString(&out->text);
  } else if (c == '-' || IsDigit(c)) {
    status = ReadNumber(out);
  } else {
    const absl::string_view rest = source_.substr(std::min(at_, source_.size()));
    if (absl::StartsWith(rest, "true")) {
      out->kind = JsonValue::Kind::kBool;
      out->boolean = true;
      at_ += 4;
    } else if (absl::StartsWith(rest, "false")) {
      out->kind = JsonValue::Kind::kBool;
      at_ += 5;
    } else if (absl::StartsWith(rest, "null")) {
      at_ += 4;
    } else {
      return Expected("a value");
    }
  }
  out->end = at_;
  return status;
}

absl::Status JsonReader::ReadObject(int depth, JsonValue* out) {
  out->kind = JsonValue::Kind::kObject;
  ++at_;
  if (Take('}')) return absl::OkStatus();
  absl::flat_hash_set<std::string> seen;
  do {
    SkipBlanks();
    JsonMember member;
    member.at = at_;
    if (at_ == source_.size() || source_[at_] != '"') return Expected("a key in double quotes");
    RETURN_IF_ERROR(ReadString(&member.key));
    if (!seen.insert(member.key).second) {
      return Error(member.at, absl::StrCat("JSON: duplicate key '", member.key, "'"));
    }
    if (!Take(':')) return Expected("':' after a key");
    RETURN_IF_ERROR(ReadValue(depth + 1, &member.value));
    out->members.push_back(std::move(member));
  } while (Take(','));
  return Take('}') ? absl::OkStatus() : Expected("',' or '}'");
}

absl::Status JsonReader::ReadArray(int depth, JsonValue* out) {
  out->kind = JsonValue::Kind::kArray;
  ++at_;
  if (Take(']')) return absl::OkStatus();
  do {
    out->items.emplace_back();
    RETURN_IF_ERROR(ReadValue(depth + 1, &out->items.back()));
  } while (Take(','));
  return Take(']') ? absl::OkStatus() : Expected("',' or ']'");
}

absl::Status JsonReader::ReadString(std::string* out) {
  const size_t begin = at_++;
  while (at_ < source_.size() && source_[at_] != '"') {
    const size_t run = at_;
    while (at_ < source_.size() && source_[at_] != '"' && source_[at_] != '\\') {
      if (static_cast<unsigned char>(source_[at_]) < 0x20)
        return Expected("no control character in a string");
      ++at_;
    }
    const absl::string_view plain = source_.substr(run, at_ - run);
    const size_t valid = ValidUtf8Prefix(plain);
    if (valid != plain.size()) return Error(run + valid, "JSON: invalid UTF-8 in a string");
    out->append(plain.data(), plain.size());
    if (at_ < source_.size() && source_[at_] == '\\') {
      RETURN_IF_ERROR(ReadEscape(out));
    }
  }
  if (at_ == source_.size()) return Error(begin, "JSON: a string without its closing quote");
  ++at_;
  return absl::OkStatus();
}

absl::Status JsonReader::ReadHex4(uint32_t* out) {
  *out = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < source_.size() ? source_[at_] : '\0';
    const int digit = IsDigit(c)             ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return Expected("four hexadecimal digits after \\u");
    *out = *out * 16 + static_cast<uint32_t>(digit);
  }
  return absl::OkStatus();
}

absl::Status JsonReader::ReadEscape(std::string* out) {
  const size_t begin = at_++;
  const char c = at_ < source_.size() ? source_[at_] : '\0';
  static constexpr absl::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  if (const size_t i = kFrom.find(c); c != '\0' && i != absl::string_view::npos) {
    out->push_back(kTo[i]);
    ++at_;
    return absl::OkStatus();
  }
  if (c != 'u') return Expected("an escape of \"\\/bfnrtu");
  ++at_;
  uint32_t code;
  RETURN_IF_ERROR(ReadHex4(&code));
  if (code >= 0xd800 && code < 0xdc00) {
    uint32_t low = 0;
    if (!absl::StartsWith(source_.substr(at_), "\\u")) return Error(begin, "JSON: half of a surrogate pair");
    at_ += 2;
    RETURN_IF_ERROR(ReadHex4(&low));
    if (low < 0xdc00 || low > 0xdfff) return Error(begin, "JSON: half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code < 0xe000) {
    return Error(begin, "JSON: half of a surrogate pair");
  }
  AppendUtf8(code, out);
  return absl::OkStatus();
}

absl::Status JsonReader::ReadNumber(JsonValue* out) {
  out->kind = JsonValue::Kind::kNumber;
  const size_t begin = at_;
  const auto peek = [&] { return at_ < source_.size() ? source_[at_] : '\0'; };
  const auto digits = [&] {
    const size_t from = at_;
    while (IsDigit(peek())) ++at_;
    return at_ > from;
  };
  if (peek() == '-') ++at_;
  if (peek() == '0') {
    ++at_;
    if (IsDigit(peek())) return Expected("no digit after a leading 0");
  } else if (!digits()) {
    return Expected("a digit");
  }
  if (peek() == '.') {
    ++at_;
    if (!digits()) return Expected("a digit after the decimal point");
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!digits()) return Expected("a digit of the exponent");
  }
  out->text = std::string(source_.substr(begin, at_ - begin));
  return absl::OkStatus();
}

absl::StatusOr<JsonValue> ParseJson(absl::string_view source, absl::string_view name) {
  JsonReader reader(source, name);
  ASSIGN_OR_RETURN(JsonValue value, reader.Next());
  if (!reader.AtEnd()) return reader.Error(value.end, "JSON: more text after the end of the value");
  return value;
}

}  // namespace chakra
