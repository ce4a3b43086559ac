#include "replay/run/machine.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/mixed/choice.h"
#include "backends/registry.h"
#include "backends/topology/dimension_size.h"
#include "replay/cluster/load.h"
#include "replay/cluster/topology.h"
#include "replay/cluster/variation.h"
#include "replay/engine/flow_log.h"
#include "trace/base/status_macros.h"

namespace chakra {

std::string ClusterSpec(const MachineOptions& options) {
  return options.cluster.empty() ? kDefaultCluster : options.cluster;
}

std::string FabricName(const MachineOptions& options) {
  if (!options.fabric.empty()) return options.fabric;
  const bool has = FindFabric(kDefaultNetworkFabric, *options.fabrics) != nullptr;
  return has && !options.topology.network.empty() ? kDefaultNetworkFabric : kDefaultFabric;
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
    RETURN_IF_ERROR(AddStraggler(s, loaded->mutable_variation()));
  }
  if (options.seed != 0) loaded->mutable_variation()->set_seed(options.seed);
  RETURN_IF_ERROR(ApplyTopologyOptions(options.topology, &*loaded, notes));
  return loaded;
}

int DomainOf(const proto::Cluster& cluster) {
  const auto& dimensions = cluster.topology().dimension();
  return dimensions.size() > 1 ? static_cast<int>(dimensions.Get(0).size()) : 0;
}

int DomainOf(const MachineOptions& options) {
  std::vector<std::string> notes;  // dropped here; the run itself reports them
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
  ASSIGN_OR_RETURN(auto machine, MakeMachine(FabricName(options), cluster.topology, of, *options.fabrics));
  if (log != nullptr) log->SetRanks(cluster.device_of, ranks);
  LogFlows(log, machine.get());
  machine->Place(cluster.device_of);
  return machine;
}

std::vector<DimensionFacts> DimensionsOf(const ClusterModel& cluster) {
  std::vector<DimensionFacts> out;
  const auto& dimensions = cluster.topology.dimensions();
  for (size_t i = 0; i < dimensions.size(); ++i) {
    DimensionFacts facts{dimensions[i].name, dimensions[i].kind == TopologyDimension::Kind::kNetwork,
                         SizeOf(cluster.topology, static_cast<int>(i)), ""};
    facts.rates_from = RatesFrom(cluster.proto.topology().dimension(static_cast<int>(i)), facts.size);
    out.push_back(std::move(facts));
  }
  return out;
}

std::vector<std::string> WhatFabricMisses(const ClusterModel& cluster, const MachineView& machine,
                                          const std::string& fabric) {
  std::vector<std::string> out;
  const RoutingPolicy policy = cluster.routing.policy;
  const bool splits = policy == RoutingPolicy::kSpray || policy == RoutingPolicy::kFlowlet;
  for (const TopologyDimension& d : cluster.topology.dimensions()) {
    if (d.kind != TopologyDimension::Kind::kNetwork || d.size < 2) continue;
    const NetworkGraph& graph = d.network->graph;
    if (const SharedLinks shared = SharedLinksOf(graph); shared.any && machine.contention_free()) {
      const std::string ratio =
          shared.ratio > 1 ? absl::StrFormat(" (oversubscription %.4g:1 at %s)", shared.ratio, shared.where)
                           : "";
      out.push_back(absl::StrCat("network ", d.name, ": messages share its links", ratio, ", which --fabric ",
                                 fabric,
                                 " does not model: its times are lower bounds; --fabric fluid models it"));
    }
    if (splits || cluster.routing.queue_pairs > 1) continue;
    if (const int ports = EqualPorts(graph, /*nvswitches=*/false); ports > 1) {
      out.push_back(
          absl::StrCat("network ", d.name, ": a device has ", ports,
                       " ports; a message uses one of them, by its hash; --routing spray uses all"));
    }
    // NVSwitches matter in the first dimension only.
    if (&d != &cluster.topology.dimensions().front()) continue;
    const int stripes = EqualPorts(graph, /*nvswitches=*/true);
    if (stripes > 1 && fabric != "fluid" && fabric != "analytical") {
      out.push_back(absl::StrCat("network ", d.name, ": NVSwitches stripe each message over ", stripes,
                                 " links; ", "--fabric ", fabric,
                                 " sends it over one of them, unless with --routing spray"));
    }
  }
  return out;
}

}  // namespace chakra
