// What a simulated machine is made of: its bill of materials, counted on the topology itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/topology/topology.h"
#include "replay/energy/meter.h"
#include "replay/energy/model.h"

namespace chakra::energy {

// Ports and links of one bandwidth between nodes.
struct LinkBill {
  double gbits_per_s = 0;    // of a link, each direction
  int64_t links = 0;         // cables
  int64_t first_hop = 0;     // of them: between a node and its first switch, or between nodes
  int64_t switch_ports = 0;  // ends at switches
};

struct Bill {
  int64_t devices = 0;
  int64_t nodes = 0, racks = 0;
  std::vector<LinkBill> links;  // by bandwidth, the least first
  int64_t switch_ports() const;
  // Optical modules: in switches, and in switches and nodes together. `copper_first_hop`: first hops need
  // none.
  int64_t switch_transceivers(bool copper_first_hop) const;
  int64_t transceivers(bool copper_first_hop) const;
  // Of all ports of switches.
  double switch_gbits_per_s() const;
};

// Links of the first dimension are inside of nodes or racks (NVLink, Infinity Fabric) where it is no network
// and there is another dimension, at most `node` devices in it, or more bandwidth than a card has: no part of
// the bill. So are links at NVSwitches, PCIe switches and hosts in networks, and those of blocks that join
// nothing.
Bill BillOf(const Topology& topology, const proto::NodePower& node);

// Where ranks are: device d is in node d / node.devices(). Nodes and racks count from 0 in the order of their
// devices; those without a rank are left out.
Places PlacesOf(const std::vector<int>& device_of, size_t ranks, const proto::NodePower& node);

}  // namespace chakra::energy
