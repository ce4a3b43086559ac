// Keyword arguments as the words of the command line, whose options say what they are.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace chakra::python {

// `fabric="fluid"` is --fabric=fluid, `lanes=None` is left out, `no_fast_path=True` is a flag; of what may be
// repeated a list gives one word each. A dict is "key=value,...", and of options whose values are NAME=VALUE
// one word for each item. Errors: TypeError for a name that `app` has not, with the nearest.
std::vector<std::string> WordsOf(const CLI::App& app, const pybind11::dict& keywords);

// What an option is: name, keyword, type, help, group, flag, many, choices. Of those that have a long name.
pybind11::list DescribeOptions(const CLI::App& app);

void BindOptions(pybind11::module_& module);

}  // namespace chakra::python
