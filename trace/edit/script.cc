#include "trace/edit/script.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"
#include "trace/io/field_line.h"
#include "trace/io/file.h"
#include "trace/io/json_value.h"
#include "trace/io/proto_io.h"
#include "trace/io/sniff.h"

namespace chakra::edit {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::TextFormat;

// Returns the steps of a path such as "select, any_of 0, name" or "node.lane" in edit `index`. A path leads
// through the edit's operation unless it begins with "select".
std::vector<FieldStep> Steps(const Script& script, int index, absl::string_view path) {
  const proto::Edit& edit = script.script.edit(index);
  std::vector<FieldStep> out = {{proto::EditScript::descriptor()->FindFieldByName("edit"), index}};
  const Descriptor* type = edit.GetDescriptor();
  const FieldDescriptor* operation = edit.operation_case() == proto::Edit::OPERATION_NOT_SET
                                         ? nullptr
                                         : type->FindFieldByNumber(edit.operation_case());
  for (const absl::string_view piece : absl::StrSplit(path, absl::ByAnyChar(",."), absl::SkipWhitespace())) {
    const std::vector<std::string> words = absl::StrSplit(piece, ' ', absl::SkipWhitespace());
    if (type == nullptr || words.empty()) break;
    if (out.size() == 1 && operation != nullptr && words[0] != "select") {
      out.push_back({operation, -1});
      type = operation->message_type();
    }
    const FieldDescriptor* field = type->FindFieldByName(words[0]);
    if (field == nullptr) break;
    int which = 0;
    if (words.size() > 1 && !absl::SimpleAtoi(words[1], &which)) which = 0;
    out.push_back({field, field->is_repeated() ? which : -1});
    type = field->message_type();
  }
  return out;
}

}  // namespace

absl::StatusOr<Script> ReadScript(const std::string& path) {
  ASSIGN_OR_RETURN(std::string content, ReadFile(path, kMostScriptBytes));
  Script out;
  out.source = path;
  RETURN_IF_ERROR(ParseMessage(content, path, &out.script));
  out.text = std::move(content);
  return out;
}

int LineOf(const Script& script, int index, absl::string_view path) {
  if (script.text.empty() || index < 0 || index >= script.script.edit_size()) return 0;
  return LineOfField(script.text, script.script, Steps(script, index, path));
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
