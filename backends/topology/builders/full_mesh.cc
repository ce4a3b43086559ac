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
          LineParameters("number of devices, at most 4096; default: the number of ranks"), BuildFullMesh};
}

}  // namespace chakra
