#include "trace/model/inspect.h"

#include "replay/cli/command.h"
#include "replay/cli/message_options.h"
#include "replay/cli/terminal.h"
#include "trace/base/threads.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/import/registry.h"

namespace chakra::cli {
namespace {

class InspectCommand : public Command {
 public:
  explicit InspectCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    app->add_option("TRACE", inputs_, InputsHelp())->type_name("");
    AddGroupsOption(app, &read_);
    AddCaptureOptions(app, &read_);
    app->add_flag("--strict", read_.strict, "Refuse inputs that would otherwise be repaired.");
    app->add_flag("--allow-truncated", read_.allow_truncated,
                  "Drop a partial last node of a trace; without it the trace is refused.");
    app->add_option("--threads", read_.threads, "Number of threads; default: the machine's cores.")
        ->type_name("N")
        ->check(CLI::Range(1, 4096).description(""));
    app->add_option("--format", format_, "Format of the output: text or json; default: text.")
        ->type_name("FORMAT")
        ->check(OneOf({"text", "json"}));
    app->footer("Example:\n  chakra-replay inspect examples/transformer_step --format json");
    read_.threads = DefaultThreads();
  }

  int Run() override {
    if (inputs_.empty() && !read_.capture.named()) return Misuse("inspect expects at least one TRACE");
    read_.digests = format_ == "json";  // the text does not show them
    auto traces = ReadTraceSet(inputs_, read_);
    if (!traces.ok()) return Fail(traces.status());
    const proto::Inspection inspection = Inspect(*traces, read_.threads);
    std::string out;
    if (format_ == "json") {
      auto json = PrintInspectionJson(inspection);
      if (!json.ok()) return Fail(json.status());
      out = *std::move(json);
    } else {
      TextPage page = PageOf("-");
      out = page.Finish(PrintInspectionText(inspection, &page));
    }
    const absl::Status written = WriteOutput("-", out);
    return written.ok() ? kDone : Fail(written);
  }

 private:
  std::vector<std::string> inputs_;
  ReadOptions read_;
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Command> MakeInspectCommand(CLI::App* root) {
  return std::make_unique<InspectCommand>(
      root->add_subcommand("inspect", "Summarise traces: ranks, nodes, communication, problems"));
}

}  // namespace chakra::cli
