// What a dimension of a machine is made of, as size.h says for a network.
#pragma once

#include "backends/topology/size.h"
#include "backends/topology/topology.h"

namespace chakra {

// All copies of a dimension, without NVSwitches where it joins blocks of other dimensions; of a dimension of
// size 1: nothing but the injection.
NetworkSize SizeOf(const Topology& topology, int dimension);

}  // namespace chakra
