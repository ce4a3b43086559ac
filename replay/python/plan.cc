#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>

#include "replay/plan/print.h"
#include "replay/plan/request.h"
#include "replay/python/cluster.h"
#include "replay/python/errors.h"
#include "replay/python/options.h"
#include "replay/python/paths.h"
#include "replay/python/records.h"
#include "replay/python/table.h"
#include "replay/python/tools.h"
#include "replay/python/watch.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

struct Planned {
  std::shared_ptr<const proto::PlanReport> report;
};

Planned Plan(const py::object& workload, const py::dict& keywords, const py::object& cluster,
             const py::object& progress) {
  proto::PlanRun told;
  for (const std::string& path : PathsOf(workload)) told.set_workload(path);
  FillOptions(keywords, &told);
  std::shared_ptr<const DescribedCluster> described;
  std::string spec;
  if (!cluster.is_none()) {
    const auto given = cluster.cast<Cluster>();
    described = given.cluster->snapshot();
    spec = given.cluster->spec();
  }
  Watch watch(progress);
  absl::StatusOr<proto::PlanReport> report = absl::UnknownError("");
  watch.Run([&] {
    ThrowIf(planning::CheckPlanRun(told));
    planning::PlanRequest request = OrThrow(planning::RequestOf(told));
    request.run.version = CHAKRA_VERSION;
    if (described != nullptr) {
      request.run.cluster = spec;
      request.run.described = described.get();
    }
    request.progress = [&watch](const planning::PlanProgress& p) {
      watch.Tell(p.share, static_cast<uint64_t>(p.done), static_cast<uint64_t>(p.of));
    };
    report = planning::MakeToldPlan(request);
  });
  ThrowIf(report.status());
  return {std::make_shared<const proto::PlanReport>(*std::move(report))};
}

py::str PrintedPlan(const Planned& plan, ReportFormat format) {
  return Text(OrThrow(planning::PrintPlan(*plan.report, format)));
}

}  // namespace

void BindPlan(py::module_& module) {
  py::class_<Planned>(module, "PlanReport", "The best splits, from plan().")
      .def("record", [](const Planned& p) { return RecordObject(p.report); })
      .def("to_json", [](const Planned& p) { return PrintedPlan(p, ReportFormat::kJson); })
      .def("to_csv", [](const Planned& p) { return PrintedPlan(p, ReportFormat::kCsv); })
      .def("to_text", [](const Planned& p) { return PrintedPlan(p, ReportFormat::kText); })
      .def("html", [](const Planned& p) { return Text(OrThrow(planning::MakePlanPage(*p.report))); });
  module.def("plan", &Plan);
}

}  // namespace chakra::python
