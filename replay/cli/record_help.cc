// `record-help`: how to record the input of a replay.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"
#include "replay/cli/record_texts.h"

namespace chakra::cli {
namespace {

class RecordHelpCommand : public Command {
 public:
  explicit RecordHelpCommand(CLI::App* app) : Command(app) {
    std::vector<std::string> tools;
    std::string list;
    for (const RecordText& t : RecordTexts()) {
      tools.emplace_back(t.tool);
      absl::StrAppend(&list, "  ", t.tool, std::string(9 - t.tool.size(), ' '), t.title, "\n");
    }
    app->add_option("TOOL", tool_, "Tool that records: torch, nsys, jax, rocprof or nccl.")
        ->required()
        ->type_name("")
        ->check(OneOf(tools));
    app->footer(absl::StrCat("Tools:\n", list, "\nExample:\n  chakra-replay record-help nsys"));
  }

  int Run() override {
    for (const RecordText& t : RecordTexts()) {
      if (t.tool != tool_) continue;
      const absl::Status written = WriteOutput("-", t.text);
      return written.ok() ? kDone : Fail(written);
    }
    return kMisuse;  // the validator of the option accepts nothing else
  }

 private:
  std::string tool_;
};

}  // namespace

std::unique_ptr<Command> MakeRecordHelpCommand(CLI::App* root) {
  return std::make_unique<RecordHelpCommand>(
      root->add_subcommand("record-help", "Print how to record traces with a tool"));
}

}  // namespace chakra::cli
