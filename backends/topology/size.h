// What a network is made of, and what its devices can send: figures that cost one look at each link.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "backends/topology/graph.h"

namespace chakra {

struct NetworkSize {
  // What all ports of a device send together, the least over the devices. A port is a link of a device, or of
  // its card; devices that share a card share its ports. Links to NVSwitches count where there are no others.
  Bandwidth injection;
  int ports = 0;  // of that device; where devices share a card, those of the card
  uint64_t switches = 0;
  uint64_t cables = 0;           // links, but those between a device and its card
  double cable_bytes_per_s = 0;  // of all of them, in one direction
  uint64_t switch_ports = 0;     // in use
  NetworkSize& operator*=(uint64_t copies);
};

// `nvswitches`: they and their cables count.
NetworkSize SizeOf(const NetworkGraph& graph, bool nvswitches = true);

// `graph` with the links of ports scaled so that no device sends more than `injection`, and one as much.
// Errors: less than 1 B/s for a link.
absl::StatusOr<NetworkGraph> WithInjection(const NetworkGraph& graph, Bandwidth injection);

// Links that messages of several devices meet on, besides those of the devices themselves.
struct SharedLinks {
  bool any = false;
  double ratio = 0;   // the most bandwidth down for one up at a switch, where the network has tiers; else 0
  std::string where;  // the switches with this ratio: "leaf"
};
SharedLinks SharedLinksOf(const NetworkGraph& graph);

// The number of ports from which a message of one device to another may leave as well as from any other, the
// most over the devices: links to switches or, with `nvswitches`, to NVSwitches.
int EqualPorts(const NetworkGraph& graph, bool nvswitches);

// Blocks of neighbouring devices, all of one size, that NVSwitches join: each switch is linked with all
// devices of its block and nothing else.
struct SwitchedBlocks {
  int size = 0;
  Bandwidth bandwidth;  // of all links of a device to them
  Time latency;         // of such a link, the longest
};
// Nullopt: the NVSwitches do not join devices so, or not all devices alike.
std::optional<SwitchedBlocks> SwitchedBlocksOf(const NetworkGraph& graph);

}  // namespace chakra
