#include "replay/python/tools.h"

#include <pybind11/stl.h>

#include "replay/cli/command.h"
#include "replay/python/errors.h"
#include "replay/python/options.h"
#include "replay/python/paths.h"

namespace py = pybind11;

namespace chakra::python {

const CLI::App& OptionsOfTool(const std::string& function) {
  if (function == "edit") return OptionsOfEdit();
  if (function == "collective") return OptionsOfCollective();
  if (function == "plan") return OptionsOfPlan();
  throw py::key_error("there is no function \"" + function + "\" with options");
}

void NameApp(CLI::App* app) {
  app->set_help_flag();
  app->allow_extras();
}

void ParseWords(CLI::App* app, const std::vector<std::string>& words) {
  try {
    app->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& e) {
    const std::string stray = cli::StrayArgument(*app);
    ThrowInvalid(stray.empty() ? e.what() : stray);
  }
  if (const std::string stray = cli::StrayArgument(*app); !stray.empty()) ThrowInvalid(stray);
}

void BindTools(py::module_& module) {
  module.def("tool_words", [](const std::string& function, const py::dict& keywords) {
    return WordList(WordsOf(OptionsOfTool(function), keywords));
  });
  BindEdit(module);
  BindCollective(module);
  BindPlan(module);
  BindTopology(module);
  BindKernels(module);
}

}  // namespace chakra::python
