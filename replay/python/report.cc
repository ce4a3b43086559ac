#include "replay/python/report.h"

#include <pybind11/stl.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "backends/registry.h"
#include "proto/compare.pb.h"
#include "replay/cli/output.h"
#include "replay/compare/print.h"
#include "replay/compare/reports.h"
#include "replay/page/page.h"
#include "replay/python/cluster.h"
#include "replay/python/errors.h"
#include "replay/python/options.h"
#include "replay/python/paths.h"
#include "replay/python/records.h"
#include "replay/python/watch.h"
#include "replay/report/report.h"
#include "replay/run/machine.h"
#include "replay/timeline/timeline.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

constexpr size_t kLinksOfTimeline = 16;  // links with counters

std::shared_ptr<RunReport> Replay(const std::shared_ptr<Traces>& traces, const py::object& cluster,
                                  const std::string& told, const py::object& progress) {
  RunOrigin origin{traces, traces->RunOf(MessageOf<proto::Run>(told)), nullptr, "", Folder()};
  if (!cluster.is_none()) {
    const auto given = cluster.cast<Cluster>();
    origin.described = given.cluster->snapshot();
    origin.spec = given.cluster->spec();
  }
  Watch watch(progress);
  absl::StatusOr<proto::Report> report = absl::UnknownError("");
  watch.Run([&] {
    ReplayHooks hooks;
    hooks.progress = [&watch](const Progress& p) { watch.Tell(p); };
    RunOptions options = origin.Options();
    options.activity = true;  // as in the JSON of the command
    report = origin.Run(options, std::move(hooks));
  });
  ThrowIf(report.status());
  return std::make_shared<RunReport>(std::make_shared<const proto::Report>(*std::move(report)),
                                     std::move(origin));
}

std::shared_ptr<RunReport> ReadReport(const std::string& path) {
  auto report = std::make_shared<proto::Report>();
  ThrowIf(ReadMessageFile(path, report.get()));
  return std::make_shared<RunReport>(std::move(report));
}

py::str Printed(const RunReport& report, ReportFormat format) {
  return Text(OrThrow(PrintReport(report.report(), format)));
}

py::object Compare(const RunReport& a, const RunReport& b, bool merge_numbers) {
  auto out = std::make_shared<proto::Comparison>();
  {
    const py::gil_scoped_release released;
    *out = CompareReports(a.report(), b.report(), merge_numbers);
  }
  return RecordObject(std::move(out));
}

// Compares again, since the Record of a comparison cannot print.
py::str PrintCompared(const RunReport& a, const RunReport& b, bool merge_numbers, const std::string& format,
                      size_t top) {
  proto::Comparison comparison = CompareReports(a.report(), b.report(), merge_numbers);
  comparison.mutable_a()->set_path("A");
  comparison.mutable_b()->set_path("B");
  return Text(OrThrow(PrintComparison(comparison, OrThrow(ParseReportFormat(format)), top)));
}

}  // namespace

RunOptions RunOrigin::Options() const {
  RunOptions options = resolved->run;
  options.version = CHAKRA_VERSION;
  for (std::string* file :
       {&options.kernels, &options.energy_file, &options.prices, &options.grid, &options.reliability}) {
    std::error_code error;
    if (const std::string path = folder.Reach(*file); std::filesystem::exists(path, error)) *file = path;
  }
  if (described != nullptr) {
    options.cluster = spec;
    options.described = described.get();
  }
  return options;
}

absl::StatusOr<proto::Report> RunOrigin::Run(const RunOptions& options, ReplayHooks hooks) const {
  const int domain = traces->goes_by_domain() ? DomainOf(options) : 0;
  ASSIGN_OR_RETURN(const auto loaded, traces->LoadedFor(domain));
  hooks.unedited = [this, domain] { return traces->LoadUnedited(domain); };
  return RunReplay(*loaded, options, hooks);
}

RunOptions RunReport::WholeOptions() const {
  RunOptions options = origin_.Options();
  const FabricKind* const kind = FindFabric(FabricName(options));
  options.fabric_options.link_series |= kind != nullptr && kind->shows_links;
  options.activity = true;
  return options;
}

