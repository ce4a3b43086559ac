#include "replay/run/machine.h"

#include "absl/strings/str_cat.h"
#include "backends/mixed/choice.h"
#include "backends/registry.h"
#include "replay/cluster/load.h"
#include "replay/cluster/variation.h"
#include "replay/engine/flow_log.h"

namespace chakra {

std::string ClusterSpec(const MachineOptions& options) {
  return options.cluster.empty() ? kDefaultCluster : options.cluster;
}

std::string FabricName(const MachineOptions& options) {
  return options.fabric.empty() ? kDefaultFabric : options.fabric;
}

absl::StatusOr<proto::Cluster> DescribeMachine(const MachineOptions& options,
                                               std::vector<std::string>* notes) {
  absl::StatusOr<proto::Cluster> loaded = proto::Cluster();
  if (options.described == nullptr) {
    loaded = LoadCluster(ClusterSpec(options), notes);
    if (!loaded.ok()) return loaded.status();
  } else {
    *loaded = options.described->cluster;
    if (notes != nullptr)
      notes->insert(notes->end(), options.described->notes.begin(), options.described->notes.end());
  }
  for (const std::string& p : options.programs) loaded->mutable_collectives()->add_program(p);
  if (!options.placement.empty()) {
    loaded->mutable_placement()->set_rule(options.placement);
    loaded->mutable_placement()->set_label(absl::StrCat("--placement \"", options.placement, "\""));
  }
  for (const std::string& s : options.stragglers) {
    if (absl::Status bad = AddStraggler(s, loaded->mutable_variation()); !bad.ok()) return bad;
  }
  if (options.seed != 0) loaded->mutable_variation()->set_seed(options.seed);
  if (absl::Status s = ApplyTopologyOptions(options.topology, &*loaded, notes); !s.ok()) return s;
  return loaded;
}

int DomainOf(const proto::Cluster& cluster) {
  const auto& dimensions = cluster.topology().dimension();
  return dimensions.size() > 1 ? static_cast<int>(dimensions.Get(0).size()) : 0;
}

int DomainOf(const MachineOptions& options) {
  std::vector<std::string> notes;  // the run itself tells them
  const auto cluster = DescribeMachine(options, &notes);
  return cluster.ok() ? DomainOf(*cluster) : 0;
}

absl::StatusOr<std::unique_ptr<Machine>> BuildMachine(const ClusterModel& cluster,
                                                      const MachineOptions& options, int ranks,
                                                      FlowLog* log) {
  FabricOptions of = options.fabric_options;
  of.routing = cluster.routing;
  of.changes = cluster.link_changes;
  if (cluster.packet_given) of.Set(cluster.packet);
  of.Set(PacketChoices{cluster.choices});
  auto machine = MakeMachine(FabricName(options), cluster.topology, of, *options.fabrics);
  if (!machine.ok()) return machine.status();
  if (log != nullptr) log->SetRanks(cluster.device_of, ranks);
  LogFlows(log, machine->get());
  (*machine)->Place(cluster.device_of);
  return machine;
}

}  // namespace chakra
