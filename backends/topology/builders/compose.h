// Networks made of networks: a network with NICs and NVSwitches in front, and copies of a network in
// parallel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/network.h"

namespace chakra {

// The first arc of each vertex, and the number of arcs.
std::vector<uint32_t> FirstArcs(const NetworkGraph& graph);

// The switches of a scale-up domain, each linked to all devices of the domain.
struct Domain {
  int size = 1;                  // devices of a domain; the last one may have fewer
  std::vector<LinkClass> chips;  // by switch: class of its links; empty: no domain
};

// Puts NICs in front of a network: device i of `part` becomes NIC i, linked to the new devices [i * per_card,
// (i + 1) * per_card). Devices of one domain communicate over its switches, all others over their NICs.
// Preconditions: `part` has ceil(devices / per_card) devices, and domain.size is a multiple of per_card.
absl::StatusOr<Network> AttachNics(const Network& part, int devices, int per_card, const LinkClass& pcie,
                                   const Domain& domain);

// `copies` of `part` over the same devices. The rates of links at devices and NICs are divided by `share`.
absl::StatusOr<Network> Planes(const Network& part, int copies, int share);

// `rails` copies of `part`: device i of copy r is device i * rails + r. The devices [i * rails, (i + 1) *
// rails) form a domain. A message between rails first goes to the right rail within the sender's domain, then
// over the rail. Precondition: part.guide.
absl::StatusOr<Network> Rails(const Network& part, int rails, const LinkClass& scale_up);

// The parameters for NICs: `devices_per_nic`, `pcie`, `pcie_latency`. A network has NICs only if the first is
// above 1 or one of the others is given.
std::vector<Parameter> NicParameters();
struct NicOptions {
  bool present = false;
  int per_card = 1;
  LinkClass pcie;
  // The number of ports of the network that `devices` devices need.
  int Ports(int devices) const { return devices / per_card + (devices % per_card != 0 ? 1 : 0); }
};
absl::StatusOr<NicOptions> ReadNics(const Parameters& p);
// `network` with its NICs; unchanged if there are none. Precondition: `network` has options.Ports(devices)
// devices.
absl::StatusOr<Network> WithNics(absl::StatusOr<Network> network, int devices, const NicOptions& options);

// Builds the network in the parentheses of `key` for devices with these NICs; errors name the key.
absl::StatusOr<Network> BuildPart(const Parameters& p, absl::string_view key, int devices,
                                  const Cards& cards);

std::vector<Parameter> Concat(std::vector<Parameter> a, const std::vector<Parameter>& b);

}  // namespace chakra
