#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/command.pb.h"
#include "replay/python/errors.h"
#include "replay/python/options.h"
#include "replay/python/paths.h"
#include "replay/python/records.h"
#include "replay/python/tools.h"
#include "replay/python/watch.h"
#include "replay/run/arguments.h"
#include "replay/run/edits.h"
#include "trace/base/threads.h"
#include "trace/edit/write_set.h"
#include "trace/import/inputs.h"
#include "trace/io/options.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

// Writes edited traces. Returns the report of the edits.
std::shared_ptr<proto::EditReport> WriteEdited(const proto::EditedTraces& told, const std::string& output) {
  if (told.edits().edit().empty()) ThrowInvalid("edit expects an edit: script, do, or a short form as scale");
  ThrowIf(CheckEdits(told.edits().edit()));
  const ReadEdits edits = OrThrow(MakeEdits(told.edits().edit()));
  ReadOptions read;
  read.capture = SelectionOf(told.capture());
  read.groups_file = told.reading().groups().groups();
  read.strict = told.reading().strict();
  read.allow_truncated = told.reading().allow_truncated();
  read.threads = told.reading().has_threads() ? told.reading().threads() : DefaultThreads();
  edit::EditRun run(edits.plan.get());
  edit::EditedOutput out(output, std::nullopt, &run);
  ThrowIf(out.Open(!ParseTraceName(output).is_trace));
  const TraceSet set =
      OrThrow(edit::ReadEdited({told.trace().begin(), told.trace().end()}, read, *edits.plan, &run, &out));
  auto report = std::make_shared<proto::EditReport>(OrThrow(run.Finish()));
  report->set_version(CHAKRA_VERSION);
  ThrowIf(out.Commit(set));
  return report;
}

// The part of a run's arguments that reads traces, as `edit` accepts it. Errors: another option is set.
proto::EditedTraces EditedOf(proto::Run run) {
  proto::EditedTraces out;
  out.mutable_trace()->Swap(run.mutable_trace());
  out.mutable_capture()->Swap(run.mutable_capture());
  out.mutable_reading()->mutable_groups()->Swap(run.mutable_reading()->mutable_groups());
  out.mutable_reading()->set_strict(run.reading().strict());
  out.mutable_reading()->set_allow_truncated(run.reading().allow_truncated());
  run.mutable_reading()->clear_strict();
  run.mutable_reading()->clear_allow_truncated();
  for (proto::EditText& edit : *run.mutable_edit()) {
    if (edit.has_edit_file()) edit.set_script(std::string(edit.edit_file()));
  }
  out.mutable_edits()->mutable_edit()->Swap(run.mutable_edit());
  if (const auto more = PrintWords(run); !more.empty())
    ThrowInvalid(absl::StrCat("edit writes no traces that were read with ", more.front()));
  return out;
}

py::bytes ToldOfEdit(const py::object& traces, const py::dict& keywords) {
  proto::EditedTraces told;
  if (py::isinstance<py::bytes>(traces)) {
    told = EditedOf(MessageOf<proto::Run>(traces.cast<std::string>()));
  } else {
    for (const std::string& path : PathsOf(traces)) told.add_trace(path);
  }
  FillOptions(keywords, &told);
  return py::bytes(told.SerializeAsString());
}

}  // namespace

void BindEdit(py::module_& module) {
  module.def("told_of_edit", &ToldOfEdit);
  module.def("write_edited", [](const std::string& told, const std::string& output) {
    std::shared_ptr<proto::EditReport> report;
    Watch{py::none()}.Run([&] { report = WriteEdited(MessageOf<proto::EditedTraces>(told), output); });
    return RecordObject(std::move(report));
  });
}

}  // namespace chakra::python
