#include "replay/cli/topology/topology_input.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "backends/topology/expand.h"
#include "backends/topology/inputs/read_network.h"
#include "replay/cluster/load.h"
#include "replay/cluster/presets.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"
#include "trace/io/short_form.h"

namespace chakra::cli {
namespace {

bool IsNetwork(const std::string& name) {
  for (const NetworkKind& kind : NetworkKinds()) {
    if (name == kind.name) return true;
  }
  return false;
}

absl::StatusOr<TopologyInput> FromFile(const std::string& path, int devices) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(ReadNetwork read, ReadNetworkFile(text, path));
  const auto found = static_cast<int>(read.network.graph.devices());
  if (devices != 0 && devices != found) {
    return absl::InvalidArgumentError(absl::StrCat("--devices is ", devices, "; ", path, " has ", found,
                                                   " devices: expected ", found, " or none"));
  }
  return TopologyInput{path, std::move(read.network), {}, std::move(read.notes)};
}

absl::StatusOr<TopologyInput> FromCluster(const std::string& spec, int devices) {
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(const proto::Cluster cluster, LoadCluster(spec, &notes));
  absl::StatusOr<TopologyInput> out = TopologyOfCluster(cluster, spec, devices);
  if (out.ok()) out->notes.insert(out->notes.begin(), notes.begin(), notes.end());
  return out;
}

}  // namespace

absl::StatusOr<TopologyInput> TopologyOfCluster(const proto::Cluster& cluster, const std::string& title,
                                                int devices) {
  TopologyInput out;
  out.title = title;
  ASSIGN_OR_RETURN(Topology topology, BuildClusterTopology(cluster, devices, &out.notes));
  ASSIGN_OR_RETURN(out.network, ExpandTopology(topology));
  out.dimensions = topology.dimensions();
  return out;
}

absl::StatusOr<TopologyInput> LoadTopology(const std::string& spec, int devices) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (IsNetwork(name)) {
    ASSIGN_OR_RETURN(NetworkSpec parsed, ParseNetworkSpec(spec));
    ASSIGN_OR_RETURN(Network network, BuildNetwork(parsed, devices));
    return TopologyInput{spec, std::move(network), {}, {}};
  }
  const std::vector<std::string> presets = PresetNames();
  if (std::find(presets.begin(), presets.end(), name) != presets.end()) return FromCluster(spec, devices);
  std::error_code error;
  if (std::filesystem::exists(spec, error)) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(spec));
    return SniffNetwork(text, spec).ok() ? FromFile(spec, devices) : FromCluster(spec, devices);
  }
  if (absl::Status s = CheckColon(spec, "the first key"); !s.ok())
    return absl::InvalidArgumentError(absl::StrCat("topology \"", spec, "\": ", s.message()));
  std::vector<std::string> names = presets;
  for (const NetworkKind& kind : NetworkKinds()) names.emplace_back(kind.name);
  const std::string nearest = NearestName(name, names);
  return absl::NotFoundError(absl::StrCat("there is no network, cluster preset or file \"", spec, "\"",
                                          nearest.empty() ? "; `chakra-replay topology list` lists them"
                                                          : absl::StrCat("; did you mean '", nearest, "'?")));
}

}  // namespace chakra::cli
