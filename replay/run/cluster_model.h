// The simulated machine: checked, typed values of a cluster file.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/link_use.h"
#include "backends/mixed/choice.h"
#include "backends/packet/options.h"
#include "backends/topology/routing/router.h"
#include "backends/topology/topology.h"
#include "proto/cluster.pb.h"
#include "replay/cluster/variation.h"
#include "replay/engine/memory_model.h"
#include "replay/nccl/collective_costs.h"
#include "trace/generate/sizes.h"
#include "trace/model/trace.h"

namespace chakra {

struct ClusterModel {
  proto::Cluster proto;  // the cluster as loaded, with the topology that was built
  Topology topology;
  MemoryModel memory;
  CollectiveCosts collectives;
  Variation variation;
  std::vector<int> device_of;  // by rank; empty: rank i on device i
  RoutingOptions routing;      // for FabricOptions, as is link_changes
  std::vector<LinkChange> link_changes;
  packet::PacketOptions packet;
  bool packet_given = false;          // whether `proto` has packet settings
  std::vector<PacketChoice> choices;  // by device
  std::vector<std::string> notes;     // warnings about what network files leave open
};

// Checks every field and builds what the run needs for `ranks` ranks.
// A dimension of size 0 is open; there may be one. Its size becomes ranks / (product of the others), and it
// is left out if that is 1. If the ranks do not even fill the other dimensions, these shrink, from the first
// on: 4 ranks of dgx-h100 are one switch of 4.
// Errors (InvalidArgument) name the field and what was expected. Two errors name both numbers: more ranks
// than devices, and ranks that do not fill whole blocks of the fixed dimensions if one dimension is open.
// Without an open dimension, fewer ranks than devices are allowed.
// Reads the file that Cluster::placement may name.
absl::StatusOr<ClusterModel> BuildCluster(const proto::Cluster& cluster, int ranks);

// Sends memory nodes to the host's memory over the device's link (Device.host_gbytes_per_s), each rank
// independently. Applies if the step offloads, or if nodes are named as copies to or from the host, and if
// the cluster has no remote_memory. `step`: null if the traces are not of a generated step. Errors
// (InvalidArgument): the device does not give the rate of the link.
absl::Status UseHostMemory(const generate::StepPlan* step, const TraceSet& traces, proto::Cluster* cluster);

}  // namespace chakra
