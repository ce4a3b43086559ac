#include "backends/topology/builders/grid.h"

namespace chakra {
namespace {

absl::StatusOr<Network> BuildRing(const Parameters& p, int devices) {
  return BuildLine(p, devices, Join::kRing, kMaxNetworkDevices);
}

}  // namespace

NetworkKind RingNetwork() {
  return {"ring", "Each device linked to the next, and the last to the first; two by one link", "a cycle",
          LineParameters("number of devices; default: the number of ranks"), BuildRing};
}

}  // namespace chakra
