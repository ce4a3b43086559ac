// The machine that the options of a run describe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "backends/topology/size.h"
#include "replay/run/cluster_model.h"
#include "replay/run/options.h"

namespace chakra {

class FlowLog;  // replay/engine/flow_log.h

// What the options name for --cluster, and for --fabric: where they name none, kDefaultNetworkFabric if they
// name a network, else kDefaultFabric.
std::string ClusterSpec(const MachineOptions& options);
std::string FabricName(const MachineOptions& options);

// Reads the cluster, and changes it as the options say, `set` last. `notes` gets a line for what else
// changes. Errors: LoadCluster()'s, and options that do not fit the cluster.
absl::StatusOr<proto::Cluster> DescribeMachine(const MachineOptions& options,
                                               std::vector<std::string>* notes);

// Neighbouring devices that the cluster's innermost dimension joins; 0: it has no dimension beyond that, or
// cannot be read.
int DomainOf(const proto::Cluster& cluster);
int DomainOf(const MachineOptions& options);

// The machine of every command: the fabric over the cluster's links, with its ranks on their devices. `log`,
// where not null, is told where `ranks` ranks sit, and of every flow. Errors: MakeFabric()'s.
absl::StatusOr<std::unique_ptr<Machine>> BuildMachine(const ClusterModel& cluster,
                                                      const MachineOptions& options, int ranks,
                                                      FlowLog* log = nullptr);

// A dimension of the machine, for reports.
struct DimensionFacts {
  std::string name;
  bool network = false;
  NetworkSize size;
  std::string rates_from;  // who says what its ports carry: "cluster", "network" or "file"
};
std::vector<DimensionFacts> DimensionsOf(const ClusterModel& cluster);

// What the networks of the machine have and its fabric or its routing cannot use or see: a line for each.
std::vector<std::string> WhatFabricMisses(const ClusterModel& cluster, const MachineView& machine,
                                          const std::string& fabric);

}  // namespace chakra
