#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>

#include "backends/topology/draw.h"
#include "backends/topology/measure.h"
#include "replay/cli/topology/topology_input.h"
#include "replay/cli/topology/topology_print.h"
#include "replay/cli/topology/topology_report.h"
#include "replay/python/cluster.h"
#include "replay/python/errors.h"
#include "replay/python/records.h"
#include "replay/python/table.h"
#include "replay/python/tools.h"
#include "trace/base/utf8.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

// A network with its measured figures.
struct LookedAt {
  cli::TopologyInput input;
  NetworkFigures figures;
  proto::TopologyReport report;

  std::string Draw(const std::string& layout, bool dot) const {
    DrawOptions options;
    options.layout = OrThrow(ParseDrawLayout(layout));
    options.title = report.topology();
    options.figures = cli::DrawingFigures(report);
    return OrThrow(dot ? DrawDot(input.network.graph, options) : DrawSvg(input.network.graph, options));
  }
};

std::shared_ptr<LookedAt> Look(cli::TopologyInput input, uint64_t seed, int radix) {
  auto out = std::make_shared<LookedAt>();
  out->input = std::move(input);
  MeasureOptions measure;
  measure.seed = seed;
  out->figures = Measure(out->input.network.graph, measure);
  out->report = cli::ReportTopology(out->input, out->figures);
  CheckOptions checks;
  checks.radix = radix;
  for (const Finding& f : CheckNetwork(out->input.network.graph, out->figures, checks)) {
    proto::TopologyFinding* finding = out->report.add_finding();
    finding->set_severity(f.error ? "error" : "note");
    finding->set_text(ToUtf8(f.text));
  }
  return out;
}

}  // namespace

void BindTopology(py::module_& module) {
  py::class_<LookedAt, std::shared_ptr<LookedAt>>(module, "NetworkView", "A network, from topology().")
      .def("record", [](std::shared_ptr<LookedAt> n) { return RecordObject(Record(n, &n->report)); })
      .def("draw",
           [](const LookedAt& n, const std::string& layout, bool dot) { return Text(n.Draw(layout, dot)); })
      .def("to_text", [](const LookedAt& n) { return Text(cli::PrintTopology(n.report, nullptr)); });
  module.def("topology", [](const std::string& spec, int devices, uint64_t seed, int radix) {
    const py::gil_scoped_release released;
    return Look(OrThrow(cli::LoadTopology(spec, devices)), seed, radix);
  });
  module.def("topology_of_cluster", [](const Cluster& cluster, int devices, uint64_t seed, int radix) {
    const auto held = cluster.cluster->snapshot();
    const std::string title = held->cluster.name().empty() ? cluster.cluster->spec() : held->cluster.name();
    const py::gil_scoped_release released;
    cli::TopologyInput input = OrThrow(cli::TopologyOfCluster(held->cluster, title, devices));
    input.notes.insert(input.notes.begin(), held->notes.begin(), held->notes.end());
    return Look(std::move(input), seed, radix);
  });
  module.attr("LAYOUTS") = py::tuple(py::cast(DrawLayoutNames()));
}

}  // namespace chakra::python
