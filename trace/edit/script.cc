#include "trace/edit/script.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "trace/convert/json_value.h"
#include "trace/proto_io.h"
#include "trace/sniff.h"

namespace chakra::edit {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::TextFormat;

struct Segment {
  std::string name;
  int index = 0;
};

// "select, any_of 0, name", "node.lane".
std::vector<Segment> Segments(absl::string_view path) {
  std::vector<Segment> out;
  for (const absl::string_view piece : absl::StrSplit(path, absl::ByAnyChar(",."), absl::SkipWhitespace())) {
    const std::vector<std::string> words = absl::StrSplit(piece, ' ', absl::SkipWhitespace());
    if (words.empty()) continue;
    Segment s{words[0], 0};
    if (words.size() > 1 && !absl::SimpleAtoi(words[1], &s.index)) s.index = 0;
    out.push_back(std::move(s));
  }
  return out;
}

// The field that is meant, of an edit or of its operation.
const FieldDescriptor* OperationOf(const proto::Edit& edit) {
  return edit.operation_case() == proto::Edit::OPERATION_NOT_SET
             ? nullptr
             : proto::Edit::descriptor()->FindFieldByNumber(edit.operation_case());
}

int InText(const Script& script, int index, const std::vector<Segment>& segments) {
  TextFormat::ParseInfoTree tree;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  proto::EditScript again;
  if (!parser.ParseFromString(script.text, &again)) return 0;
  const FieldDescriptor* edits = proto::EditScript::descriptor()->FindFieldByName("edit");
  int line = tree.GetLocation(edits, index).line;
  const TextFormat::ParseInfoTree* at = tree.GetTreeForNested(edits, index);
  const Descriptor* type = proto::Edit::descriptor();
  const FieldDescriptor* operation = OperationOf(script.script.edit(index));
  for (size_t i = 0; i < segments.size() && at != nullptr; ++i) {
    const FieldDescriptor* field = type->FindFieldByName(segments[i].name);
    if (i == 0 && operation != nullptr && (field == nullptr || segments[i].name != "select")) {
      line = std::max(line, at->GetLocation(operation, -1).line);
      at = at->GetTreeForNested(operation, -1);
      type = operation->message_type();
      field = type->FindFieldByName(segments[i].name);
      if (at == nullptr) break;
    }
    if (field == nullptr) break;
    const int which = field->is_repeated() ? segments[i].index : -1;
    const int found = at->GetLocation(field, which).line;
    if (found >= 0) line = found;
    if (field->type() != FieldDescriptor::TYPE_MESSAGE) break;
    at = at->GetTreeForNested(field, which);
    type = field->message_type();
  }
  return line + 1;
}

const JsonValue* Member(const JsonValue& object, const FieldDescriptor* field) {
  const JsonValue* found = object.Find(field->name());
  return found != nullptr ? found : object.Find(field->json_name());
}

int InJson(const Script& script, int index, const std::vector<Segment>& segments) {
  const absl::StatusOr<JsonValue> root = ParseJson(script.text, script.source);
  if (!root.ok()) return 0;
  const JsonValue* list = root->Find("edit");
  if (list == nullptr || list->items.size() <= static_cast<size_t>(index)) return 0;
  const JsonValue* at = &list->items[static_cast<size_t>(index)];
  const Descriptor* type = proto::Edit::descriptor();
  const FieldDescriptor* operation = OperationOf(script.script.edit(index));
  for (size_t i = 0; i < segments.size(); ++i) {
    const FieldDescriptor* field = type->FindFieldByName(segments[i].name);
    if (i == 0 && operation != nullptr && (field == nullptr || segments[i].name != "select")) {
      const JsonValue* inner = Member(*at, operation);
      if (inner == nullptr) break;
      at = inner;
      type = operation->message_type();
      field = type->FindFieldByName(segments[i].name);
    }
    const JsonValue* next = field == nullptr ? nullptr : Member(*at, field);
    if (next == nullptr) break;
    at = next;
    const auto item = static_cast<size_t>(segments[i].index);
    if (field->is_repeated() && at->items.size() > item) at = &at->items[item];
    if (field->type() != FieldDescriptor::TYPE_MESSAGE) break;
    type = field->message_type();
  }
  return 1 + static_cast<int>(std::count(script.text.begin(),
                                         script.text.begin() + static_cast<std::ptrdiff_t>(at->begin), '\n'));
}

}  // namespace

absl::StatusOr<Script> ReadScript(const std::string& path) {
  absl::StatusOr<std::string> content = ReadFile(path, kMostScriptBytes);
  if (!content.ok()) return content.status();
  Script out;
  out.source = path;
  if (absl::Status s = ParseMessage(*content, path, &out.script); !s.ok()) return s;
  out.text = *std::move(content);
  return out;
}

int LineOf(const Script& script, int index, absl::string_view path) {
  if (script.text.empty() || index < 0 || index >= script.script.edit_size()) return 0;
  const std::vector<Segment> segments = Segments(path);
  return LooksLikeJson(script.text) ? InJson(script, index, segments) : InText(script, index, segments);
}

std::vector<int> LinesOfEdits(const Script& script) {
  std::vector<int> out;
  if (script.text.empty()) return out;
  if (LooksLikeJson(script.text)) {
    const absl::StatusOr<JsonValue> root = ParseJson(script.text, script.source);
    const JsonValue* list = root.ok() ? root->Find("edit") : nullptr;
    if (list == nullptr) return out;
    int line = 1;
    size_t at = 0;
    for (const JsonValue& item : list->items) {
      line +=
          static_cast<int>(std::count(script.text.begin() + static_cast<std::ptrdiff_t>(at),
                                      script.text.begin() + static_cast<std::ptrdiff_t>(item.begin), '\n'));
      at = item.begin;
      out.push_back(line);
    }
    return out;
  }
  TextFormat::ParseInfoTree tree;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  proto::EditScript again;
  if (!parser.ParseFromString(script.text, &again)) return out;
  const FieldDescriptor* edits = proto::EditScript::descriptor()->FindFieldByName("edit");
  for (int i = 0; i < again.edit_size(); ++i) out.push_back(tree.GetLocation(edits, i).line + 1);
  return out;
}

}  // namespace chakra::edit
