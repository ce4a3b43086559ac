// Text of --packet: any bytes give valid options or an error that names the wrong one. A cluster's message
// gives the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "replay/cluster/packet.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(packet_options_fuzz, data, size) {
  using chakra::fuzz::Require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto read = chakra::packet::ParsePacketOptions(text);
  chakra::proto::Cluster cluster;
  const absl::Status set = chakra::SetPacket(text, &cluster);
  const auto built = chakra::BuildPacket(cluster.packet());
  Require((set.ok() && built.ok()) == read.ok(), "both ways accept the same");
  if (!read.ok()) {
    Require(absl::StartsWith(read.status().message(), "packet: "), "an error says of what");
    return 0;
  }
  Require(chakra::packet::CheckPacketOptions(*read).ok(), "what is read holds");
  Require(built->mtu == read->mtu && built->transport.index() == read->transport.index() &&
              built->ecn_low.bytes == read->ecn_low.bytes && built->spread == read->spread,
          "the message means the same");
  return 0;
}
