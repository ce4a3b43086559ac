// The other commands as functions: edit, collective, kernels, topology, plan.
#pragma once

#include <pybind11/pybind11.h>

namespace chakra::python {

// Defined in edit.cc, collective.cc, plan.cc, topology.cc and kernels.cc.
void BindEdit(pybind11::module_& module);
void BindCollective(pybind11::module_& module);
void BindPlan(pybind11::module_& module);
void BindTopology(pybind11::module_& module);
void BindKernels(pybind11::module_& module);

void BindTools(pybind11::module_& module);

}  // namespace chakra::python
