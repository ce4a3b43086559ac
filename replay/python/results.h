// Results of sweeps, and questions about them.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "replay/python/table.h"

namespace chakra::python {

// Adds a column of numbers if all texts are numbers, else a column of texts.
void AddValues(const std::string& name, const std::vector<std::string>& texts, Table* table);

void BindResults(pybind11::module_& module);

}  // namespace chakra::python
