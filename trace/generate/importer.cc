#include "trace/generate/importer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/checksum.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"
#include "trace/generate/write.h"
#include "trace/io/file.h"

namespace chakra::generate {
namespace {

constexpr absl::string_view kEndings[] = {".txtpb"};

absl::StatusOr<TraceSet> Read(const std::vector<std::string>& inputs, const ReadOptions& options) {
  std::error_code error;
  if (inputs.size() != 1 || std::filesystem::is_directory(inputs[0], error)) {
    return absl::InvalidArgumentError(absl::StrCat(inputs.empty() ? "no input" : inputs[0],
                                                   ": a workload is a whole run; expected its file alone"));
  }
  WorkloadOptions from;
  from.file = inputs[0];
  const auto workload = ReadWorkload(from);
  if (!workload.ok()) return workload.status();
  const auto plan = ResolvePlan(*workload);
  if (!plan.ok())
    return absl::Status(plan.status().code(), absl::StrCat(inputs[0], ": ", plan.status().message()));
  const auto step = BuildStep(*plan);
  if (!step.ok())
    return absl::Status(step.status().code(), absl::StrCat(inputs[0], ": ", step.status().message()));
  auto set = TracesOf(*step, inputs[0], options);
  if (!set.ok()) return set.status();
  const auto content = ReadFileAsItIs(inputs[0]);
  if (!content.ok()) return content.status();
  set->inputs.push_back({inputs[0], Sha256Hex(*content), content->size(), "workload"});
  return set;
}

}  // namespace

const Importer kImporter = {
    .name = "workload",
    .title = "workload",
    .help = "a step told by its model, see `chakra-replay generate`",
    .endings = kEndings,
    .sniff = LooksLikeWorkload,
    .run = Read,
};

}  // namespace chakra::generate
