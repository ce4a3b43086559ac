// Sweeps: their points, run here or handed out to others, and their results.
#pragma once

#include <pybind11/pybind11.h>

namespace chakra::python {

void BindSweep(pybind11::module_& module);

}  // namespace chakra::python
