// The ports of a packet network, and the nodes that they belong to.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/link_use.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/topology/topology.h"
#include "trace/base/prefetch.h"

namespace chakra::packet {

// The data of a port (one direction of a link) that every packet needs, on one cache line.
struct alignas(64) Port {
  int64_t free_at = 0;  // ps: time at which the last packet has left
  int64_t latency = 0;  // of the link, plus that of the switch that sends; ps
  uint64_t sent = 0;    // bytes
  uint64_t packets = 0;
  int64_t small_time = 0, large_time = 0;  // times to send packets of the last sizes
  uint32_t large_bytes = 0;                // the last size above kSmall
  uint32_t node = 0;                       // the node that the port belongs to
  uint16_t small_bytes = 0;                // the last size up to kSmall
  uint8_t waiting = 0;                     // classes with packets in their queue, one bit each
  uint8_t ready = 0;                       // classes with connections that want to send, one bit each
  uint8_t paused = 0;                      // paused classes, one bit each
  bool posted : 1 = false;                 // a kFree event is under way
  bool turn : 1 = false;                   // connections are next, if packets from other ports wait too
  bool lossy : 1 = false;                  // the link loses packets at random
  uint8_t part = 0;                        // part of the node at the other end
  bool up = true;                          // the link works

  static constexpr uint32_t kSmall = 256;
};
static_assert(sizeof(Port) == 64);

// The data of a port that only some packets need.
struct alignas(64) PortInfo {
  Bandwidth bandwidth;
  double rate = 0;    // bytes a picosecond
  uint32_t peer = 0;  // node at the other end
  uint32_t link = 0;  // number in the Topology
  uint16_t link_class = 0;
  uint16_t dimension = 0;
  uint8_t next_class = 1;  // class whose turn it is
  uint8_t headers = 0;     // trimmed packets since the last data packet, while data waits
  // Counted for reports.
  uint64_t flows = 0;  // messages of connections with one path
  uint64_t marks = 0, drops = 0, trims = 0;
  // Counted by the node at the other end: pauses that it requested; packets that arrived while the link was
  // down; packets that the link lost at random.
  uint64_t pauses = 0, cut_off = 0, lost = 0;
  uint64_t paused = 0;       // ps in finished pauses; times in which several classes were paused count once
  int64_t paused_since = 0;  // ps: begin of the current pause, if Port::paused
  double loss = 0;           // share of packets lost at random, [0, 1)
};

// The members of PortInfo that count kLinkCounts, in the same order. Drops while the link was down (cut_off)
// are counted separately.
inline constexpr uint64_t PortInfo::*kPortCounts[] = {&PortInfo::marks, &PortInfo::drops,  &PortInfo::lost,
                                                      &PortInfo::trims, &PortInfo::pauses, &PortInfo::paused};
static_assert(std::size(kPortCounts) == std::size(kLinkCounts));

// The queue of one class at a port.
struct PortQueue {
  uint32_t head = kNoIndex, tail = kNoIndex;  // first and last packet
  uint32_t ring = kNoIndex;                   // last connection in a ring of those that want to send
  uint64_t bytes = 0;
};

// The packets that wait at a port, all classes; bytes.
struct PortBacklog {
  uint64_t bytes = 0;
  uint64_t most = 0;
};

// Two classes of a port, on one cache line, because the next port may belong to another part.
struct alignas(64) PortQueues {
  PortQueue of[2];
  PortBacklog backlog;  // used in the element with classes 0 and 1
};
static_assert(sizeof(PortQueues) == 64);

// Data of one class at a port, if links have flow control or classes have shares.
struct PortCredit {
  int64_t deficit = 0;  // remaining share of the class; bytes
  int64_t credit = 0;   // kCredit: bytes for which the other end has room
  // Packets that arrived over this port's link and wait in the node at its other end:
  uint64_t ingress = 0;  // bytes in the reserved and the shared buffer
  uint64_t ingress_headroom = 0;
  uint32_t signals = 0;  // signals sent about this class
  bool asked_to_pause = false;

  // Bytes in the shared buffer, with `by` more bytes in `ingress`.
  uint64_t Shared(uint64_t reserved, uint32_t by = 0) const {
    const uint64_t held = ingress + by;
    return held > reserved ? held - reserved : 0;
  }
};

// On cache lines of its own, because parts of the network run in parallel.
struct alignas(64) Node {
  bool is_switch = false;
  uint8_t part = 0;       // 0: the part with the devices
  uint64_t pool = 0;      // bytes of the buffer that are not set aside for headroom and reserves
  uint64_t buffered = 0;  // bytes in all ports
  uint64_t shared = 0;    // bytes in the shared buffer
  uint64_t most_buffered = 0;
};

// Ports are made when a path first uses them. Their numbers depend only on the order of the calls.
//
// A node belongs to part 0 or to one of parts() other parts. Part 0 has all nodes at which messages begin or
// end: devices, and the switches of switch dimensions. The switches of networks are divided among the other
// parts by their position in the network.
class PacketNetwork {
 public:
  static constexpr uint32_t kPauseFrame = 64;  // bytes

  PacketNetwork(const Topology& topology, const PacketOptions& options);

