#include <yaml-cpp/yaml.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/topology/inputs/assembly.h"
#include "backends/topology/inputs/infragraph.h"
#include "trace/base/json_text.h"
#include "trace/base/status_macros.h"
#include "trace/io/json_message.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

absl::Status CheckSchema(const JsonReader& reader, const JsonValue& root) {
  for (const JsonMember& m : root.members) {
    if (m.key != "inventory" && m.key != "connections") continue;
    return reader.Error(m.at, absl::StrCat("\"", m.key, "\" is of InfraGraph before version 1; expected ",
                                           "devices, links, instances and edges"));
  }
  return absl::OkStatus();
}

absl::StatusOr<infragraph::Annotated> FromJson(absl::string_view text, const std::string& file) {
  JsonReader reader(text, file);
  ASSIGN_OR_RETURN(const auto root, reader.Next());
  if (!reader.AtEnd()) return reader.Error(root.end, "JSON: more text after the end of the value");
  RETURN_IF_ERROR(CheckSchema(reader, root));
  infragraph::Annotated out;
  const bool wrapped = root.Find("infrastructure") != nullptr || root.Find("annotations") != nullptr;
  google::protobuf::Message* target = &out;
  if (!wrapped) target = out.mutable_infrastructure();
  RETURN_IF_ERROR(JsonToMessage(reader, root, target));
  return out;
}

// Converts a YAML document to JSON. All scalars become strings, which the JSON parser of messages also
// accepts for numbers.
class YamlPrinter {
 public:
  YamlPrinter(size_t limit, std::string* out) : limit_(limit), out_(*out) {}

  absl::Status Print(const YAML::Node& node, int depth = 0) {
    if (depth > 50) return absl::InvalidArgumentError("nested more than 50 levels deep");
    if (out_.size() > limit_)
      return absl::InvalidArgumentError("its aliases expand to far more than the file");
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        AppendJsonText(node.Scalar(), &out_);
        return absl::OkStatus();
      case YAML::NodeType::Sequence:
        return PrintList(node, depth);
      case YAML::NodeType::Map:
        return PrintMap(node, depth);
      default:
        out_ += "null";
        return absl::OkStatus();
    }
  }

 private:
  absl::Status PrintList(const YAML::Node& node, int depth) {
    out_ += '[';
    bool first = true;
    for (const YAML::Node& item : node) {
      if (!first) out_ += ',';
      first = false;
      RETURN_IF_ERROR(Print(item, depth + 1));
    }
    out_ += ']';
    return absl::OkStatus();
  }

  absl::Status PrintMap(const YAML::Node& node, int depth) {
    out_ += '{';
    bool first = true;
    for (const auto& item : node) {
      if (!item.first.IsScalar()) return absl::InvalidArgumentError("a key that is not a word");
      if (!first) out_ += ",\n";
      first = false;
      AppendJsonText(item.first.Scalar(), &out_);
      out_ += ':';
      RETURN_IF_ERROR(Print(item.second, depth + 1));
    }
    out_ += '}';
    return absl::OkStatus();
  }

  size_t limit_;
  std::string& out_;
};

absl::StatusOr<infragraph::Annotated> FromYaml(absl::string_view text, const std::string& file) {
  std::string json;
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsMap()) return BadNetwork(file, "YAML: expected keys as devices, instances and edges");
    const absl::Status s = YamlPrinter(20 * text.size() + 4096, &json).Print(root);
    if (!s.ok()) return BadNetwork(file, absl::StrCat("YAML: ", s.message()));
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", e.mark.line + 1, ":", e.mark.column + 1, ": YAML: ", e.msg));
  }
  return FromJson(json, absl::StrCat(file, " (as JSON)"));
}

// Returns the word at the beginning of the line, and sets `rest` to the rest of the line; "" for an indented
// line.
absl::string_view FirstWord(absl::string_view line, absl::string_view* rest) {
  size_t n = 0;
  while (n < line.size() && (absl::ascii_isalpha(static_cast<unsigned char>(line[n])) || line[n] == '_')) ++n;
  *rest = absl::StripAsciiWhitespace(line.substr(n));
  return line.substr(0, n);
}

// Features that distinguish YAML from the two text forms.
struct Looks {
  bool yaml = false;     // the text has "devices:" with nothing after it on the line
  bool wrapped = false;  // "infrastructure {"
};

Looks LookAt(absl::string_view text) {
  Looks looks;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::string_view rest;
    const absl::string_view word = FirstWord(line, &rest);
    if (word.empty()) continue;
    const bool known = word == "devices" || word == "instances" || word == "edges" || word == "links" ||
                       word == "infrastructure" || word == "annotations" || word == "inventory";
    if (known && (rest == ":" || absl::StartsWith(rest, ": #") || absl::StartsWith(rest, ": [")))
      looks.yaml = true;
    if (word == "infrastructure" || word == "annotations") looks.wrapped = true;
  }
  return looks;
}

}  // namespace

absl::StatusOr<infragraph::Annotated> ParseInfraGraph(absl::string_view text, const std::string& file) {
  const absl::string_view trimmed = absl::StripLeadingAsciiWhitespace(text);
  if (trimmed.empty()) return BadNetwork(file, "empty; expected an InfraGraph");
  if (trimmed.front() == '{') return FromJson(text, file);
  const Looks looks = text.find('\0') == absl::string_view::npos ? LookAt(text) : Looks();
  if (looks.yaml) return FromYaml(text, file);
  infragraph::Annotated out;
  google::protobuf::Message* target = &out;
  if (!looks.wrapped) target = out.mutable_infrastructure();
  RETURN_IF_ERROR(ParseMessage(text, file, target));
  return out;
}

absl::StatusOr<ReadNetwork> ReadInfraGraph(absl::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const auto graph, ParseInfraGraph(text, file));
  return ExpandInfraGraph(graph, file);
}

}  // namespace chakra
