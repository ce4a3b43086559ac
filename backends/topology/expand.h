// A product of dimensions as one explicit graph.
#pragma once

#include "absl/status/statusor.h"
#include "backends/topology/network.h"
#include "backends/topology/topology.h"

namespace chakra {

constexpr uint64_t kMaxExpandedLinks = uint64_t{1} << 24;

// All devices, with a switch for each block of a switch dimension and each copy
// of a network. Devices are passed through where dimensions meet at them. No
// guide, but for a network alone. Errors: more links than kMaxExpandedLinks.
absl::StatusOr<Network> ExpandTopology(const Topology& topology);

}  // namespace chakra
