#include "trace/generate/importer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/checksum.h"
#include "trace/base/status_macros.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"
#include "trace/generate/write.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"

namespace chakra::generate {
namespace {

constexpr absl::string_view kEndings[] = {".txtpb", ".toml", ".yaml", ".yml", ".sh", ".args"};

constexpr absl::string_view kScheme = "workload:";

// A workload and its source.
struct Source {
  std::string name;
  proto::Workload workload;
  InputFile file;
};

absl::StatusOr<Source> FromMemory(absl::string_view input) {
  Source source;
  const absl::string_view text = absl::StripPrefix(input, kScheme);
  RETURN_IF_ERROR(ParseTextMessage(text, "workload", &source.workload));
  const proto::Workload& w = source.workload;
  source.name = !w.name().empty() ? w.name() : !w.model().preset().empty() ? w.model().preset() : "workload";
  source.file = {source.name, Sha256Hex(text), text.size(), "workload"};
  return source;
}

absl::StatusOr<Source> FromFile(const std::string& path) {
  WorkloadOptions from;
  from.file = path;
  ASSIGN_OR_RETURN(auto workload, ReadWorkload(from));
  ASSIGN_OR_RETURN(const auto content, ReadFileAsItIs(path));
  return Source{path, std::move(workload), {path, Sha256Hex(content), content.size(), "workload"}};
}

absl::Status CheckOptions(const ReadOptions& options) {
  if (!options.groups_file.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        options.groups_file, ": a workload has its own process groups; expected no groups file"));
  if (options.capture.steps.empty() && options.capture.ranks.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("only captures allow selecting steps and ranks; this is a workload");
}

absl::StatusOr<TraceSet> Read(const std::vector<std::string>& inputs, const ReadOptions& options) {
  std::error_code error;
  if (inputs.size() != 1 || std::filesystem::is_directory(inputs[0], error)) {
    return absl::InvalidArgumentError(absl::StrCat(inputs.empty() ? "no input" : inputs[0],
                                                   ": a workload is a whole run; expected its file alone"));
  }
  RETURN_IF_ERROR(CheckOptions(options));
  ASSIGN_OR_RETURN(auto source, IsWorkloadInput(inputs[0]) ? FromMemory(inputs[0]) : FromFile(inputs[0]));
  const auto with_name = [&](const absl::Status& s) {
    return absl::Status(s.code(), absl::StrCat(source.name, ": ", s.message()));
  };
  const auto plan = ResolvePlan(source.workload, options.domain);
  if (!plan.ok()) return with_name(plan.status());
  const auto step = BuildStep(*plan, options.threads);
  if (!step.ok()) return with_name(step.status());
  auto set = TracesOf(*step, source.name, options);
  if (set.ok()) set->inputs.push_back(source.file);
  if (set.ok() && source.workload.left_out_size() > 0) set->warnings.push_back(LeftOut(source.workload));
  return set;
}

}  // namespace

std::string WorkloadInput(const proto::Workload& workload) {
  return absl::StrCat(kScheme, FormatMessage(workload, MessageFormat::kText).value_or(""));
}

bool IsWorkloadInput(absl::string_view input) { return absl::StartsWith(input, kScheme); }

bool AreWorkload(const std::vector<std::string>& inputs) {
  if (inputs.size() != 1) return false;
  if (IsWorkloadInput(inputs[0])) return true;
  std::error_code error;
  return std::filesystem::is_regular_file(inputs[0], error) &&
         LooksLikeWorkload(ReadHead(inputs[0], Importer::kSniffed).value_or(""));
}

const Importer kImporter = {
    .name = "workload",
    .title = "workload",
    .help = "a training step by its model, see `chakra-replay generate`",
    .endings = kEndings,
    .sniff = LooksLikeWorkload,
    .run = Read,
    .recorded = false,
};

}  // namespace chakra::generate
