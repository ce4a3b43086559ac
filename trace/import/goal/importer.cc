#include "trace/import/goal/importer.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/goal/program.h"
#include "trace/import/goal/to_traces.h"
#include "trace/io/byte_source.h"

namespace chakra::goal {
namespace {

constexpr absl::string_view kEndings[] = {".goal", ".bin"};

bool LooksLikeGoal(absl::string_view head) { return LooksLikeGoalText(head) || LooksLikeGoalBinary(head); }

absl::StatusOr<TraceSet> ReadGoal(const std::vector<std::string>& inputs, const ReadOptions& options) {
  std::error_code error;
  if (inputs.size() != 1 || std::filesystem::is_directory(inputs[0], error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        inputs.empty() ? "no input" : inputs[0], ": a GOAL program is a whole run; expected its file alone"));
  }
  if (!options.groups_file.empty() || !options.capture.steps.empty() || !options.capture.ranks.empty() ||
      !options.capture.step_range.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(inputs[0], ": a GOAL program has no process groups, and no steps or ranks to select"));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(inputs[0]));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(disk.get(), inputs[0]));
  Buffer plain;
  RETURN_IF_ERROR(ReadAll(content.get(), inputs[0], &plain));
  ASSIGN_OR_RETURN(Program program, LooksLikeGoalBinary(plain.view())
                                        ? ReadGoalBinary(plain.view(), inputs[0])
                                        : ReadGoalText(plain.view(), inputs[0]));
  ASSIGN_OR_RETURN(TraceSet set, ProgramTraces(std::move(program), inputs[0], options));
  InputFile& input = set.inputs.emplace_back();
  input.path = inputs[0];
  input.role = "trace";
  RETURN_IF_ERROR(disk->Finish(&input.sha256, &input.bytes));
  return set;
}

}  // namespace

const Importer kImporter = {
    .name = "goal",
    .title = "GOAL program",
    .help = "text or binary, as LogGOPSim reads it",
    .endings = kEndings,
    .sniff = LooksLikeGoal,
    .run = ReadGoal,
    .recorded = false,
};

}  // namespace chakra::goal
