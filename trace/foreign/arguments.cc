#include "trace/foreign/arguments.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace chakra::foreign {
namespace {

// Words of a command line or script. Handles quotes, comments, continued lines, and ${NAME} for lines
// NAME=value.
class Words {
 public:
  explicit Words(absl::string_view text) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      line = absl::StripAsciiWhitespace(line);
      if (absl::StartsWith(line, "#")) continue;
      AddLine(line);
    }
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  static bool IsName(absl::string_view text) {
    if (text.empty() || absl::ascii_isdigit(static_cast<unsigned char>(text[0]))) return false;
    for (const char c : text) {
      if (c != '_' && !absl::ascii_isalnum(static_cast<unsigned char>(c))) return false;
    }
    return true;
  }

  // Whether a line is NAME="value of several words", which is not a list of arguments.
  bool IsAssignment(absl::string_view line) {
    const size_t equals = line.find('=');
    if (equals == absl::string_view::npos || !IsName(line.substr(0, equals)) || equals + 1 == line.size())
      return false;
    const char quote = line[equals + 1];
    if (quote != '"' && quote != '\'') return false;
    const absl::string_view inner = line.substr(equals + 2, line.substr(equals + 2).find(quote));
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(inner), "--")) return false;
    variables_[std::string(line.substr(0, equals))] = Expand(inner);
    return true;
  }

  static absl::string_view Bare(absl::string_view word) {
    while (!word.empty() && absl::StrContains("([\"',", word.front())) word.remove_prefix(1);
    while (!word.empty() && absl::StrContains(")]\"',;", word.back())) word.remove_suffix(1);
    return word;
  }

  void AddLine(absl::string_view line) {
    if (IsAssignment(line)) return;
    for (const absl::string_view part : absl::StrSplit(line, absl::ByAnyChar(" \t\\"), absl::SkipEmpty())) {
      if (part[0] == '#') break;
      std::string word(Bare(Expand(Bare(part))));
      size_t equals = word.find('=');
      if (equals != std::string::npos && IsName(word.substr(0, equals))) {
        std::string value(Bare(word.substr(equals + 1)));
        if (!absl::StartsWith(value, "--")) {
          variables_[word.substr(0, equals)] = value;
          continue;
        }
        word = value;
        equals = word.find('=');
      }
      if (absl::StartsWith(word, "--") && equals != std::string::npos) {
        words_.push_back(word.substr(0, equals));
        word = std::string(Bare(word.substr(equals + 1)));
      } else if (absl::StartsWith(word, "--") && absl::EndsWith(word, ":")) {  // a map of arguments in YAML
        word.pop_back();
      }
      if (!word.empty()) words_.push_back(word);
    }
    words_.emplace_back();  // the value of a flag is on the same line
  }

  // Replaces "${NAME}", "$NAME" and "${NAME:-value}" by values that were set before; other names stay.
  std::string Expand(absl::string_view word) const {
    std::string out;
    while (!word.empty()) {
      if (word[0] != '$' || out.size() > kLongest) {
        out.push_back(word[0]);
        word.remove_prefix(1);
        continue;
      }
      const bool braces = word.size() > 1 && word[1] == '{';
      size_t end = braces ? word.find('}') : 1;
      if (end == absl::string_view::npos) return absl::StrCat(out, word);
      while (!braces && end < word.size() &&
             (word[end] == '_' || absl::ascii_isalnum(static_cast<unsigned char>(word[end]))))
        ++end;
      const absl::string_view inner = braces ? word.substr(2, end - 2) : word.substr(1, end - 1);
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(inner, absl::MaxSplits(":-", 1));
      const auto it = variables_.find(std::string(parts.first));
      absl::StrAppend(&out, it != variables_.end() ? it->second : std::string(parts.second));
      word.remove_prefix(braces ? end + 1 : end);
    }
    return out;
  }

  static constexpr size_t kLongest = 4096;
  std::map<std::string, std::string> variables_;
  std::vector<std::string> words_;
};

// Whether an argument has several words.
bool IsList(absl::string_view key) { return key == "recompute_modules"; }

}  // namespace

void ReadArguments(absl::string_view content, ForeignKeys* keys) {
  const std::vector<std::string> words = Words(content).words();
  for (size_t i = 0; i < words.size(); ++i) {
    if (!absl::StartsWith(words[i], "--") || words[i].size() < 3) continue;
    const std::string key = absl::StrReplaceAll(words[i].substr(2), {{"-", "_"}});
    const auto is_value = [&](size_t n) {
      return n < words.size() && !words[n].empty() && !absl::StartsWith(words[n], "--");
    };
    std::string value = is_value(i + 1) ? words[i + 1] : "true";
    for (size_t n = i + 2; IsList(key) && is_value(n); ++n) absl::StrAppend(&value, " ", words[n]);
    keys->Set(key, value);
  }
}

}  // namespace chakra::foreign
