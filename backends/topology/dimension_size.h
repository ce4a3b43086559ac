// The size of one dimension of a machine; size.h has the size of a network.
#pragma once

#include "backends/topology/size.h"
#include "backends/topology/topology.h"

namespace chakra {

// The sum over all copies of a dimension. NVSwitches do not count in a dimension above another one. For a
// dimension of size 1, only `injection` and `ports` are set.
NetworkSize SizeOf(const Topology& topology, int dimension);

}  // namespace chakra
