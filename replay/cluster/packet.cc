#include "replay/cluster/packet.h"

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/io/settings.h"

namespace chakra {

absl::StatusOr<packet::PacketOptions> BuildPacket(const proto::PacketNetwork& network) {
  absl::StatusOr<packet::PacketOptions> options = packet::ReadPacketOptions(network);
  if (options.ok()) return options;
  return absl::InvalidArgumentError(absl::StrCat("cluster: ", options.status().message()));
}

absl::Status SetPacket(const std::string& text, proto::Cluster* cluster) {
  proto::PacketNetwork network = cluster->packet();
  if (absl::Status s = ExpandShortForm(&network); !s.ok())
    return absl::InvalidArgumentError(absl::StrCat("cluster: packet.", s.message()));
  RETURN_IF_ERROR(ReadSettings(text, "--packet", &network));
  *cluster->mutable_packet() = network;
  return absl::OkStatus();
}

}  // namespace chakra
