#include "backends/topology/builders/common.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

absl::StatusOr<Network> BuildSwitch(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto room, p.Count("devices", 0, kMaxNetworkDevices));
  if (room == 0 && devices == 0) return p.Bad("devices", "how many to connect, >= 1");
  ASSIGN_OR_RETURN(const auto n, DevicesOf(p, devices, room == 0 ? kMaxNetworkDevices : room,
                                           absl::StrCat("devices=", devices)));
  ASSIGN_OR_RETURN(const auto planes, p.Count("planes", 1, 1024));
  ASSIGN_OR_RETURN(const auto link, ClassOf(p, "link", "link", "latency", /*any_rate=*/true));

  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, static_cast<uint32_t>(n));
  const uint32_t first = b.AddVertices("switch", VertexKind::kSwitch, static_cast<uint32_t>(planes), 1);
  const uint16_t link_class = b.AddClass(link);
  for (int d = 0; d < n; ++d) {
    for (int s = 0; s < planes; ++s) {
      b.AddLink(static_cast<uint32_t>(d), first + static_cast<uint32_t>(s), link_class);
    }
  }
  return Finish(&b, nullptr, "");
}

}  // namespace

NetworkKind SwitchNetwork() {
  return {"switch",
          "Each device linked to one switch, or to several parallel switches",
          "a star",
          {{"devices", "0", "number of devices; default: the number of ranks"},
           {"planes", "1", "switches, each of them linked to all devices; 1 to 1024"},
           {"link", "400Gb/s", "rate of a link, each direction", kCardBandwidth},
           {"latency", "500ns", "latency of a link; a path has two", kCardLatency}},
          BuildSwitch};
}

}  // namespace chakra
