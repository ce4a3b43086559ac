// The packet network of a cluster: from the proto to what the fabric takes.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/packet/options.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Errors: as packet::ParsePacketOptions(), after "cluster: "; times out of range by their field.
absl::StatusOr<packet::PacketOptions> BuildPacket(const proto::PacketNetwork& packet);

// --packet: "key=value,..." of PacketParameters(), over what the cluster says.
// Errors: as BuildPacket() of both.
absl::Status SetPacket(const std::string& text, proto::Cluster* cluster);

}  // namespace chakra
