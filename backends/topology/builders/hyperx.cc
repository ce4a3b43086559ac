#include "backends/topology/builders/grid.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

absl::StatusOr<Network> BuildHyperX(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(auto grid, GridOf(p, devices));
  grid.join.assign(grid.shape.size(), Join::kAll);
  return BuildGrid(p, grid, /*any_rate=*/false);
}

}  // namespace

NetworkKind HyperXNetwork() {
  return {"hyperx", "A grid: each router linked to all others in each dimension (flattened butterfly)",
          "Ahn et al., HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks, SC 2009",
          GridParameters("2", {}), BuildHyperX};
}

}  // namespace chakra
