#include "replay/python/cluster.h"

#include <pybind11/stl.h>

#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/cluster/load.h"
#include "replay/cluster/presets.h"
#include "replay/python/errors.h"
#include "replay/python/paths.h"
#include "replay/python/table.h"
#include "trace/io/compressed_file.h"
#include "trace/io/proto_io.h"
#include "trace/io/set_field.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

Cluster Make(std::string spec, DescribedCluster described) {
  return Cluster(std::make_shared<ClusterRoot>(std::move(spec), std::move(described)));
}

Cluster FromSpec(const std::string& spec) {
  DescribedCluster described;
  described.cluster = OrThrow(LoadCluster(spec, &described.notes));
  return Make(spec, std::move(described));
}

Cluster FromPreset(const std::string& name, const py::kwargs& keys) {
  std::string spec = name;
  for (const auto& [key, value] : keys)
    absl::StrAppend(&spec, absl::StrContains(spec, ":") ? "," : ":", std::string(py::str(key)), "=",
                    std::string(py::str(value)));
  if (!IsPreset(spec.substr(0, spec.find(':')))) (void)OrThrow(LoadCluster(spec, nullptr));
  return FromSpec(spec);
}

Cluster FromText(const std::string& text, const std::string& name) {
  DescribedCluster described;
  ThrowIf(ParseMessage(text, name, &described.cluster));
  if (described.cluster.name().empty()) described.cluster.set_name(name);
  return Make(name, std::move(described));
}

// Describes the fields of a message, and of all messages inside it, by message name.
void DescribeMessages(const google::protobuf::Descriptor& type, py::dict* out) {
  if (out->contains(type.name())) return;
  (*out)[py::str(type.name())] = DescribeFields(type);
  for (int i = 0; i < type.field_count(); ++i) {
    const auto* inner = type.field(i)->message_type();
    if (inner != nullptr && !type.field(i)->is_map()) DescribeMessages(*inner, out);
  }
}

const proto::Cluster& ProtoOf(const Cluster& c) { return c.cluster->snapshot()->cluster; }

MessageFormat FormatOfName(const std::string& path) {
  const absl::string_view name = WithoutCompression(path);
  if (absl::EndsWith(name, ".json")) return MessageFormat::kJson;
  return absl::EndsWith(name, ".txtpb") || absl::EndsWith(name, ".textproto") ? MessageFormat::kText
                                                                              : MessageFormat::kBinary;
}

py::str Formatted(const Cluster& c, MessageFormat format) {
  return Text(OrThrow(FormatMessage(ProtoOf(c), format)));
}

void BindFiles(py::class_<Cluster, MessageRef>& type) {
  type.def_static("preset", &FromPreset, py::arg("name"),
                  "A preset by its name, with the keys of --cluster PRESET:key=value as keyword arguments: "
                  "Cluster.preset(\"dgx-h100\", nodes=16). Cluster.presets() lists the names.")
      .def_static("presets", &PresetNames, "The names of all presets.")
      .def_static("keys", &OverrideKeys, "The keyword arguments that preset() takes.")
      .def_static(
          "from_file", [](const py::object& path) { return FromSpec(PathsOf(path).at(0)); }, py::arg("path"),
          "Reads a cluster: text format, JSON or binary of proto/cluster.proto, or ASTRA-sim's network.yml.")
      .def_static("from_text", &FromText, py::arg("text"), py::arg("name") = "(text)",
                  "Reads a cluster from a text, in the text format or JSON.")
      .def(
          "to_text", [](const Cluster& c) { return Formatted(c, MessageFormat::kText); },
          "The cluster in the text format of proto/cluster.proto, as --cluster reads it.")
      .def(
          "to_json", [](const Cluster& c) { return Formatted(c, MessageFormat::kJson); },
          "The cluster as JSON.")
      .def(
          "save",
          [](const Cluster& c, const py::object& path) {
            const std::string to = PathsOf(path).at(0);
            ThrowIf(WriteMessageFile(ProtoOf(c), FormatOfName(to), to));
          },
          py::arg("path"), "Writes a file for --cluster: .json, .txtpb, else binary.");
}

}  // namespace

Cluster ClusterOf(const std::string& spec) {
  constexpr size_t kMost = 64;
  static auto* const kept = new std::map<std::string, Cluster>();  // guarded by the GIL
  const auto found = kept->find(spec);
  if (found != kept->end()) return Make(spec, *found->second.cluster->snapshot());
  Cluster read = FromSpec(spec);
  if (!IsPreset(spec.substr(0, spec.find(':')))) return read;
  if (kept->size() >= kMost) kept->clear();
  kept->emplace(spec, read);
  return Make(spec, *read.cluster->snapshot());
}

void BindCluster(py::module_& module) {
  py::class_<Cluster, MessageRef> type(
      module, "Cluster",
      "A machine: devices, links, memory, collective library. Every field of proto/cluster.proto is an "
      "attribute, its "
      "unit in its name: cluster.topology.dimension[0].bandwidth_gbytes_per_s = 450, or a text with a unit, "
      "\"400Gb/s\". "
      "fields() describes all fields of a part.");
  BindFiles(type);
  type.def(py::init([](const py::args&, const py::kwargs&) -> Cluster {
    throw py::type_error(
        "Cluster: made by Cluster.preset(\"dgx-h100\", nodes=2), Cluster.from_file(path) or "
        "Cluster.from_text(text)");
  }));
  module.def("cluster_of", &ClusterOf);
  module.def("cluster_messages", [] {
    py::dict out;
    DescribeMessages(*proto::Cluster::descriptor(), &out);
    return out;
  });
  type.def(
          "set",
          [](const Cluster& c, const py::args& texts) {
            std::vector<std::string> all;
            for (const py::handle& text : texts) all.push_back(py::str(text));
            ThrowIf(SetFields(all, &c.Change()));
            return c;
          },
          "Sets fields by texts, as --set FIELD=VALUE does. Returns the cluster.")
      .def(
          "copy", [](const Cluster& c) { return Make(c.cluster->spec(), *c.cluster->snapshot()); },
          "A copy of the cluster.")
      .def("__copy__", [](const Cluster& c) { return Make(c.cluster->spec(), *c.cluster->snapshot()); })
      .def("__deepcopy__",
           [](const Cluster& c, const py::dict&) { return Make(c.cluster->spec(), *c.cluster->snapshot()); })
      .def_property_readonly(
          "spec", [](const Cluster& c) { return Text(c.cluster->spec()); },
          "The value of --cluster for the cluster as it was read.")
      .def_property_readonly(
          "notes", [](const Cluster& c) { return c.cluster->snapshot()->notes; },
          "Notes about what its file leaves open.")
      .def("__repr__",
           [](const Cluster& c) { return Text(absl::StrCat("<Cluster ", ProtoOf(c).name(), ">")); })
      .def(py::pickle(
          [](const Cluster& c) {
            return py::make_tuple(c.cluster->spec(), py::bytes(ProtoOf(c).SerializeAsString()),
                                  c.cluster->snapshot()->notes);
          },
          [](const py::tuple& state) {
            DescribedCluster described;
            if (state.size() != 3 || !described.cluster.ParseFromString(state[1].cast<std::string>()))
              ThrowInvalid("a pickled cluster of another version");
            described.notes = state[2].cast<std::vector<std::string>>();
            return Make(state[0].cast<std::string>(), std::move(described));
          }));
}

}  // namespace chakra::python
