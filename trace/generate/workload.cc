#include "trace/generate/workload.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/foreign.h"
#include "trace/generate/huggingface/hf_config.h"
#include "trace/generate/presets.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"
#include "trace/io/set_field.h"
#include "trace/io/settings.h"

namespace chakra::generate {
namespace {

constexpr size_t kMostBytes = size_t{16} << 20;

bool IsFile(const std::string& path) {
  std::error_code error;
  return absl::EndsWith(path, ".json") || std::filesystem::is_regular_file(path, error);
}

// A file of a framework in place of a proto::Workload.
struct FrameworkFile {
  std::string path, content;
  foreign::Role role = foreign::Role::kNone;
};

// The file at `path`; no role if it is none of a framework, or cannot be read: the other reader returns the
// error.
FrameworkFile FindForeign(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  absl::StatusOr<std::string> content = ReadFile(path, kMostBytes);
  if (!content.ok()) return {};
  const foreign::Role role = foreign::RoleOf(*content);
  return {path, *std::move(content), role};
}

absl::Status TakeForeign(const FrameworkFile& file, const foreign::Beside& beside,
                         proto::Workload* workload) {
  ASSIGN_OR_RETURN(proto::Workload read, foreign::ReadForeign(file.content, file.path, beside));
  const std::string folder = std::filesystem::path(file.path).parent_path().string();
  if (absl::Status s = ExpandModel(folder, read.mutable_model()); !s.ok())
    return absl::Status(s.code(), absl::StrCat(file.path, ": ", s.message()));
  workload->MergeFrom(read);
  return absl::OkStatus();
}

// The file that --model names before a colon; "": it names none.
std::string FileOfModel(const std::string& text) {
  const size_t equals = text.find('='), colon = text.find(':');
  if (equals != std::string::npos && colon >= equals) return "";
  const std::string name(absl::StripAsciiWhitespace(text.substr(0, colon)));
  return IsFile(name) ? name : "";
}

// The error for a file of --model that is neither JSON nor of a framework.
absl::Status NoModelFile(const FrameworkFile& file, const foreign::Beside& beside) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--model: ", foreign::ReadForeign(file.content, file.path, beside).status().message(),
      ", or a config.json of HuggingFace",
      absl::EndsWith(file.path, ".py")
          ? "; a Python file cannot be read: print its configuration as JSON first, as torchtitan's to_json()"
          : ""));
}

absl::Status CheckModelText(const std::string& text) {
  if (absl::Status s = CheckColon(text, "a change of a named model"); !s.ok())
    return absl::InvalidArgumentError(absl::StrCat("--model ", text, ": ", s.message()));
  return absl::OkStatus();
}

// --model: NAME, FILE, keys, or NAME or FILE with keys after a colon. A framework's file describes the whole
// workload.
absl::Status ReadModelText(const std::string& text, const FrameworkFile& file, const foreign::Beside& beside,
                           proto::Workload* workload) {
  proto::Model* const model = workload->mutable_model();
  RETURN_IF_ERROR(CheckModelText(text));
  const size_t equals = text.find('='), colon = text.find(':');
  const bool named = equals == std::string::npos || colon < equals;
  if (!named) return ReadSettings(text, "--model", model);
  proto::Model below;
  if (file.role != foreign::Role::kNone) {
    if (absl::Status s = TakeForeign(file, beside, workload); !s.ok())
      return absl::Status(s.code(), absl::StrCat("--model: ", s.message()));
  } else {
    const std::string name(absl::StripAsciiWhitespace(text.substr(0, colon)));
    const absl::string_view content = absl::StripLeadingAsciiWhitespace(file.content);
    if (!content.empty() && content.front() != '{') return NoModelFile(file, beside);
    if (IsFile(name)) {
      below.set_config(name);
    } else {
      below.set_preset(name);
    }
    if (absl::Status s = ExpandModel("", &below); !s.ok())
      return absl::Status(s.code(), absl::StrCat("--model: ", s.message()));
    model->MergeFrom(below);
  }
  return colon == std::string::npos ? absl::OkStatus()
                                    : ReadSettings(text.substr(colon + 1), "--model", model);
}

