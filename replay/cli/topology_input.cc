#include "replay/cli/topology_input.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "backends/topology/expand.h"
#include "backends/topology/inputs/read_network.h"
#include "replay/cluster/load.h"
#include "replay/cluster/presets.h"
#include "trace/base/spelling.h"
#include "trace/io/file.h"

namespace chakra::cli {
namespace {

bool IsNetwork(const std::string& name) {
  for (const NetworkKind& kind : NetworkKinds()) {
    if (name == kind.name) return true;
  }
  return false;
}

absl::StatusOr<TopologyInput> FromFile(const std::string& path, int devices) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ReadNetwork> read = ReadNetworkFile(*text, path);
  if (!read.ok()) return read.status();
  const auto found = static_cast<int>(read->network.graph.devices());
  if (devices != 0 && devices != found) {
    return absl::InvalidArgumentError(absl::StrCat("--devices is ", devices, "; ", path, " has ", found,
                                                   " devices: expected ", found, " or none"));
  }
  return TopologyInput{path, std::move(read->network), {}, std::move(read->notes)};
}

absl::StatusOr<TopologyInput> FromCluster(const std::string& spec, int devices) {
  std::vector<std::string> notes;
  const absl::StatusOr<proto::Cluster> cluster = LoadCluster(spec, &notes);
  if (!cluster.ok()) return cluster.status();
  absl::StatusOr<TopologyInput> out = TopologyOfCluster(*cluster, spec, devices);
  if (out.ok()) out->notes.insert(out->notes.begin(), notes.begin(), notes.end());
  return out;
}

}  // namespace

absl::StatusOr<TopologyInput> TopologyOfCluster(const proto::Cluster& cluster, const std::string& title,
                                                int devices) {
  TopologyInput out;
  out.title = title;
  absl::StatusOr<Topology> topology = BuildClusterTopology(cluster, devices, &out.notes);
  if (!topology.ok()) return topology.status();
  absl::StatusOr<Network> network = ExpandTopology(*topology);
  if (!network.ok()) return network.status();
  out.network = *std::move(network);
  out.dimensions = topology->dimensions();
  return out;
}

absl::StatusOr<TopologyInput> LoadTopology(const std::string& spec, int devices) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (IsNetwork(name)) {
    absl::StatusOr<NetworkSpec> parsed = ParseNetworkSpec(spec);
    if (!parsed.ok()) return parsed.status();
    absl::StatusOr<Network> network = BuildNetwork(*parsed, devices);
    if (!network.ok()) return network.status();
    return TopologyInput{spec, *std::move(network), {}, {}};
  }
  const std::vector<std::string> presets = PresetNames();
  if (std::find(presets.begin(), presets.end(), name) != presets.end()) return FromCluster(spec, devices);
  std::error_code error;
  if (std::filesystem::exists(spec, error)) {
    absl::StatusOr<std::string> text = ReadFile(spec);
    if (!text.ok()) return text.status();
    return SniffNetwork(*text, spec).ok() ? FromFile(spec, devices) : FromCluster(spec, devices);
  }
  std::vector<std::string> names = presets;
  for (const NetworkKind& kind : NetworkKinds()) names.emplace_back(kind.name);
  const std::string nearest = NearestName(name, names);
  return absl::NotFoundError(absl::StrCat("there is no network, cluster preset or file \"", spec, "\"",
                                          nearest.empty() ? "; `chakra-replay topology list` lists them"
                                                          : absl::StrCat("; did you mean '", nearest, "'?")));
}

}  // namespace chakra::cli
