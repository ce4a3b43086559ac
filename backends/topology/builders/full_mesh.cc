#include "backends/topology/builders/grid.h"

namespace chakra {
namespace {

constexpr int kMaxMembers = 4096;  // 8.4 million links

absl::StatusOr<Network> BuildFullMesh(const Parameters& p, int devices) {
  return BuildLine(p, devices, Join::kAll, kMaxMembers);
}

}  // namespace

NetworkKind FullMeshNetwork() {
  return {"full_mesh", "Each device linked to each other one", "a complete graph",
          LineParameters("how many, at most 4096; default: as many as there are ranks"), BuildFullMesh};
}

}  // namespace chakra
