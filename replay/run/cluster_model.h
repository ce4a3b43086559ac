// The simulated machine: from a --cluster argument to checked, typed values.
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
  proto::Cluster proto;  // as loaded, with the topology that was built
  Topology topology;
  MemoryModel memory;
  CollectiveCosts collectives;
  Variation variation;
  std::vector<int> device_of;  // by rank; empty: rank i on device i
  RoutingOptions routing;      // for FabricOptions, as the next
  std::vector<LinkChange> link_changes;
  packet::PacketOptions packet;
  bool packet_given = false;          // the proto says something of it
  std::vector<PacketChoice> choices;  // by device
  std::vector<std::string> notes;     // on what files of networks leave open
};

// Checks every field and builds what the run needs for `ranks` ranks.
// The one dimension of size 0 becomes ranks / (product of the others), and is
// left out when that is 1. Where the ranks do not even fill the others, those
// shrink from the first on: 4 ranks of dgx-h100 are one switch of 4.
// Errors (InvalidArgument) name the field and what was expected; more ranks
// than devices, or ranks that do not fill whole blocks of the fixed dimensions
// when one is open, name both numbers. Fewer ranks than devices is fine when
// no dimension is open.
// The file that Cluster::placement may name is read.
absl::StatusOr<ClusterModel> BuildCluster(const proto::Cluster& cluster, int ranks);

// Memory nodes of a step that offloads, and those that are named as copies to the host or from it, go to the
// host's memory over the device's link (Device.host_gbytes_per_s), each rank's beside the others', where the
// cluster has no remote_memory. `step`: null: the traces are of none. Errors (InvalidArgument): the device
// does not say the link's rate.
absl::Status UseHostMemory(const generate::StepPlan* step, const TraceSet& traces, proto::Cluster* cluster);

}  // namespace chakra
