#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <utility>

#include "replay/cli/capture_options.h"
#include "replay/cli/command.h"
#include "replay/cli/edit_options.h"
#include "replay/python/errors.h"
#include "replay/python/records.h"
#include "replay/python/tools.h"
#include "replay/python/watch.h"
#include "trace/edit/write_set.h"
#include "trace/import/inputs.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

// What `edit` is told, but for where it writes to.
struct EditArguments {
  CLI::App app{"", "edit"};
  std::vector<std::string> inputs;
  ReadOptions read;
  cli::EditOptions edits;

  EditArguments() {
    NameApp(&app);
    app.add_option("IN", inputs)->type_name("");
    edits.AddTo(&app, "--script", "Edits, in the order in which they are given");
    const std::string g = "Traces";
    cli::AddGroupsOption(&app, &read, g);
    app.add_flag("--strict", read.strict, "Refuse what would otherwise be repaired")->group(g);
    app.add_flag("--allow-truncated", read.allow_truncated, "Drop a partial last node instead of refusing it")
        ->group(g);
    app.add_option("--threads", read.threads, "Threads that edit; default: the machine's cores")
        ->type_name("N")
        ->group(g);
    cli::AddCaptureOptions(&app, &read);
    read.threads = cli::DefaultThreads();
  }
};

// Writes edited traces. What the edits did.
std::shared_ptr<proto::EditReport> WriteEdited(const std::vector<std::string>& words,
                                               const std::string& output) {
  EditArguments arguments;
  ParseWords(&arguments.app, words);
  if (!arguments.edits.any()) ThrowInvalid("edit expects an edit: script, do, or a short form as scale");
  ThrowIf(arguments.edits.Prepare());
  edit::EditRun run(&arguments.edits.plan());
  edit::EditedOutput out(output, std::nullopt, &run);
  ThrowIf(out.Open(!ParseTraceName(output).is_trace));
  const TraceSet set =
      OrThrow(edit::ReadEdited(arguments.inputs, arguments.read, arguments.edits.plan(), &run, &out));
  auto report = std::make_shared<proto::EditReport>(OrThrow(run.Finish()));
  report->set_version(CHAKRA_VERSION);
  ThrowIf(out.Commit(set));
  return report;
}

}  // namespace

const CLI::App& OptionsOfEdit() {
  static const EditArguments* const kEdit = new EditArguments();
  return kEdit->app;
}

void BindEdit(py::module_& module) {
  module.def("write_edited", [](const std::vector<std::string>& words, const std::string& output) {
    std::shared_ptr<proto::EditReport> report;
    Watch{py::none()}.Run([&] { report = WriteEdited(words, output); });
    return RecordObject(std::move(report));
  });
}

}  // namespace chakra::python
