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
#include "trace/base/spelling.h"
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

// What an option is, whoever declared it.
struct Keyword {
  std::string name;  // without dashes
  std::string type, help, group;
  bool flag = false;   // may stand alone
  bool value = false;  // may have a value
  bool many = false;   // may be given several times
  std::vector<std::string> choices;

  std::string keyword() const { return absl::StrReplaceAll(name, {{"-", "_"}}); }
  // Whether a value is NAME=VALUE, each of them by itself.
  bool pair() const { return absl::StrContains(type, "="); }
};

Keyword KeywordOf(const MessageOption& option) {
  return {option.name(),         option.value(),
          FillIn(option.help()), option.group().empty() ? "Options" : option.group(),
          option.flag(),         !option.flag() || !option.bare().empty(),
          option.many(),         option.words()};
}

size_t Find(const std::vector<Keyword>& keywords, const std::string& name) {
  std::vector<std::string> known;
  for (size_t i = 0; i < keywords.size(); ++i) {
    known.push_back(keywords[i].keyword());
    if (known.back() == name) return i;
  }
  throw py::type_error(absl::StrCat("there is no option \"", name, "\"", SuggestName(name, known)));
}

// The values that are meant; null: the option stands alone.
void AddValues(const Keyword& option, const py::handle& value, std::vector<std::optional<std::string>>* out) {
  if (value.is_none()) return;
  if (py::isinstance<py::bool_>(value)) {
    if (!option.flag)
      throw py::type_error(
          absl::StrCat(option.keyword(), " is ", std::string(py::repr(value)), "; expected a value"));
    if (value.cast<bool>()) out->push_back(std::nullopt);
  } else if (py::isinstance<py::dict>(value)) {
    std::vector<std::string> pairs;
    for (const auto& [key, one] : value.cast<py::dict>()) pairs.push_back(PairOf(key, one));
    if (!option.pair()) pairs = {absl::StrJoin(pairs, ",")};
    out->insert(out->end(), pairs.begin(), pairs.end());
  } else if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    std::vector<std::string> values;
    for (const py::handle& one : value) {
      if (option.many)
        AddValues(option, one, out);
      else
        values.push_back(WordOf(one));
    }
    if (!option.many) out->push_back(absl::StrJoin(values, ","));
  } else {
    out->push_back(WordOf(value));
  }
}

py::dict Describe(const Keyword& k) {
  py::dict d;
  d["name"] = "--" + k.name;
  d["keyword"] = k.keyword();
  d["type"] = k.type;
  d["help"] = k.help;
  d["group"] = k.group;
  d["flag"] = k.flag;
  d["value"] = k.value;
  d["many"] = k.many;
  d["pair"] = k.pair() && !k.flag;
  d["choices"] = k.choices;
  return d;
}

const google::protobuf::Descriptor& MessageOfFunction(const std::string& function) {
  if (function == "replay" || function == "load") return *proto::Run::descriptor();
  if (function == "edit") return *proto::EditedTraces::descriptor();
  if (function == "collective") return *proto::CollectiveRun::descriptor();
  if (function == "plan") return *proto::PlanRun::descriptor();
  throw py::key_error("there is no function \"" + function + "\" with options");
}

// The options of a function of the module by its name.
py::list DescribeFunction(const std::string& function) {
  py::list out;
  for (const MessageOption& option : MessageOption::Of(MessageOfFunction(function))) {
    if (option.positional()) continue;
    const bool both = option.name() == "set" || option.name() == "threads";
    const bool other = function == "load" ? !option.reads() : function == "replay" && option.reads();
    if (both || !other) out.append(Describe(KeywordOf(option)));
  }
  return out;
}

}  // namespace

void FillOptions(const py::dict& keywords, google::protobuf::Message* message) {
  std::vector<MessageOption> options;
  std::vector<Keyword> known;
  for (MessageOption& option : MessageOption::Of(*message->GetDescriptor())) {
    if (option.positional()) continue;
    known.push_back(KeywordOf(option));
    options.push_back(std::move(option));
  }
  for (const auto& [keyword, value] : keywords) {
    const MessageOption& option = options[Find(known, py::str(keyword))];
    std::vector<std::optional<std::string>> values;
    AddValues(KeywordOf(option), value, &values);
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
