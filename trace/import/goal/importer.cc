#include "trace/import/goal/importer.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
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
    return absl::InvalidArgumentError(absl::StrCat(
        inputs[0], ": a GOAL program has no process groups, and neither steps nor ranks to select"));
  }
  absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(inputs[0]);
  if (!disk.ok()) return disk.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(disk->get(), inputs[0]);
  if (!content.ok()) return content.status();
  Buffer plain;
  if (absl::Status s = ReadAll(content->get(), inputs[0], &plain); !s.ok()) return s;
  absl::StatusOr<Program> program = LooksLikeGoalBinary(plain.view())
                                        ? ReadGoalBinary(plain.view(), inputs[0])
                                        : ReadGoalText(plain.view(), inputs[0]);
  if (!program.ok()) return program.status();
  absl::StatusOr<TraceSet> set = ProgramTraces(*std::move(program), inputs[0], options);
  if (!set.ok()) return set.status();
  InputFile& input = set->inputs.emplace_back();
  input.path = inputs[0];
  input.role = "trace";
  if (absl::Status s = (*disk)->Finish(&input.sha256, &input.bytes); !s.ok()) return s;
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
