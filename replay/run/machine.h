// Builds the machine from the options of a run.
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

// The cluster and the fabric that the options name. Without a fabric, it is kDefaultNetworkFabric if the
// options name a network, else kDefaultFabric.
std::string ClusterSpec(const MachineOptions& options);
std::string FabricName(const MachineOptions& options);

// Reads the cluster and applies the options, `set` last. `notes` gets a line for each side effect. Errors:
// those of LoadCluster(), and options that do not fit the cluster.
absl::StatusOr<proto::Cluster> DescribeMachine(const MachineOptions& options,
                                               std::vector<std::string>* notes);

// The number of neighbouring devices that the cluster's innermost dimension joins; 0: the cluster has only
// one dimension, or cannot be read.
int DomainOf(const proto::Cluster& cluster);
int DomainOf(const MachineOptions& options);

// Builds the machine that every command uses: the fabric over the cluster's links, with the ranks on their
// devices. If `log` is not null, it gets the devices of `ranks` ranks, and logs every flow. Errors: those of
// MakeFabric().
absl::StatusOr<std::unique_ptr<Machine>> BuildMachine(const ClusterModel& cluster,
                                                      const MachineOptions& options, int ranks,
                                                      FlowLog* log = nullptr);

// A dimension of the machine, for reports.
struct DimensionFacts {
  std::string name;
  bool network = false;
  NetworkSize size;
  std::string rates_from;  // source of the bandwidth of its ports: "cluster", "network" or "file"
};
std::vector<DimensionFacts> DimensionsOf(const ClusterModel& cluster);

// A line for each property of the machine's networks that its fabric or routing cannot use or cannot model.
std::vector<std::string> WhatFabricMisses(const ClusterModel& cluster, const MachineView& machine,
                                          const std::string& fabric);

}  // namespace chakra
