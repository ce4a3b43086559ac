// Expands a product of dimensions to one explicit graph.
#pragma once

#include "absl/status/statusor.h"
#include "backends/topology/network.h"
#include "backends/topology/topology.h"

namespace chakra {

constexpr uint64_t kMaxExpandedLinks = uint64_t{1} << 24;

// The graph has all devices, a switch for each block of a switch dimension, and each copy of a network.
// Messages pass through devices where dimensions meet. Only a topology that is a single network has a guide.
// Errors: more links than kMaxExpandedLinks.
absl::StatusOr<Network> ExpandTopology(const Topology& topology);

}  // namespace chakra
