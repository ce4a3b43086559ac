#include "backends/topology/builders/common.h"
#include "backends/topology/builders/compose.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

absl::StatusOr<Network> BuildMultiPlane(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto planes, p.Count("planes", 1, 64));
  ASSIGN_OR_RETURN(const auto split, p.Flag("split"));
  ASSIGN_OR_RETURN(const auto nics, ReadNics(p));
  ASSIGN_OR_RETURN(const auto part, BuildPart(p, "of", nics.Ports(devices), p.cards()));
  if (part.graph.devices_forward()) {
    return p.Bad("of", "a network whose devices do not forward messages, (fat_tree:k=8) for instance");
  }
  const int n = devices > 0 ? devices : static_cast<int>(part.graph.devices()) * nics.per_card;
  if (n > kMaxNetworkDevices) return p.Bad("of", absl::StrCat("at most ", kMaxNetworkDevices, " devices"));
  return WithNics(Planes(part, planes, split ? planes : 1), n, nics);
}

}  // namespace

NetworkKind MultiPlaneNetwork() {
  return {"multi_plane", "Parallel copies of a network; each device has a port in each copy",
          "DeepSeek-V3, ISCA 2025; Alibaba HPN, SIGCOMM 2024",
          Concat({{"planes", "2", "copies, 1 to 64"},
                  {"of", "", "network of a plane, in parentheses: (leaf_spine:k=64)"},
                  {"split", "yes",
                   "yes: the planes share the rate of a device's links evenly; no: each has all of it"}},
                 NicParameters()),
          BuildMultiPlane};
}

}  // namespace chakra