// What the options say beside a framework's file.
absl::StatusOr<foreign::Beside> BesideOf(const WorkloadOptions& options) {
  foreign::Beside out;
  RETURN_IF_ERROR(CheckModelText(options.model));
  RETURN_IF_ERROR(ReadSettings(options.parallel, "--parallel", out.given.mutable_parallel()));
  RETURN_IF_ERROR(ReadSettings(options.training, "--training", out.given.mutable_training()));
  RETURN_IF_ERROR(SetFields(options.set, &out.given));
  const size_t equals = options.model.find('='), colon = options.model.find(':');
  const bool named = !options.model.empty() && (equals == std::string::npos || colon < equals);
  if (!named) {
    RETURN_IF_ERROR(ReadSettings(options.model, "--model", out.given.mutable_model()));
  }
  // Keys alone change the file's model, unless they are a whole model.
  const proto::Model& model = out.given.model();
  out.has_model = named || model.has_hidden() || !model.preset().empty() || !model.config().empty();
  return out;
}

}  // namespace

absl::Status ExpandModel(absl::string_view folder, proto::Model* model) {
  proto::Model below;
  if (!model->preset().empty() && !model->config().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("model.preset is \"", model->preset(),
                                                   "\" and model.config is \"", model->config(),
                                                   "\"; expected one of them"));
  }
  if (!model->preset().empty()) {
    ASSIGN_OR_RETURN(below, FindPreset(model->preset()));
  } else if (!model->config().empty()) {
    const std::filesystem::path path(model->config());
    const std::string at = folder.empty() || path.is_absolute()
                               ? model->config()
                               : (std::filesystem::path(std::string(folder)) / path).string();
    ASSIGN_OR_RETURN(below, ReadHuggingFaceConfig(at));
  } else {
    return absl::OkStatus();
  }
  below.MergeFrom(*model);
  below.clear_config();
  model->Swap(&below);
  return absl::OkStatus();
}

absl::StatusOr<proto::Workload> ReadWorkload(const WorkloadOptions& options) {
  proto::Workload w;
  const FrameworkFile file = FindForeign(options.file), of_model = FindForeign(FileOfModel(options.model));
  ASSIGN_OR_RETURN(foreign::Beside beside, BesideOf(options));
  if (file.role == foreign::Role::kLauncher && of_model.role == foreign::Role::kTrainer) {
    beside.launcher = options.file;  // one run, described by two files
  } else if (file.role != foreign::Role::kNone) {
    RETURN_IF_ERROR(TakeForeign(file, beside, &w));
  } else if (!options.file.empty()) {
    RETURN_IF_ERROR(ReadMessageFile(options.file, &w));
    const std::string folder = std::filesystem::path(options.file).parent_path().string();
    if (absl::Status s = ExpandModel(folder, w.mutable_model()); !s.ok())
      return absl::Status(s.code(), absl::StrCat(options.file, ": ", s.message()));
  }
  if (!options.model.empty()) {
    beside.has_model = false;  // this option gives it
    RETURN_IF_ERROR(ReadModelText(options.model, of_model, beside, &w));
  }
  RETURN_IF_ERROR(ReadSettings(options.parallel, "--parallel", w.mutable_parallel()));
  RETURN_IF_ERROR(ReadSettings(options.training, "--training", w.mutable_training()));
  const bool named =
      !w.model().preset().empty() || !w.model().config().empty() || !w.model().source().empty();
  RETURN_IF_ERROR(SetFields(options.set, &w));
  if (!named) {  // the model that --set names
    RETURN_IF_ERROR(ExpandModel("", w.mutable_model()));
  }
  return w;
}

bool IsWorkloadField(absl::string_view path) {
  const absl::string_view first = path.substr(0, path.find('.'));
  return first != path && (first == "model" || first == "parallel" || first == "training");
}

std::string LeftOut(const proto::Workload& workload) {
  if (workload.left_out().empty()) return "";
  return absl::StrCat("the step leaves out settings of ", workload.left_out_of(), ": ",
                      absl::StrJoin(workload.left_out(), "; "));
}

bool LooksLikeWorkload(absl::string_view head) {
  if (foreign::LooksForeign(head)) return true;
  for (absl::string_view line : absl::StrSplit(head, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#' || line == "{") continue;
    absl::ConsumePrefix(&line, "{");
    line = absl::StripLeadingAsciiWhitespace(line);
    absl::ConsumePrefix(&line, "\"");
    if (absl::ConsumePrefix(&line, "name")) {
      absl::ConsumePrefix(&line, "\"");
      if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), ":")) continue;
      return false;
    }
    for (const absl::string_view field : {"model", "parallel", "training"}) {
      absl::string_view rest = line;
      if (!absl::ConsumePrefix(&rest, field)) continue;
      absl::ConsumePrefix(&rest, "\"");
      rest = absl::StripLeadingAsciiWhitespace(rest);
      return rest.empty() || rest[0] == '{' || rest[0] == ':' || rest[0] == '<';
    }
    return false;
  }
  return false;
}

}  // namespace chakra::generate
