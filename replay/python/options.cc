#include "replay/python/options.h"

#include <pybind11/stl.h>

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/command.pb.h"
#include "proto/run.pb.h"
#include "replay/python/errors.h"
#include "replay/python/paths.h"
#include "replay/run/arguments.h"
#include "trace/base/did_you_mean.h"
#include "trace/io/options.h"

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

std::string KeywordOf(const MessageOption& option) {
  return absl::StrReplaceAll(option.name(), {{"-", "_"}});
}

// Whether each value of the option is a NAME=VALUE.
bool TakesPairs(const MessageOption& option) { return absl::StrContains(option.value(), "="); }

const MessageOption& Find(const std::vector<MessageOption>& options, const std::string& name) {
  std::vector<std::string> known;
  for (const MessageOption& option : options) {
    if (option.positional()) continue;
    known.push_back(KeywordOf(option));
    if (known.back() == name) return option;
  }
  throw py::type_error(absl::StrCat("there is no option \"", name, "\"", SuggestName(name, known)));
}

// Appends the values that Python's `value` gives to the option; null: the option without a value.
void AddValues(const MessageOption& option, const py::handle& value,
               std::vector<std::optional<std::string>>* out) {
  if (value.is_none()) return;
  if (py::isinstance<py::bool_>(value)) {
    if (!option.flag())
      throw py::type_error(
          absl::StrCat(KeywordOf(option), " is ", std::string(py::repr(value)), "; expected a value"));
    if (value.cast<bool>()) out->push_back(std::nullopt);
  } else if (py::isinstance<py::dict>(value)) {
    std::vector<std::string> pairs;
    for (const auto& [key, one] : value.cast<py::dict>()) pairs.push_back(PairOf(key, one));
    if (!TakesPairs(option)) pairs = {absl::StrJoin(pairs, ",")};
    out->insert(out->end(), pairs.begin(), pairs.end());
  } else if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    std::vector<std::string> values;
    for (const py::handle& one : value) {
      if (option.many())
        AddValues(option, one, out);
      else
        values.push_back(WordOf(one));
    }
    if (!option.many()) out->push_back(absl::StrJoin(values, ","));
  } else {
    out->push_back(WordOf(value));
  }
}

py::dict Describe(const MessageOption& option) {
  py::dict d;
  d["name"] = option.shown();
  d["keyword"] = KeywordOf(option);
  d["type"] = option.value();
  d["help"] = FillIn(option.help());
  d["group"] = option.group().empty() ? "Options" : option.group();
  d["flag"] = option.flag();
  d["value"] = !option.flag() || !option.bare().empty();
  d["many"] = option.many();
  d["pair"] = TakesPairs(option) && !option.flag();
  d["choices"] = option.words();
  return d;
}

const google::protobuf::Descriptor& MessageOfFunction(const std::string& function) {
  if (function == "replay" || function == "load") return *proto::Run::descriptor();
  if (function == "edit") return *proto::EditedTraces::descriptor();
  if (function == "collective") return *proto::CollectiveRun::descriptor();
  if (function == "plan") return *proto::PlanRun::descriptor();
  throw py::key_error("there is no function \"" + function + "\" with options");
}

// Describes the options of a function of the module.
py::list DescribeFunction(const std::string& function) {
  py::list out;
  for (const MessageOption& option : MessageOption::Of(MessageOfFunction(function))) {
    if (option.positional()) continue;
    const bool both = option.name() == "set" || option.name() == "threads";
    const bool other = function == "load" ? !option.reads() : function == "replay" && option.reads();
    if (both || !other) out.append(Describe(option));
  }
  return out;
}

}  // namespace

void FillOptions(const py::dict& keywords, google::protobuf::Message* message) {
  const std::vector<MessageOption> options = MessageOption::Of(*message->GetDescriptor());
  for (const auto& [keyword, value] : keywords) {
    const MessageOption& option = Find(options, py::str(keyword));
    std::vector<std::optional<std::string>> values;
    AddValues(option, value, &values);
    std::vector<std::string> texts;
    for (const auto& v : values) texts.push_back(v.value_or(option.bare().empty() ? "true" : option.bare()));
    if (const absl::Status s = option.SetAll(texts, message); !s.ok())
      ThrowInvalid(absl::StrCat(option.shown(), ": ", s.message()));
  }
}

void BindOptions(py::module_& module) {
  module.def("options_of", &DescribeFunction);
  module.def("told_of_run", [](const py::object& paths, const py::dict& keywords) {
    proto::Run told;
    for (const std::string& path : PathsOf(paths)) told.add_trace(path);
    FillOptions(keywords, &told);
    return py::bytes(told.SerializeAsString());
  });
}

}  // namespace chakra::python
