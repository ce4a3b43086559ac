#include "trace/foreign/text.h"

#include <yaml-cpp/yaml.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"
#include "trace/io/json_value.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace chakra::foreign {
namespace {

constexpr int kDeepest = 16;
constexpr size_t kMostKeys = 100'000;

std::string Inside(const std::string& table, absl::string_view key) {
  return table.empty() ? std::string(key) : absl::StrCat(table, ".", key);
}

absl::Status BadLine(const ForeignKeys& keys, int64_t line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(keys.name(), ": line ", line, ": ", what));
}

// `left`: nodes that may still be visited. A text of a few aliases can stand for any number of nodes.
void FlattenYaml(const YAML::Node& node, const std::string& table, int depth, size_t* left,
                 ForeignKeys* keys) {
  if (depth > kDeepest || *left == 0) return;
  --*left;
  if (node.IsMap()) {
    for (const auto& entry : node) {
      if (entry.first.IsScalar())
        FlattenYaml(entry.second, Inside(table, entry.first.Scalar()), depth + 1, left, keys);
    }
  } else if (node.IsScalar()) {
    keys->Set(table, node.Scalar());
  } else if (node.IsSequence()) {
    std::string list;
    for (const YAML::Node& item : node)
      absl::StrAppend(&list, list.empty() ? "" : ",", item.IsScalar() ? item.Scalar() : "...");
    keys->Set(table, absl::StrCat("[", list, "]"));
  }
}

std::string JsonText(const JsonValue& v) {
  switch (v.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return v.boolean ? "true" : "false";
    case JsonValue::Kind::kNumber:
    case JsonValue::Kind::kString:
      return v.text;
    default:
      return "...";
  }
}

void FlattenJson(const JsonValue& v, const std::string& table, int depth, ForeignKeys* keys) {
  if (depth > kDeepest) return;
  if (v.is(JsonValue::Kind::kObject)) {
    for (const JsonMember& m : v.members) FlattenJson(m.value, Inside(table, m.key), depth + 1, keys);
  } else if (v.is(JsonValue::Kind::kArray)) {
    std::string list;
    for (const JsonValue& item : v.items) absl::StrAppend(&list, list.empty() ? "" : ",", JsonText(item));
    keys->Set(table, absl::StrCat("[", list, "]"));
  } else {
    keys->Set(table, JsonText(v));
  }
}

// A list of texts as in JSON; of other items, only whether it is empty.
std::string TomlList(const toml::array& list) {
  if (!list.is_homogeneous<std::string>()) return list.empty() ? "[]" : "[...]";
  std::string out;
  for (const toml::node& item : list)
    absl::StrAppend(&out, out.empty() ? "" : ",", item.value_or(std::string()));
  return absl::StrCat("[", out, "]");
}

void FlattenToml(const toml::table& table, const std::string& name, int depth, ForeignKeys* keys) {
  if (depth > kDeepest) return;
  for (const auto& [key, node] : table) {
    const std::string path = Inside(name, std::string(key.str()));
    if (const toml::table* inner = node.as_table()) {
      FlattenToml(*inner, path, depth + 1, keys);
    } else if (const auto* text = node.as_string()) {
      keys->Set(path, text->get());
    } else if (const auto* number = node.as_integer()) {
      keys->Set(path, absl::StrCat(number->get()));
    } else if (const auto* flag = node.as_boolean()) {
      keys->Set(path, flag->get() ? "true" : "false");
    } else if (const auto* real = node.as_floating_point()) {
      keys->Set(path, absl::StrCat(real->get()));
    } else if (const toml::array* list = node.as_array()) {
      keys->Set(path, TomlList(*list));
    }
  }
}

absl::Status ReadYaml(absl::string_view content, absl::string_view table, bool (*drops)(absl::string_view),
                      ForeignKeys* keys) {
  try {
    const YAML::Node root = YAML::Load(std::string(content));
    if (!root.IsMap()) return BadLine(*keys, 1, "expected a map of keys, as model: and train:");
    size_t left = kMostKeys;
    for (const auto& entry : root) {
      if (!entry.first.IsScalar()) continue;
      const std::string& key = entry.first.Scalar();
      const bool drop = drops != nullptr && entry.second.IsMap() && drops(key);
      FlattenYaml(entry.second, drop ? std::string(table) : Inside(std::string(table), key), 0, &left, keys);
    }
  } catch (const YAML::Exception& e) {
    return BadLine(*keys, e.mark.line + 1, e.msg);
  }
  return absl::OkStatus();
}

// The keys of the first level of nesting. The text may end anywhere.
TopKeys JsonKeys(absl::string_view text) {
  TopKeys out{.json = true, .names = {}};
  int depth = 0;
  std::string last;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const size_t begin = ++i;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      if (i >= text.size()) break;
      last = std::string(text.substr(begin, i - begin));
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == ':' && depth == 1) {
      out.names.insert(last);
    }
  }
  return out;
}

}  // namespace

TopKeys TopKeysOf(absl::string_view text) {
  const absl::string_view begin = absl::StripLeadingAsciiWhitespace(text);
  if (absl::StartsWith(begin, "{")) return JsonKeys(begin);
  TopKeys out;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos || colon == 0) continue;
    if (colon + 1 < line.size() && !absl::ascii_isspace(static_cast<unsigned char>(line[colon + 1])))
      continue;
    const absl::string_view name = line.substr(0, colon);
    bool plain = true;
    for (const char c : name)
      plain = plain && (c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)));
    if (plain) out.names.emplace(name);
  }
  return out;
}

absl::Status ReadTree(absl::string_view content, absl::string_view table,
                      bool (*drops)(absl::string_view table), ForeignKeys* keys) {
  if (!absl::StartsWith(absl::StripLeadingAsciiWhitespace(content), "{"))
    return ReadYaml(content, table, drops, keys);
  ASSIGN_OR_RETURN(const JsonValue root, ParseJson(content, keys->name()));
  FlattenJson(root, std::string(table), 0, keys);
  return absl::OkStatus();
}

absl::Status ReadToml(absl::string_view content, ForeignKeys* keys) {
  const toml::parse_result result = toml::parse(std::string_view(content.data(), content.size()));
  if (!result) {
    return BadLine(*keys, static_cast<int64_t>(result.error().source().begin.line),
                   std::string(result.error().description()));
  }
  FlattenToml(result.table(), "", 0, keys);
  return absl::OkStatus();
}

}  // namespace chakra::foreign