  // Returns the port of a link of the topology; makes it if needed.
  uint32_t PortOf(const Hop& hop);
  Port& port(uint32_t i) { return ports_[i]; }
  const Port& port(uint32_t i) const { return ports_[i]; }
  PortInfo& info(uint32_t i) { return infos_[i]; }
  const PortInfo& info(uint32_t i) const { return infos_[i]; }
  PortQueue& queue(uint32_t port, uint32_t traffic_class) {
    return queues_[port * queue_pairs_ + traffic_class / 2].of[traffic_class % 2];
  }
  const PortQueue& queue(uint32_t port, uint32_t traffic_class) const {
    return queues_[port * queue_pairs_ + traffic_class / 2].of[traffic_class % 2];
  }
  PortBacklog& backlog(uint32_t port) { return queues_[port * queue_pairs_].backlog; }
  const PortBacklog& backlog(uint32_t port) const { return queues_[port * queue_pairs_].backlog; }
  PortCredit& credit(uint32_t port, uint32_t traffic_class) {
    return credits_[port * classes_ + traffic_class];
  }
  const PortCredit& credit(uint32_t port, uint32_t traffic_class) const {
    return credits_[port * classes_ + traffic_class];
  }
  Node& node(uint32_t i) { return nodes_[i]; }
  const Node& node(uint32_t i) const { return nodes_[i]; }
  size_t ports() const { return ports_.size(); }
  size_t nodes() const { return nodes_.size(); }
  std::string PortName(uint32_t port) const { return topology_.LinkName(infos_[port].link); }
  // The port of a link; kNoIndex if nothing has used the link.
  uint32_t Find(uint32_t link) const { return port_of_[link]; }

  void Prefetch(uint32_t port) const {
    PrefetchToWrite(&ports_[port]);
    PrefetchToWrite(&queues_[port * queue_pairs_]);
  }
  // Picoseconds that a port's link needs for `bytes`.
  int64_t TimeFor(uint32_t i, uint32_t bytes) {
    Port& p = ports_[i];
    if (bytes <= Port::kSmall) {
      if (p.small_bytes != bytes) {
        p.small_bytes = static_cast<uint16_t>(bytes);
        p.small_time = TransferTime(bytes, infos_[i].bandwidth).picos();
      }
      return p.small_time;
    }
    if (p.large_bytes != bytes) {
      p.large_bytes = bytes;
      p.large_time = TransferTime(bytes, infos_[i].bandwidth).picos();
    }
    return p.large_time;
  }
  void SetBandwidth(uint32_t port, double share);
  // Resets a port to its initial state, except its counts. Waiting packets are forgotten;
  // PacketSim::LeaveBuffers() must have removed them from the buffer of the node.
  void Reset(uint32_t port);
  // SetShare() and SetLoss() change a link, whether or not it has a port yet. An existing port gets its loss
  // here, but its share only by SetBandwidth().
  void SetShare(uint32_t link, double share) { states_[link].share = share; }
  double Share(uint32_t link) const {
    const auto it = states_.find(link);
    return it == states_.end() ? 1 : it->second.share;
  }
  void SetLoss(uint32_t link, double loss);
  // Picoseconds until `at` in which at least one class of a port was paused.
  uint64_t Paused(uint32_t port, int64_t at) const {
    const PortInfo& info = infos_[port];
    const bool now = ports_[port].paused != 0 && at > info.paused_since;
    return info.paused + (now ? static_cast<uint64_t>(at - info.paused_since) : 0);
  }

  // Bytes of its buffer that a switch sets aside for all incoming links. The switch is that of a switch
  // dimension, or a vertex of a network.
  uint64_t SetAside(int dimension, uint32_t vertex) const;
  // Headroom of a port in bytes: arrivals between the request for a pause and its effect. This is twice the
  // latency of the link and of a switch, two full packets and a pause frame of 64 bytes.
  uint64_t Headroom(const LinkClass& link) const;
  // Credit of a port and class in bytes: enough to keep the link busy.
  uint64_t Credit(const LinkClass& link) const;
  const Topology& topology() const { return topology_; }
  uint64_t MemoryBytes() const;

  // Number of parts besides part 0; depends only on the topology. 0: all nodes are in part 0.
  uint32_t parts() const { return parts_; }
  // The minimum time from one part to another; ps.
  int64_t lookahead() const { return lookahead_; }

 private:
  static constexpr uint32_t kMostParts = 16;

  uint32_t NodeOf(uint64_t end, const Hop& hop);
  void ChooseParts();

  Topology topology_;
  PacketOptions options_;
  size_t classes_, queue_pairs_;
  std::vector<Port> ports_;
  std::vector<PortInfo> infos_;
  std::vector<PortQueues> queues_;
  std::vector<PortCredit> credits_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> port_of_;  // by link of the topology
  absl::flat_hash_map<uint64_t, uint32_t> node_of_;
  struct LinkState {
    double share = 1, loss = 0;
  };
  absl::flat_hash_map<uint32_t, LinkState> states_;  // links that were changed by SetShare() or SetLoss()
  uint32_t parts_ = 0;
  int64_t lookahead_ = 0;
};

}  // namespace chakra::packet
