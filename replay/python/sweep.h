// Sweeps: their points, run in this process or by others, and their results.
#pragma once

#include <pybind11/pybind11.h>

namespace chakra::python {

void BindSweep(pybind11::module_& module);

}  // namespace chakra::python
