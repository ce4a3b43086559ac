#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>

#include "replay/cli/plan_options.h"
#include "replay/plan/print.h"
#include "replay/python/cluster.h"
#include "replay/python/errors.h"
#include "replay/python/records.h"
#include "replay/python/table.h"
#include "replay/python/tools.h"
#include "replay/python/watch.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

struct PlanWords {
  CLI::App app{"", "plan"};
  cli::PlanArguments arguments;
  PlanWords() {
    NameApp(&app);
    arguments.AddTo(&app);
  }
};

struct Planned {
  std::shared_ptr<const proto::PlanReport> report;
};

Planned Plan(const std::vector<std::string>& words, const py::object& cluster, const py::object& progress) {
  PlanWords parsed;
  ParseWords(&parsed.app, words);
  std::shared_ptr<const DescribedCluster> described;
  if (!cluster.is_none()) {
    const auto given = cluster.cast<Cluster>();
    described = given.cluster->snapshot();
    parsed.arguments.request().run.cluster = given.cluster->spec();
    parsed.arguments.request().run.described = described.get();
  }
  Watch watch(progress);
  absl::StatusOr<proto::PlanReport> report = absl::UnknownError("");
  watch.Run([&] {
    ThrowIf(parsed.arguments.Check());
    ThrowIf(parsed.arguments.ReadWorkload());
    report = parsed.arguments.Plan([&watch](const planning::PlanProgress& p) {
      watch.Tell(p.share, static_cast<uint64_t>(p.done), static_cast<uint64_t>(p.of));
    });
  });
  ThrowIf(report.status());
  return {std::make_shared<const proto::PlanReport>(*std::move(report))};
}

py::str PrintedPlan(const Planned& plan, ReportFormat format) {
  return Text(OrThrow(planning::PrintPlan(*plan.report, format)));
}

}  // namespace

const CLI::App& OptionsOfPlan() {
  static const PlanWords* const kWords = new PlanWords();
  return kWords->app;
}

void BindPlan(py::module_& module) {
  py::class_<Planned>(module, "PlanReport", "The best splits. Made by plan().")
      .def("record", [](const Planned& p) { return RecordObject(p.report); })
      .def("to_json", [](const Planned& p) { return PrintedPlan(p, ReportFormat::kJson); })
      .def("to_csv", [](const Planned& p) { return PrintedPlan(p, ReportFormat::kCsv); })
      .def("to_text", [](const Planned& p) { return PrintedPlan(p, ReportFormat::kText); })
      .def("html", [](const Planned& p) { return Text(OrThrow(planning::MakePlanPage(*p.report))); });
  module.def("plan", &Plan);
}

}  // namespace chakra::python
