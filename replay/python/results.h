// Results of sweeps, and questions about them.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "replay/python/table.h"

namespace chakra::python {

// A column of numbers where all texts are, else of the texts.
void AddValues(const std::string& name, const std::vector<std::string>& texts, Table* table);

void BindResults(pybind11::module_& module);

}  // namespace chakra::python
