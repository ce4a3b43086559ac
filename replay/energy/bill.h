// The bill of materials of a simulated machine, counted on its topology.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/topology/topology.h"
#include "replay/energy/meter.h"
#include "replay/energy/model.h"

namespace chakra::energy {

// Ports and links between nodes that have the same bandwidth.
struct LinkBill {
  double gbits_per_s = 0;    // of a link, in each direction
  int64_t links = 0;         // cables
  int64_t first_hop = 0;     // links between a node and its first switch, or between nodes
  int64_t switch_ports = 0;  // ends of links at switches
};

struct Bill {
  int64_t devices = 0;
  int64_t nodes = 0, racks = 0;
  std::vector<LinkBill> links;  // by increasing bandwidth
  int64_t switch_ports() const;
  // Optical modules: in switches, and in switches and nodes together. `copper_first_hop`: first hops need no
  // modules.
  int64_t switch_transceivers(bool copper_first_hop) const;
  int64_t transceivers(bool copper_first_hop) const;
  // The bandwidth of all ports of switches.
  double switch_gbits_per_s() const;
};

// Leaves out links inside of nodes or racks (NVLink, Infinity Fabric). Links of the first dimension are
// inside if it is not a network and one of three holds: there is another dimension, it has at most `node`
// devices, or it has more bandwidth than a NIC. In networks, links at NVSwitches, PCIe switches and hosts are
// inside. Links of dimensions of size 1 are left out too.
Bill BillOf(const Topology& topology, const proto::NodePower& node);

// The places of ranks: device d is in node d / node.devices(). Nodes and racks are numbered from 0 in the
// order of their devices; those without a rank are left out.
Places PlacesOf(const std::vector<int>& device_of, size_t ranks, const proto::NodePower& node);

}  // namespace chakra::energy
