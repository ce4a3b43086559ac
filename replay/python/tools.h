// The other commands as functions: edit, collective, kernels, topology, plan.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace chakra::python {

// The options of "edit", "collective", "plan", which live as long as the process. Errors: there is no such
// function.
const CLI::App& OptionsOfTool(const std::string& function);

// An application for the words of one of them.
void NameApp(CLI::App* app);
// Once. Errors: words that `app` has not, with the nearest.
void ParseWords(CLI::App* app, const std::vector<std::string>& words);

// Of edit.cc and others.
const CLI::App& OptionsOfEdit();
const CLI::App& OptionsOfCollective();
const CLI::App& OptionsOfPlan();
void BindEdit(pybind11::module_& module);
void BindCollective(pybind11::module_& module);
void BindPlan(pybind11::module_& module);
void BindTopology(pybind11::module_& module);
void BindKernels(pybind11::module_& module);

void BindTools(pybind11::module_& module);

}  // namespace chakra::python
