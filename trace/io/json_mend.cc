#include "trace/io/json_mend.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/io/json_strict.h"
#include "trace/io/json_value.h"

namespace chakra {
namespace {

constexpr size_t kNone = absl::string_view::npos;
constexpr size_t kDeep = 128;                         // maximum nesting of brackets
constexpr size_t kMostTries = 4096;                   // maximum retries for one element
constexpr size_t kMostStringBytes = size_t{1} << 20;  // maximum size of a string with quotes inside
constexpr size_t kKeysKept = 4096;                    // maximum number of remembered keys at one depth

enum Repair { kComma, kMissing, kQuote, kWord, kControl, kEscape, kKinds };
struct KindText {
  const char *kind, *what;
};
constexpr KindText kTexts[kKinds] = {
    {"json_superfluous_comma", "commas without a value after them, left out"},
    {"json_missing_comma", "values that follow one another without a comma"},
    {"json_unescaped_quote", "strings with quotes inside that are not escaped"},
    {"json_bare_word", "words without quotes, read as text"},
    {"json_control_character", "control characters within strings, read as spaces"},
    {"json_bad_escape", "escapes that JSON does not know, kept as text"},
};

class Mender {
 public:
  Mender(absl::string_view text, absl::string_view file) : text_(text), file_(file) {}

  absl::StatusOr<MendedJson> Run() {
    if (absl::StartsWith(text_, "\xef\xbb\xbf")) Copy(3);
    while (!Done()) {
      if (at_ > farthest_) farthest_ = at_;
      if (Step()) continue;
      if (!Retry()) return Fail();
    }
    MendedJson mended;
    mended.text = std::move(out_);
    for (int k = 0; k < kKinds; ++k) {
      if (now_.count[k] == 0) continue;
      mended.faults.push_back({kTexts[k].kind,
                               absl::StrCat(kTexts[k].what, "; the first at byte ", now_.first[k]),
                               now_.count[k]});
    }
    return mended;
  }

 private:
  enum class Expect { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kCommaOrEnd };
  // The state to which a retry returns.
  struct State {
    size_t at = 0, out = 0;
    std::string open;  // '{' and '['
    Expect expect = Expect::kValue;
    size_t comma = kNone;  // position of the last comma in the output, if nothing follows it yet
    std::array<uint64_t, kKinds> count{}, first{};
  };
  // A string with quotes inside, for which one of several possible ends was chosen.
  struct Choice {
    State before;
    size_t next;  // where the search for another end starts
  };

  bool Done() {
    while (at_ < text_.size() && IsJsonBlank(text_[at_])) Copy(1);
    return at_ >= text_.size() || text_.find_first_not_of('\0', at_) == kNone;
  }
  void Copy(size_t n) {
    out_.append(text_.data() + at_, n);
    at_ += n;
  }
  void Count(Repair kind, size_t at) {
    if (now_.count[kind]++ == 0) now_.first[kind] = at;
  }
  State Save() const {
    State state = now_;
    state.at = at_;
    state.out = out_.size();
    return state;
  }
  size_t Blanks(size_t at) const { return AfterJsonBlanks(text_, at); }

  bool Step();
  bool Value(char c);
  bool Key(char c);
  bool AfterValue(char c);
  bool Close(char c);
  void Open(char c);
  bool TakeStrictElement();
  bool String(bool key, size_t from);
  void WriteString(size_t begin, size_t end);
  bool EndsHere(size_t quote, bool key, bool known) const;
  bool KeyFollows(size_t at, size_t depth, bool known) const;
  bool FollowsClosers(size_t at, bool known) const;
  bool Word(bool key);
  bool Retry();
  absl::Status Fail() const;

