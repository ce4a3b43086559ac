#include "replay/sweep/spec.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/sweep/words.h"
#include "trace/base/status_macros.h"
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

// Paths in a spec may be relative to the folder of the spec. Replaces these by the path from the current
// folder.
class BesideSpec {
 public:
  explicit BesideSpec(const std::string& spec) : folder_(std::filesystem::path(spec).parent_path()) {}

  void Resolve(proto::Sweep* sweep) const {
    if (folder_.empty()) return;
    for (std::string& trace : *sweep->mutable_trace()) trace = Resolved(trace);
    for (std::string& word : *sweep->mutable_word()) word = Resolved(word);
    InWords(sweep->mutable_replay());
    for (proto::Axis& axis : *sweep->mutable_axis()) InAxis(&axis);
    for (proto::Group& group : *sweep->mutable_group()) InGroup(&group);
  }

 private:
  void InGroup(proto::Group* group) const {
    for (proto::Axis& axis : *group->mutable_axis()) InAxis(&axis);
    for (proto::Group& inner : *group->mutable_group()) InGroup(&inner);
  }
  void InAxis(proto::Axis* axis) const {
    for (std::string& value : *axis->mutable_value()) value = Resolved(value);
    for (proto::Choice& choice : *axis->mutable_choice()) InWords(choice.mutable_words());
  }
  void InWords(std::string* text) const {
    auto words = SplitWords(*text);
    if (!words.ok()) return;  // the caller that splits the words reports the error
    bool changed = false;
    for (std::string& word : *words) {
      std::string resolved = Resolved(word);
      changed = changed || resolved != word;
      word = std::move(resolved);
    }
    if (changed) *text = QuoteWords(*words);
  }
  // Resolves a word or a part of it: FIELD=FILE, FILE:key=value, TRACE@START.
  std::string Resolved(const std::string& word) const {
    for (const size_t begin : {size_t{0}, word.find('=') + 1}) {
      for (const size_t end : {word.size(), word.rfind(':'), word.rfind('@')}) {
        if (end == word.npos || end <= begin) continue;
        const std::string name = word.substr(begin, end - begin);
        const bool part = name.size() < word.size();
        if (!MayBePath(name, part)) continue;
        const std::filesystem::path path = name;
        if (path.is_absolute() || !Names(folder_ / path)) continue;
        return absl::StrCat(word.substr(0, begin), (folder_ / path).string(), word.substr(end));
      }
    }
    return word;
  }
  // A number is not a path, and a part of a word is a path only if it has a '/' or '.': `nodes=1` stays, even
  // if the spec's folder has a folder "1".
  static bool MayBePath(absl::string_view name, bool part) {
    double number;
    if (absl::SimpleAtod(name, &number)) return false;
    return !part || absl::StrContains(name, '/') || absl::StrContains(name, '.');
  }
  // Whether a file or folder of this name exists, or traces with this prefix. If its last part has {...},
  // whether the folder of that part exists.
  bool Names(const std::filesystem::path& path) const {
    std::error_code error;
    if (std::filesystem::exists(path, error)) return true;
    const std::string name = path.filename().string(), parent = path.parent_path().string();
    if (absl::StrContains(name, '{'))
      return parent != folder_ && std::filesystem::is_directory(parent, error);
    if (name.empty()) return false;
    for (const auto& file : std::filesystem::directory_iterator(parent, error)) {
      if (IsTraceOf(file.path().filename().string(), name)) return true;
    }
    return false;
  }
  static bool IsTraceOf(const std::string& file, const std::string& prefix) {
    return absl::StartsWith(file, prefix + ".") && absl::StrContains(file.substr(prefix.size()), ".et");
  }

  std::filesystem::path folder_;
};

}  // namespace

absl::StatusOr<Spec> ReadSpec(const std::string& path) {
  ASSIGN_OR_RETURN(auto content, ReadFile(path));
  Spec out;
  out.source = path;
  RETURN_IF_ERROR(ParseMessage(content, path, &out.sweep));
  BesideSpec(path).Resolve(&out.sweep);
  out.text = std::move(content);
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
