#include "trace/io/field_line.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <memory>

#include "absl/status/statusor.h"
#include "trace/io/json_value.h"
#include "trace/io/sniff.h"

namespace chakra {
namespace {

using google::protobuf::Message;
using google::protobuf::TextFormat;

int InText(const std::string& text, const Message& type, absl::Span<const FieldStep> steps) {
  TextFormat::ParseInfoTree tree;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  const std::unique_ptr<Message> again(type.New());
  if (!parser.ParseFromString(text, again.get())) return 0;
  const TextFormat::ParseInfoTree* at = &tree;
  int line = 0;
  for (const FieldStep& step : steps) {
    const int found = at->GetLocation(step.field, step.index).line;
    if (found < 0) break;
    line = found + 1;
    if (step.field->message_type() == nullptr) break;
    at = at->GetTreeForNested(step.field, step.index);
    if (at == nullptr) break;
  }
  return line;
}

int InJson(const std::string& text, absl::Span<const FieldStep> steps) {
  const absl::StatusOr<JsonValue> root = ParseJson(text, "");
  if (!root.ok()) return 0;
  const JsonValue* at = &*root;
  for (const FieldStep& step : steps) {
    const JsonValue* next = at->Find(step.field->name());
    if (next == nullptr) next = at->Find(step.field->json_name());
    if (next == nullptr) break;
    at = next;
    if (step.index < 0) continue;
    if (at->items.size() <= static_cast<size_t>(step.index)) break;
    at = &at->items[static_cast<size_t>(step.index)];
  }
  if (at == &*root) return 0;
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at->begin), '\n'));
}

}  // namespace

int LineOfField(const std::string& text, const Message& type, absl::Span<const FieldStep> steps) {
  return LooksLikeJson(text) ? InJson(text, steps) : InText(text, type, steps);
}

}  // namespace chakra
