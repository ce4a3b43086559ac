// Faults of links: from the proto to changes of single links.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/link_use.h"
#include "backends/topology/topology.h"
#include "proto/cluster.pb.h"

namespace chakra {

// `asked[i]` is the place in the proto of the topology's dimension i; a fault of
// a dimension that was left out is an error. The dimensions that faults name are
// networks. Where faults meet on a link, the least bandwidth counts, and the largest loss.
// `losses` is what links lose from the beginning on, by link, as a share of their packets; what faults lose
// comes on top.
// In order of time, then link. Errors name the fault (by its label, where it has
// one), the field, and the nearest valid value.
absl::StatusOr<std::vector<LinkChange>> ExpandFaults(const proto::Topology& asked_topology,
                                                     const Topology& topology, const std::vector<int>& asked,
                                                     const std::map<uint32_t, double>& losses);

// Adds a fault written "KIND:key=value,...": KIND is down, slow (bandwidth=0.5) or
// lossy (loss=0.01; 0 is none), the keys are LinkFault's, after and until with their units
// ("after=10us"). Its label is "--fault" and the text; errors begin with it.
absl::Status AddFault(const std::string& spec, proto::Topology* topology);

}  // namespace chakra
