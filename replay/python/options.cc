#include "replay/python/options.h"

#include <pybind11/stl.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "replay/cli/command.h"
#include "replay/cli/point_arguments.h"
#include "replay/python/errors.h"
#include "replay/python/paths.h"
#include "replay/python/tools.h"
#include "trace/base/spelling.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

std::string PairOf(const py::handle& key, const py::handle& value) {
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    std::vector<std::string> values;
    for (const py::handle& one : value) values.push_back(WordOf(one));
    return absl::StrCat(WordOf(key), "=", absl::StrJoin(values, ","));
  }
  return absl::StrCat(WordOf(key), "=", WordOf(value));
}

bool IsFlag(const CLI::Option& option) { return option.get_expected_min() == 0; }
bool MayRepeat(const CLI::Option& option) { return option.get_items_expected_max() > 1; }
// Whether a value is NAME=VALUE, each of them by itself.
bool IsPair(const CLI::Option& option) { return absl::StrContains(option.get_type_name(), "="); }

std::string KeywordOf(const std::string& name) { return absl::StrReplaceAll(name, {{"-", "_"}}); }

const CLI::Option& Find(const CLI::App& app, const std::string& keyword) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (KeywordOf(name) == keyword) return *option;
      known.push_back(KeywordOf(name));
    }
  }
  throw py::type_error(absl::StrCat("there is no option \"", keyword, "\"", SuggestName(keyword, known)));
}

void AddWords(const CLI::Option& option, const py::handle& value, std::vector<std::string>* words) {
  const std::string name = "--" + option.get_lnames().front();
  if (value.is_none()) return;
  if (py::isinstance<py::bool_>(value)) {
    if (!IsFlag(option))
      throw py::type_error(absl::StrCat(KeywordOf(name.substr(2)), " is ", std::string(py::repr(value)),
                                        "; expected a value"));
    if (value.cast<bool>()) words->push_back(name);
    return;
  }
  if (py::isinstance<py::dict>(value)) {
    std::vector<std::string> pairs;
    for (const auto& [key, one] : value.cast<py::dict>()) pairs.push_back(PairOf(key, one));
    if (!IsPair(option)) pairs = {absl::StrJoin(pairs, ",")};
    for (const std::string& pair : pairs) words->push_back(absl::StrCat(name, "=", pair));
    return;
  }
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    if (!MayRepeat(option)) {
      std::vector<std::string> values;
      for (const py::handle& one : value) values.push_back(WordOf(one));
      words->push_back(absl::StrCat(name, "=", absl::StrJoin(values, ",")));
      return;
    }
    for (const py::handle& one : value) AddWords(option, one, words);
    return;
  }
  words->push_back(absl::StrCat(name, "=", WordOf(value)));
}

// The options of a function of the module by its name.
py::list DescribeFunction(const std::string& function) {
  if (function == "replay" || function == "load") {
    const cli::PointArguments point;
    py::list all = DescribeOptions(point.app()), out;
    size_t i = 0;
    for (const CLI::Option* option : point.app().get_options()) {
      if (option->get_lnames().empty()) continue;
      const bool machine = cli::PointArguments::IsOfMachine(*option);
      const bool both = option->check_name("--set") || option->check_name("--threads");
      const py::object described = all[i++];
      if (machine == (function == "replay") || both) out.append(described);
    }
    return out;
  }
  return DescribeOptions(OptionsOfTool(function));
}

}  // namespace

std::vector<std::string> WordsOf(const CLI::App& app, const py::dict& keywords) {
  std::vector<std::string> words;
  for (const auto& [keyword, value] : keywords) AddWords(Find(app, py::str(keyword)), value, &words);
  return words;
}

py::list DescribeOptions(const CLI::App& app) {
  py::list out;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    py::dict d;
    const std::string& name = option->get_lnames().front();
    d["name"] = "--" + name;
    d["keyword"] = KeywordOf(name);
    d["type"] = option->get_type_name();
    d["help"] = option->get_description();
    d["group"] = option->get_group();
    d["flag"] = IsFlag(*option);
    // Flags that also take a value: "[=FILE]".
    d["value"] = !IsFlag(*option) || absl::StrContains(option->get_type_name(), "=");
    d["many"] = MayRepeat(*option);
    d["pair"] = IsPair(*option) && !IsFlag(*option);
    d["choices"] = cli::WordsOf(const_cast<CLI::Option*>(option));
    out.append(d);
  }
  return out;
}

void BindOptions(py::module_& module) {
  module.def("options_of", &DescribeFunction);
  module.def("replay_words", [](const py::dict& keywords) {
    static const cli::PointArguments* const kPoint = new cli::PointArguments();
    return WordList(WordsOf(kPoint->app(), keywords));
  });
  module.def("paths_of", [](const py::object& paths) { return WordList(PathsOf(paths)); });
}

}  // namespace chakra::python