std::shared_ptr<const proto::Report> RunReport::Whole() const {
  if (origin_.traces == nullptr) return report_;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (whole_ == nullptr) {
    RunOptions options = WholeOptions();
    options.critical_path = true;
    whole_ = std::make_shared<const proto::Report>(OrThrow(origin_.Run(options, {})));
  }
  return whole_;
}

std::string RunReport::WriteTimeline(const std::string& path, const std::string& format,
                                     const std::string& ranks, uint64_t most_nodes) const {
  if (origin_.traces == nullptr)
    ThrowInvalid("a report from a file has no timeline; replay() makes a report with a timeline");
  const TimelineFormat of = OrThrow(format.empty() ? TimelineFormatOf(path) : ParseTimelineFormat(format));
  std::vector<int> shown;
  if (!ranks.empty()) shown = OrThrow(ParseTimelineRanks(ranks));
  cli::Output output{path, {}};
  ThrowIf(output.Open());
  absl::StatusOr<TimelineTotals> totals = TimelineTotals();
  ReplayHooks hooks;
  hooks.replayed = [&](const FinishedRun& run) {
    const LinkUses links = run.machine.Links(kLinksOfTimeline);
    TimelineInput input = {&run.traces, &run.spans, run.lanes, run.dimension_sizes, run.recorded_comm};
    input.metrics = &run.metrics;
    input.path = run.path;
    input.meter = run.meter;
    input.links = &links;
    input.ranks = shown;
    input.most_nodes = most_nodes;
    totals = chakra::WriteTimeline(input, of, [&](absl::string_view bytes) { return output.Append(bytes); });
  };
  ThrowIf(origin_.Run(WholeOptions(), std::move(hooks)).status());
  ThrowIf(totals.status());
  ThrowIf(output.Finish());
  return totals->left_out;
}

void BindReport(py::module_& module) {
  py::class_<RunReport, std::shared_ptr<RunReport>>(module, "RunReport",
                                                    "The report of a run, from replay().")
      .def("record", [](const RunReport& r) { return RecordObject(r.shared()); })
      .def("whole",
           [](const RunReport& r) {
             std::shared_ptr<const proto::Report> whole;
             Watch{py::none()}.Run([&] { whole = r.Whole(); });
             return RecordObject(std::move(whole));
           })
      .def("makespan_ps", [](const RunReport& r) { return r.report().makespan_ps(); })
      .def("to_json", [](const RunReport& r) { return Printed(r, ReportFormat::kJson); })
      .def("to_text", [](const RunReport& r) { return Printed(r, ReportFormat::kText); })
      .def("to_csv", [](const RunReport& r) { return Printed(r, ReportFormat::kCsv); })
      .def("html",
           [](const RunReport& r) {
             std::string page;
             Watch{py::none()}.Run([&] { page = OrThrow(MakePage(*r.Whole())); });
             return Text(page);
           })
      .def("timeline",
           [](const RunReport& r, const py::object& path, const std::string& format, const std::string& ranks,
              uint64_t most_nodes) {
             const std::string to = PathsOf(path).at(0);
             std::string left_out;
             Watch{py::none()}.Run([&] { left_out = r.WriteTimeline(to, format, ranks, most_nodes); });
             return left_out;
           })
      .def("bytes", [](const RunReport& r) { return py::bytes(r.report().SerializeAsString()); })
      .def_static("from_bytes",
                  [](const std::string& bytes) {
                    auto report = std::make_shared<proto::Report>();
                    if (!report->ParseFromString(bytes)) ThrowInvalid("a pickled report of another version");
                    return std::make_shared<RunReport>(std::move(report));
                  })
      .def("compare", &Compare)
      .def("print_compared", &PrintCompared)
      .def("made", [](const RunReport& r) { return r.origin().traces != nullptr; });
  module.def("replay", &Replay);
  module.def("read_report", &ReadReport);
  module.attr("TIMELINE_NODES") = kTimelineNodes;
}

}  // namespace chakra::python