  absl::string_view text_, file_;
  size_t at_ = 0, farthest_ = 0;
  std::string out_;
  State now_;
  std::vector<Choice> choices_;  // of the element that is being repaired
  size_t tries_ = 0;
  std::vector<absl::flat_hash_set<std::string>> known_;  // keys by depth, of elements that needed no repair
};

bool Mender::Step() {
  const char c = text_[at_];
  switch (now_.expect) {
    case Expect::kValue:
    case Expect::kValueOrEnd:
      return Value(c);
    case Expect::kKey:
    case Expect::kKeyOrEnd:
      return Key(c);
    case Expect::kColon:
      if (c != ':') return false;
      Copy(1);
      now_.expect = Expect::kValue;
      return true;
    case Expect::kCommaOrEnd:
      return AfterValue(c);
  }
  return false;
}

bool Mender::Value(char c) {
  const bool in_list = !now_.open.empty() && now_.open.back() == '[';
  if (c == ']' && in_list) return Close(c);
  if (c == ',' && in_list) {
    Count(kComma, at_++);
    out_.push_back(' ');
    return true;
  }
  now_.comma = kNone;
  if (c == '{' || c == '[') {
    if (c == '{' && in_list && now_.open.size() <= 2 && TakeStrictElement()) return true;
    if (now_.open.size() >= kDeep) return false;
    Open(c);
    return true;
  }
  if (c == '"') return String(/*key=*/false, at_ + 1);
  return Word(/*key=*/false);
}

bool Mender::Key(char c) {
  if (c == '}') return Close(c);
  if (c == ',') {
    Count(kComma, at_++);
    out_.push_back(' ');
    return true;
  }
  now_.comma = kNone;
  if (c == '"') return String(/*key=*/true, at_ + 1);
  return Word(/*key=*/true);
}

bool Mender::AfterValue(char c) {
  if (now_.open.empty()) {  // another value, as in JSON Lines
    if (c == ',' || c == '}' || c == ']') return false;
    now_.expect = Expect::kValue;
    return true;
  }
  const bool in_list = now_.open.back() == '[';
  if (c == '}' || c == ']') return Close(c);
  if (c == ',') {
    now_.comma = out_.size();
    Copy(1);
    now_.expect = in_list ? Expect::kValue : Expect::kKey;
    return true;
  }
  const char before = at_ == 0 ? ' ' : text_[at_ - 1];
  if (!IsJsonBlank(before) && before != '}' && before != ']' && c != '{') return false;
  const bool begins = c == '"' || (in_list && (c == '{' || c == '[' || c == '-' || IsHexDigit(c)));
  if (!begins) return false;
  Count(kMissing, at_);
  out_.push_back(',');
  now_.expect = in_list ? Expect::kValue : Expect::kKey;
  return true;
}

void Mender::Open(char c) {
  now_.open.push_back(c);
  Copy(1);
  now_.expect = c == '{' ? Expect::kKeyOrEnd : Expect::kValueOrEnd;
}

bool Mender::Close(char c) {
  if (now_.open.empty() || now_.open.back() != (c == '}' ? '{' : '[')) return false;
  if (now_.comma != kNone) {
    out_[now_.comma] = ' ';
    Count(kComma, at_);
    now_.comma = kNone;
  }
  now_.open.pop_back();
  Copy(1);
  now_.expect = Expect::kCommaOrEnd;
  return true;
}

// Copies an element of a list if it is valid JSON, and remembers its keys.
bool Mender::TakeStrictElement() {
  std::vector<JsonKey> keys;
  const size_t end = JsonObjectEnd(text_, at_, kDeep, &keys);
  if (end == kNone) return false;
  const size_t after = Blanks(end);
  if (after < text_.size() && !absl::StrContains(",]{", text_[after])) return false;
  for (const auto& [depth, key] : keys) {
    const size_t d = now_.open.size() + depth;
    if (known_.size() <= d) known_.resize(d + 1);
    if (known_[d].size() < kKeysKept) known_[d].insert(std::string(key));
  }
  Copy(end - at_);
  now_.expect = Expect::kCommaOrEnd;
  choices_.clear();
  tries_ = 0;
  return true;
}

// Whether a key and its colon are at `at`. `known`: the key must be one that other elements have at this
// `depth`, if there are any.
bool Mender::KeyFollows(size_t at, size_t depth, bool known) const {
  if (at >= text_.size() || text_[at] != '"') return at >= text_.size();
  const size_t end = JsonStringEnd(text_, at);
  if (end == kNone) return false;
  const size_t colon = Blanks(end);
  if (colon < text_.size() && text_[colon] != ':') return false;
  if (!known || depth >= known_.size() || known_[depth].empty()) return true;
  return known_[depth].contains(std::string(text_.substr(at + 1, end - at - 2)));
}

// Whether the brackets at `at` close open ones, and are followed by text that may follow there.
bool Mender::FollowsClosers(size_t at, bool known) const {
  size_t depth = now_.open.size();
  while (at < text_.size() && (text_[at] == '}' || text_[at] == ']')) {
    if (depth == 0 || now_.open[depth - 1] != (text_[at] == '}' ? '{' : '[')) return false;
    --depth;
    at = Blanks(at + 1);
  }
  if (at >= text_.size() || depth == 0) return at >= text_.size() || text_[at] == '{' || text_[at] == '[';
  if (text_[at] == ',') at = Blanks(at + 1);
  if (at >= text_.size()) return true;
  if (text_[at] == '}' || text_[at] == ']') return text_[at] == (now_.open[depth - 1] == '{' ? '}' : ']');
  if (now_.open[depth - 1] == '{') return KeyFollows(at, depth, known);
  if (text_[at] == '{') {
    const size_t key = Blanks(at + 1);
    return KeyFollows(key, depth + 1, known) || (key < text_.size() && text_[key] == '}');
  }
  return !known || depth + 1 >= known_.size() || known_[depth + 1].empty();
}

// Whether a string can end at the quote at `quote`. `known`: a key that follows must be a known one.
bool Mender::EndsHere(size_t quote, bool key, bool known) const {
  const size_t next = Blanks(quote + 1);
  if (next >= text_.size()) return true;
  const char c = text_[next];
  if (key) return c == ':';
  if (now_.open.empty()) return true;
  const bool in_list = now_.open.back() == '[';
  if (c == '}' || c == ']') return FollowsClosers(next, known);
  if (c == ',') {
    const size_t then = Blanks(next + 1);
    if (then >= text_.size()) return true;
    if (text_[then] == '}' || text_[then] == ']') return FollowsClosers(then, known);
    if (text_[then] == ',') return true;
    return in_list
               ? absl::StrContains("\"{[-tfnN", text_[then]) || IsHexDigit(text_[then])
               : KeyFollows(then, now_.open.size(), known) || (!known && absl::ascii_isalpha(text_[then]));
  }
  // A comma is missing here: the next key must be known, or on another line.
  if (next == quote + 1 || c != '"' || in_list) return next > quote + 1 && c == '"' && in_list;
  const bool line = absl::StrContains(text_.substr(quote + 1, next - quote - 1), '\n');
  const bool learned = now_.open.size() < known_.size() && !known_[now_.open.size()].empty();
  return KeyFollows(next, now_.open.size(), known) && (line || (known && learned));
}

// Reads the string at at_. Searches for its end from `from` on.
bool Mender::String(bool key, size_t from) {
  // First pass: the string ends at its first quote if it can, or at a later quote on the same line, if the
  // key that follows is known. Second pass: the key need not be known, and the string may have several lines.
  if (choices_.size() >= kMostTries) {
    choices_.erase(choices_.begin(), choices_.begin() + kMostTries / 2);
    tries_ = 0;
  }
  for (const bool strict : {true, false}) {
    if (!strict && from != at_ + 1) break;
    bool first = from == at_ + 1;
    for (size_t i = from; i < text_.size() && i - at_ < kMostStringBytes; ++i) {
      if (text_[i] == '\n' && strict) break;
      if (text_[i] == '\\') {
        ++i;
        continue;
      }
      if (text_[i] != '"') continue;
      const bool plain = std::exchange(first, false);
      if (!EndsHere(i, key, strict && !plain)) {
        if (key) break;  // keys never contain quotes
        continue;
      }
      if (!plain) choices_.push_back({Save(), i + 1});
      WriteString(at_, i);
      now_.expect = key ? Expect::kColon : Expect::kCommaOrEnd;
      return true;
    }
  }
  size_t quote = at_ + 1;
  while (quote < text_.size() && text_[quote] != '"') quote += text_[quote] == '\\' ? 2 : 1;
  if (from == at_ + 1 && quote >= text_.size()) {  // the file is truncated here
    Copy(text_.size() - at_);
    return true;
  }
  farthest_ = std::max(farthest_, Blanks(quote + 1));
  return false;
}

// Appends the string between the quotes at `begin` and `end` to the output.
void Mender::WriteString(size_t begin, size_t end) {
  out_.push_back('"');
  bool quotes = false;
  for (size_t i = begin + 1; i < end; ++i) {
    const char c = text_[i];
    if (c == '"') {
      if (!quotes) Count(kQuote, i);
      quotes = true;
      out_.append("\\\"");
    } else if (static_cast<unsigned char>(c) < 0x20) {
      Count(kControl, i);
      out_.push_back(' ');
    } else if (c == '\\') {
      const char next = i + 1 < end ? text_[i + 1] : '\0';
      const bool unicode = next == 'u' && i + 5 < end && IsHexDigit(text_[i + 2]) &&
                           IsHexDigit(text_[i + 3]) && IsHexDigit(text_[i + 4]) && IsHexDigit(text_[i + 5]);
      if (unicode || (next != '\0' && next != 'u' && absl::StrContains("\"\\/bfnrt", next))) {
        out_.append({c, next});
        ++i;
      } else {
        Count(kEscape, i);
        out_.append("\\\\");
      }
    } else {
      out_.push_back(c);
    }
  }
  out_.push_back('"');
  at_ = end + 1;
}

// Reads a number, true, false, null, or a word without quotes, which gets quotes.
bool Mender::Word(bool key) {
  size_t end = at_;
  while (end < text_.size() && !IsJsonBlank(text_[end]) &&
         !absl::StrContains(key ? ",:{}[]\"" : ",{}[]\"", text_[end]) &&
         static_cast<unsigned char>(text_[end]) >= 0x20)
    ++end;
  const absl::string_view word = text_.substr(at_, end - at_);
  if (word.empty()) return false;
  if (key || !IsJsonLiteral(word)) {
    if (end < text_.size() && !key && !IsJsonBlank(text_[end]) && !absl::StrContains(",}]", text_[end]))
      return false;
    Count(kWord, at_);
    std::string text = absl::StrCat("\"", word, "\"");
    for (size_t i = 1; i + 1 < text.size(); ++i) {
      if (text[i] == '\\') text[i] = '/';
    }
    out_.append(text);
    at_ = end;
  } else {
    Copy(word.size());
  }
  now_.expect = key ? Expect::kColon : Expect::kCommaOrEnd;
  return true;
}

// Returns to the last string that has another possible end, and tries this end.
bool Mender::Retry() {
  while (!choices_.empty() && ++tries_ < kMostTries) {
    Choice last = std::move(choices_.back());
    choices_.pop_back();
    const bool key = last.before.expect == Expect::kKey || last.before.expect == Expect::kKeyOrEnd;
    at_ = last.before.at;
    out_.resize(last.before.out);
    now_ = std::move(last.before);
    if (String(key, last.next)) return true;
  }
  return false;
}

absl::Status Mender::Fail() const {
  const JsonReader reader(text_, file_);
  const size_t at = std::min(farthest_, text_.size());
  std::string found = "the end of the file";
  if (at < text_.size()) {
    const auto c = static_cast<unsigned char>(text_[at]);
    found = c >= 0x20 && c < 0x7f ? absl::StrFormat("'%c'", c) : absl::StrFormat("byte 0x%02x", c);
  }
  return absl::InvalidArgumentError(absl::StrCat(reader.Where(at), " (byte ", at,
                                                 "): not JSON, and cannot be repaired: found ", found,
                                                 " where a value, a key, a comma or a bracket is expected"));
}

}  // namespace

absl::StatusOr<MendedJson> MendJson(absl::string_view text, absl::string_view file) {
  return Mender(text, file).Run();
}

}  // namespace chakra
