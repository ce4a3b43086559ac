#include "replay/sweep/spec.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/convert/json_value.h"
#include "trace/proto_io.h"
#include "trace/sniff.h"

namespace chakra::sweep {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::TextFormat;

struct Step {
  const FieldDescriptor* field;
  int index;  // -1: not repeated
};

// "group[0].axis[2].range" as far as there are such fields.
std::vector<Step> Steps(absl::string_view path) {
  std::vector<Step> out;
  const Descriptor* type = proto::Sweep::descriptor();
  for (const absl::string_view piece : absl::StrSplit(path, '.')) {
    const size_t bracket = std::min(piece.find('['), piece.size());
    const FieldDescriptor* field =
        type == nullptr ? nullptr : type->FindFieldByName(std::string(piece.substr(0, bracket)));
    if (field == nullptr) break;
    int index = field->is_repeated() ? 0 : -1;
    if (bracket + 2 < piece.size() && field->is_repeated() &&
        !absl::SimpleAtoi(piece.substr(bracket + 1, piece.size() - bracket - 2), &index)) {
      break;
    }
    out.push_back({field, index});
    type = field->message_type();
  }
  return out;
}

int LineInText(const std::string& text, const std::vector<Step>& steps) {
  TextFormat::ParseInfoTree tree;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  proto::Sweep again;
  if (!parser.ParseFromString(text, &again)) return 0;
  const TextFormat::ParseInfoTree* at = &tree;
  int line = 0;
  for (const Step& step : steps) {
    const int found = at->GetLocation(step.field, step.index).line;
    if (found < 0) break;
    line = found + 1;
    if (step.field->message_type() == nullptr) break;
    at = at->GetTreeForNested(step.field, step.index);
    if (at == nullptr) break;
  }
  return line;
}

int LineInJson(const std::string& text, const std::vector<Step>& steps) {
  const absl::StatusOr<JsonValue> root = ParseJson(text, "");
  if (!root.ok()) return 0;
  const JsonValue* at = &*root;
  for (const Step& step : steps) {
    const JsonValue* next = at->Find(step.field->name());
    if (next == nullptr) next = at->Find(step.field->json_name());
    if (next == nullptr) break;
    at = next;
    if (step.index >= 0 && at->items.size() > static_cast<size_t>(step.index))
      at = &at->items[static_cast<size_t>(step.index)];
  }
  return at == &*root ? 0
                      : 1 + static_cast<int>(std::count(
                                text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at->begin), '\n'));
}

}  // namespace

absl::StatusOr<Spec> ReadSpec(const std::string& path) {
  auto content = ReadFile(path);
  if (!content.ok()) return content.status();
  Spec out;
  out.source = path;
  if (absl::Status s = ParseMessage(*content, path, &out.sweep); !s.ok()) return s;
  out.text = *std::move(content);
  if (out.sweep.name().empty()) out.sweep.set_name(std::filesystem::path(path).stem().string());
  return out;
}

absl::Status InSpec(const Spec& spec, const absl::Status& error) {
  if (error.ok()) return error;
  const absl::string_view message = error.message();
  const std::vector<Step> steps = Steps(message.substr(0, message.find(": ")));
  int line = 0;
  if (!steps.empty())
    line = LooksLikeJson(spec.text) ? LineInJson(spec.text, steps) : LineInText(spec.text, steps);
  return absl::Status(error.code(), line > 0 ? absl::StrCat(spec.source, ":", line, ": ", message)
                                             : absl::StrCat(spec.source, ": ", message));
}

}  // namespace chakra::sweep
