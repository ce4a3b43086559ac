// The packet network of a cluster: from the proto to the fabric's options.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/packet/options.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Errors: those of packet::ReadPacketOptions(), after "cluster: ".
absl::StatusOr<packet::PacketOptions> BuildPacket(const proto::PacketNetwork& network);

// Sets "key=value,..." of --packet, on top of the cluster's fields. BuildPacket() checks that the values are
// consistent.
absl::Status SetPacket(const std::string& text, proto::Cluster* cluster);

}  // namespace chakra
