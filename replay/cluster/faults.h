// Expands faults of links from the proto to changes of single links.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/link_use.h"
#include "backends/topology/topology.h"
#include "proto/cluster.pb.h"

namespace chakra {

// asked[i] is the index in the proto of the topology's dimension i; a fault of a dimension that was left out
// is an error. The dimensions that faults name must be networks. If several faults affect a link at the same
// time, the minimum bandwidth and the maximum loss count. `losses`: by link, the share of packets that it
// always loses; losses of faults are added to it. The changes are in order of time, then link. Errors name
// the fault (by its label, if it has one), the field, and the nearest valid value.
absl::StatusOr<std::vector<LinkChange>> ExpandFaults(const proto::Topology& asked_topology,
                                                     const Topology& topology, const std::vector<int>& asked,
                                                     const std::map<uint32_t, double>& losses);

// Adds a fault written "KIND:key=value,...". KIND is down, slow (bandwidth=0.5) or lossy (loss=0.01; 0 is
// none). The keys are those of LinkFault; after and until have units ("after=10us"). The fault's label is
// "--fault" and the text; errors begin with it.
absl::Status AddFault(const std::string& spec, proto::Topology* topology);

}  // namespace chakra
