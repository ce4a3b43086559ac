#include "backends/topology/builders/grid.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

absl::StatusOr<Network> BuildMesh(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(auto grid, GridOf(p, devices));
  grid.join.assign(grid.shape.size(), Join::kLine);
  return BuildGrid(p, grid, /*any_rate=*/true);
}

}  // namespace

NetworkKind MeshNetwork() {
  return {"mesh", "A grid: each router linked to the next one in each dimension",
          "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, ch. 5",
          GridParameters("2", {}), BuildMesh};
}

}  // namespace chakra
