// The packet network of a cluster: from the proto to what the fabric takes.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/packet/options.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Errors: as packet::ReadPacketOptions(), after "cluster: ".
absl::StatusOr<packet::PacketOptions> BuildPacket(const proto::PacketNetwork& network);

// --packet: "key=value,..." over what the cluster says. What does not go together is BuildPacket()'s to
// refuse.
absl::Status SetPacket(const std::string& text, proto::Cluster* cluster);

}  // namespace chakra
