#include "trace/generate/foreign.h"

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/generate/foreign_keys.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace chakra::generate {
namespace {

enum class ForeignKind : uint8_t { kNone, kArguments, kRecipe, kTorchtitan };

ForeignKind KindOf(absl::string_view text) {
  if (absl::StrContains(text, '\0')) return ForeignKind::kNone;
  if (absl::StrContains(text, "--num-layers") || absl::StrContains(text, "--hidden-size"))
    return ForeignKind::kArguments;
  bool recipe = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    for (const absl::string_view table : {"[model]", "[training]", "[parallelism]"}) {
      if (absl::StartsWith(line, table)) return ForeignKind::kTorchtitan;
    }
    recipe = recipe || absl::StartsWith(line, "tensor_model_parallel_size:");
  }
  return recipe ? ForeignKind::kRecipe : ForeignKind::kNone;
}

absl::Status BadValue(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", what));
}

// ---- arguments ----

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

// ---- YAML ----

void Flatten(const YAML::Node& node, const std::string& prefix, int depth, ForeignKeys* keys) {
  constexpr int kDeepest = 16;
  constexpr size_t kMost = 100'000;
  if (depth > kDeepest || keys->size() > kMost) return;
  if (node.IsMap()) {
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) continue;
      Flatten(entry.second,
              prefix.empty() ? entry.first.Scalar() : absl::StrCat(prefix, ".", entry.first.Scalar()),
              depth + 1, keys);
    }
  } else if (node.IsScalar()) {
    keys->Set(prefix, node.Scalar());
  } else if (node.IsSequence()) {
    std::string list;
    for (const YAML::Node& item : node) {
      if (item.IsScalar()) absl::StrAppend(&list, list.empty() ? "" : ",", item.Scalar());
    }
    keys->Set(prefix, absl::StrCat("[", list, "]"));
  }
}

// Reads a recipe. In tables whose keys are those of Megatron-LM, keys lose the name of the table.
absl::Status ReadRecipe(absl::string_view content, absl::string_view name, ForeignKeys* keys) {
  ForeignKeys whole(name);
  try {
    const YAML::Node root = YAML::Load(std::string(content));
    if (!root.IsMap()) return BadValue(name, "expected a map of tables, as model: and train:");
    for (const auto& entry : root) {
      if (!entry.first.IsScalar()) continue;
      const std::string& table = entry.first.Scalar();
      const bool known = table == "model" || table == "train" || table == "ddp" || table == "optimizer" ||
                         table == "mixed_precision" || table == "dataset" || table == "comm_overlap" ||
                         table == "trainer" || table == "data";
      Flatten(entry.second, known && entry.second.IsMap() ? "" : table, 0, keys);
    }
  } catch (const YAML::Exception& e) {
    return BadValue(name, absl::StrCat("line ", e.mark.line + 1, ": ", e.msg));
  }
  return absl::OkStatus();
}

// ---- TOML ----

void Flatten(const toml::table& table, const std::string& prefix, int depth, ForeignKeys* keys) {
  if (depth > 16) return;
  for (const auto& [key, node] : table) {
    const std::string path = absl::StrCat(prefix, prefix.empty() ? "" : ".", std::string(key.str()));
    if (const toml::table* inner = node.as_table()) {
      Flatten(*inner, path, depth + 1, keys);
    } else if (const auto* text = node.as_string()) {
      keys->Set(path, text->get());
    } else if (const auto* number = node.as_integer()) {
      keys->Set(path, absl::StrCat(number->get()));
    } else if (const auto* flag = node.as_boolean()) {
      keys->Set(path, flag->get() ? "true" : "false");
    } else if (const auto* real = node.as_floating_point()) {
      keys->Set(path, absl::StrCat(real->get()));
    } else if (const toml::array* list = node.as_array()) {
      keys->Set(path, list->empty() ? "[]" : "[...]");
    }
  }
}

absl::Status ReadToml(absl::string_view content, absl::string_view name, ForeignKeys* keys) {
  const toml::parse_result result = toml::parse(std::string_view(content.data(), content.size()));
  if (!result) {
    return BadValue(name, absl::StrCat("line ", result.error().source().begin.line, ": ",
                                       std::string(result.error().description())));
  }
  Flatten(result.table(), "", 0, keys);
  return absl::OkStatus();
}

}  // namespace

bool LooksForeign(absl::string_view head) { return KindOf(head) != ForeignKind::kNone; }

absl::StatusOr<proto::Workload> ReadForeign(absl::string_view content, absl::string_view name) {
  ForeignKeys keys(name);
  proto::Workload workload;
  absl::Status read;
  switch (KindOf(content)) {
    case ForeignKind::kArguments:
      ReadArguments(content, &keys);
      TakeMegatron(keys, false, &workload);
      break;
    case ForeignKind::kRecipe:
      read = ReadRecipe(content, name, &keys);
      if (read.ok()) TakeMegatron(keys, true, &workload);
      break;
    case ForeignKind::kTorchtitan:
      read = ReadToml(content, name, &keys);
      if (read.ok()) TakeTorchtitan(keys, &workload);
      break;
    case ForeignKind::kNone:
      read = BadValue(name,
                      "expected arguments of Megatron-LM, a recipe of Megatron-Bridge, or torchtitan's TOML");
  }
  if (!read.ok()) return read;
  if (!keys.status().ok()) return keys.status();
  workload.mutable_model()->set_source(std::string(name));
  return workload;
}

}  // namespace chakra::generate
