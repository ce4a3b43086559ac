#include "replay/sweep/spec.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/io/field_line.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"

namespace chakra::sweep {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// The steps of a path such as "group[0].axis[2].range", up to the first unknown field.
std::vector<FieldStep> Steps(absl::string_view path) {
  std::vector<FieldStep> out;
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
  const int line = LineOfField(spec.text, spec.sweep, Steps(message.substr(0, message.find(": "))));
  return absl::Status(error.code(), line > 0 ? absl::StrCat(spec.source, ":", line, ": ", message)
                                             : absl::StrCat(spec.source, ": ", message));
}

}  // namespace chakra::sweep
