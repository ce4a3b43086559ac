// Networks made of networks: network cards and NVSwitches in front of one,
// copies of one beside each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/network.h"

namespace chakra {

// Where the arcs of each vertex begin, and the end.
std::vector<uint32_t> FirstArcs(const NetworkGraph& graph);

// The switches of a scale-up domain, each linked to all its devices.
struct Domain {
  int size = 1;                  // devices of a domain; the last one may have fewer
  std::vector<LinkClass> chips;  // each switch's links; empty: no domain
};

// Puts network cards between the devices of a network and `devices` new ones:
// what `part` calls device i becomes card i, linked to the devices
// [i * per_card, (i + 1) * per_card). Devices of one domain talk over its
// switches, all others over their cards. Preconditions: part has
// ceil(devices / per_card) devices, and domain.size is a multiple of per_card.
absl::StatusOr<Network> AttachNics(const Network& part, int devices, int per_card, const LinkClass& pcie,
                                   const Domain& domain);

// `copies` of `part` over the same devices. `share` > 1 divides the rate of
// links of devices and cards.
absl::StatusOr<Network> Planes(const Network& part, int copies, int share);

// `rails` copies of `part`: device i of copy r is device i * rails + r. The
// devices [i * rails, (i + 1) * rails) form a domain, and pass on what goes
// from one rail to another: the sender's domain first, then the rail.
// Precondition: part.guide.
absl::StatusOr<Network> Rails(const Network& part, int rails, const LinkClass& scale_up);

// Network cards as an option of a builder: `devices_per_nic`, `pcie`,
// `pcie_latency`. There are none unless the first is above 1 or one of the
// others is given.
std::vector<Parameter> NicParameters();
struct NicOptions {
  bool present = false;
  int per_card = 1;
  LinkClass pcie;
  // Ports of the network that so many devices need.
  int Ports(int devices) const { return devices / per_card + (devices % per_card != 0 ? 1 : 0); }
};
absl::StatusOr<NicOptions> ReadNics(const Parameters& p);
// `network` itself when there are none. It must have options.Ports(devices) devices.
absl::StatusOr<Network> WithNics(absl::StatusOr<Network> network, int devices, const NicOptions& options);

// The network in the parentheses of `key`; errors say where it stands.
absl::StatusOr<Network> BuildPart(const Parameters& p, absl::string_view key, int devices);

std::vector<Parameter> Concat(std::vector<Parameter> a, const std::vector<Parameter>& b);

}  // namespace chakra
