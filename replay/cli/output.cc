#include "replay/cli/output.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"
#include "trace/base/status_macros.h"
#include "trace/import/inputs.h"

namespace chakra::cli {
namespace {

bool SameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto full = [&](const std::string& path) {
    return path == "-" ? std::filesystem::path(path)
                       : std::filesystem::absolute(path, error).lexically_normal();
  };
  return full(a) == full(b);
}

}  // namespace

absl::Status Output::Open() {
  if (!asked() || path == "-") return absl::OkStatus();
  RETURN_IF_ERROR(CheckOutputPath(path));
  return file.Open(path);
}

absl::Status Output::Append(absl::string_view bytes) {
  return path == "-" ? WriteOutput(path, bytes) : file.Append(bytes);
}

absl::Status Output::Finish() { return path == "-" ? absl::OkStatus() : file.Finish(); }

absl::Status WriteOutputs(std::vector<NamedContent> outputs) {
  std::stable_partition(outputs.begin(), outputs.end(), [](const NamedContent& o) { return o.path != "-"; });
  absl::Status status;
  for (const NamedContent& output : outputs) {
    if (!output.path.empty()) status.Update(WriteOutput(output.path, output.content));
  }
  return status;
}

absl::Status CheckApart(const NamedOutput& output, const std::vector<NamedOutput>& others) {
  for (const NamedOutput& other : others) {
    if (!SameFile(other.path, output.path)) continue;
    return absl::InvalidArgumentError(absl::StrCat(output.what, " and ", other.what, " both go to ",
                                                   output.path == "-" ? "standard output" : output.path,
                                                   "; expected different files"));
  }
  return absl::OkStatus();
}

absl::Status CheckOverInputs(const CLI::App& app) {
  constexpr const char* kOutputs[] = {"--report",   "--html",     "--timeline",    "--rows",
                                      "--flow-log", "--link-log", "--link-totals", "--sweep"};
  std::vector<NamedOutput> outputs;
  std::vector<std::string> inputs = app.remaining();
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string> values = option->results();
    const bool out = std::any_of(std::begin(kOutputs), std::end(kOutputs),
                                 [&](const char* name) { return option->check_name(name); });
    if (!out) inputs.insert(inputs.end(), values.begin(), values.end());
    for (const std::string& value : values) {
      std::error_code error;
      if (out && std::filesystem::is_regular_file(value, error))
        outputs.push_back({value, option->get_name()});
    }
  }
  if (outputs.empty()) return absl::OkStatus();
  std::vector<std::string> files = inputs;
  for (const std::string& input : inputs) {
    files.push_back(input.substr(0, input.find(':')));  // FILE:key=value
    const absl::StatusOr<std::vector<TraceFile>> traces =
        ResolveInputs({input});  // only folders and prefixes name traces
    if (!traces.ok()) continue;
    for (const TraceFile& trace : *traces) {
      files.push_back(trace.path);
      files.push_back(absl::StrCat(trace.prefix, ".json"));  // the group file
    }
  }
  for (const NamedOutput& output : outputs) {
    for (const std::string& file : files) {
      std::error_code error;
      if (file.empty() || !std::filesystem::equivalent(output.path, file, error)) continue;
      return absl::InvalidArgumentError(absl::StrCat(output.what, " would overwrite ", output.path,
                                                     ", which this run reads; expected another file"));
    }
  }
  return absl::OkStatus();
}

}  // namespace chakra::cli
