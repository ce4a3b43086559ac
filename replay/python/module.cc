// The module chakra_replay._core, which chakra_replay/*.py use.
#include <pybind11/pybind11.h>

#include <algorithm>

#include "replay/python/cluster.h"
#include "replay/python/errors.h"
#include "replay/python/options.h"
#include "replay/python/records.h"
#include "replay/python/report.h"
#include "replay/python/sweep.h"
#include "replay/python/table.h"
#include "replay/python/tools.h"
#include "replay/python/traces.h"

namespace py = pybind11;

namespace chakra::python {

namespace {

// Protocols of pickle below 2 would create objects without their content. Makes all protocols use protocol 2,
// which refuses objects that cannot be pickled.
void GuardPickles(const py::module_& module) {
  const py::object plain = py::module_::import("builtins").attr("object").attr("__reduce_ex__");
  for (const auto& [name, value] : py::dict(module.attr("__dict__"))) {
    if (!py::isinstance<py::type>(value)) continue;
    value.attr("__reduce_ex__") = py::cpp_function(
        [plain](const py::object& self, int protocol) { return plain(self, std::max(2, protocol)); },
        py::is_method(value));
  }
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The library behind chakra_replay; its names may change.";
  BindErrors();
  BindTable(module);
  BindRecords(module);
  BindFields(module);
  BindCluster(module);
  BindOptions(module);
  BindTraces(module);
  BindReport(module);
  BindSweep(module);
  BindTools(module);
  module.attr("VERSION") = CHAKRA_VERSION;
  GuardPickles(module);
}

}  // namespace chakra::python
