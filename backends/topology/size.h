// The size of a network and the bandwidth of its devices: figures that need one pass over the links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "backends/topology/graph.h"

namespace chakra {

struct NetworkSize {
  // The bandwidth of all ports of a device together; the minimum over the devices. A port is a link of a
  // device, or of the device's NIC; devices that share a NIC share its ports. Links to NVSwitches count only
  // for a device without other links.
  Bandwidth injection;
  int ports = 0;  // of the device with that minimum; where devices share a NIC, the ports of the NIC
  uint64_t switches = 0;
  uint64_t cables = 0;           // links, without those between a device and its NIC
  double cable_bytes_per_s = 0;  // sum over all cables, in one direction
  uint64_t switch_ports = 0;     // in use
  NetworkSize& operator*=(uint64_t copies);
};

// `nvswitches`: count NVSwitches and their cables too.
NetworkSize SizeOf(const NetworkGraph& graph, bool nvswitches = true);

// `graph` with the links of all ports scaled by one factor, so that the minimum injection over the devices is
// `injection`. Errors: less than 1 B/s for a link.
absl::StatusOr<NetworkGraph> WithInjection(const NetworkGraph& graph, Bandwidth injection);

// Links that messages of several devices share, apart from the devices' own links.
struct SharedLinks {
  bool any = false;
  double ratio = 0;   // highest bandwidth down / bandwidth up of a switch if the network has tiers; else 0
  std::string where;  // the switches with this ratio: "leaf"
};
SharedLinks SharedLinksOf(const NetworkGraph& graph);

// The number of equivalent ports over which a message from one device to another may leave; the maximum over
// the devices. Ports are links to switches or, with `nvswitches`, to NVSwitches.
int EqualPorts(const NetworkGraph& graph, bool nvswitches);

// Blocks of consecutive devices, all of one size, that NVSwitches join: each NVSwitch is linked to all
// devices of one block and to nothing else.
struct SwitchedBlocks {
  int size = 0;
  Bandwidth bandwidth;  // sum over the links of a device to NVSwitches
  Time latency;         // the longest of these links
};
// nullopt if NVSwitches do not join devices in this way, or if the devices' bandwidths differ.
std::optional<SwitchedBlocks> SwitchedBlocksOf(const NetworkGraph& graph);

}  // namespace chakra
