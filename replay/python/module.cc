// The module chakra_replay._core: what chakra_replay/*.py is made of.
#include <pybind11/pybind11.h>

#include "replay/python/cluster.h"
#include "replay/python/errors.h"
#include "replay/python/options.h"
#include "replay/python/records.h"
#include "replay/python/report.h"
#include "replay/python/sweep.h"
#include "replay/python/table.h"
#include "replay/python/tools.h"
#include "replay/python/traces.h"

namespace chakra::python {

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
}

}  // namespace chakra::python
