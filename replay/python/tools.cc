#include "replay/python/tools.h"

namespace py = pybind11;

namespace chakra::python {

void BindTools(py::module_& module) {
  BindEdit(module);
  BindCollective(module);
  BindPlan(module);
  BindTopology(module);
  BindKernels(module);
}

}  // namespace chakra::python
