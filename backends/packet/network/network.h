// The ports of a packet network, the nodes that they belong to, and the paths
// between them.
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

// One direction of a link: what every packet needs, on one cache line.
struct alignas(64) Port {
  int64_t free_at = 0;  // ps: the last packet has left
  int64_t latency = 0;  // of the link; ps
  uint64_t sent = 0;    // bytes
  uint64_t packets = 0;
  int64_t small_time = 0, large_time = 0;  // for the last sizes
  uint32_t large_bytes = 0;                // the last size above kSmall
  uint32_t node = 0;                       // it is part of
  uint16_t small_bytes = 0;                // the last size up to kSmall
  uint8_t waiting = 0;                     // classes with packets in their queue, a bit each
  uint8_t ready = 0;                       // classes with connections that want to send
  uint8_t paused = 0;                      // classes
  bool posted : 1 = false;                 // a kFree event is under way
  bool turn : 1 = false;                   // of connections, where packets of others wait too
  bool lossy : 1 = false;                  // the link loses packets by chance
  uint8_t part = 0;                        // of the node at the other end
  bool up = true;                          // the link works

  static constexpr uint32_t kSmall = 256;
};
static_assert(sizeof(Port) == 64);

// The rest of it.
struct alignas(64) PortInfo {
  Bandwidth bandwidth;
  double rate = 0;    // bytes a picosecond
  uint32_t peer = 0;  // node at the other end
  uint32_t link = 0;  // of Topology
  uint16_t link_class = 0;
  uint16_t dimension = 0;
  uint8_t next_class = 1;  // whose turn it is
  uint8_t headers = 0;     // of trimmed packets since one of data, where data waits
  // What is told of it
  uint64_t flows = 0;  // messages of connections with one way
  uint64_t marks = 0, drops = 0, trims = 0;
  // Counted by the node at the other end: pauses that it asked for; packets that came when the link was down,
  // and those that the link lost by chance.
  uint64_t pauses = 0, cut_off = 0, lost = 0;
  uint64_t paused = 0;  // ps: in pauses that have ended, a time in which several classes were paused once
  int64_t paused_since = 0;  // ps: where Port::paused
  double loss = 0;           // share of its packets that are lost, [0, 1)
};

// Where kLinkCounts are counted, in their order; of drops those that came when the link was down (cut_off)
// are counted apart.
inline constexpr uint64_t PortInfo::*kPortCounts[] = {&PortInfo::marks, &PortInfo::drops,  &PortInfo::lost,
                                                      &PortInfo::trims, &PortInfo::pauses, &PortInfo::paused};
static_assert(std::size(kPortCounts) == std::size(kLinkCounts));

// Of a port and class.
struct PortQueue {
  uint32_t head = kNoIndex, tail = kNoIndex;  // packets
  uint32_t ring = kNoIndex;                   // the last of a ring of connections that want to send
  uint64_t bytes = 0;
};

// What waits at a port, of all classes; bytes.
struct PortBacklog {
  uint64_t bytes = 0;
  uint64_t most = 0;
};

// Of two classes of a port: a cache line, for the next port may be of another part.
struct alignas(64) PortQueues {
  PortQueue of[2];
  PortBacklog backlog;  // with the first two classes
};
static_assert(sizeof(PortQueues) == 64);

// Of a port and class, where links have flow control or classes shares.
struct PortCredit {
  int64_t deficit = 0;  // of its share; bytes
  int64_t credit = 0;   // kCredit: bytes that the other end has room for
  // What came in over this port's link and waits in the node at its other end
  uint64_t ingress = 0;  // bytes of the reserved and the shared buffer
  uint64_t ingress_headroom = 0;
  uint32_t signals = 0;  // sent for it
  bool asked_to_pause = false;

  // Bytes of the shared buffer, with `by` more in `ingress`.
  uint64_t Shared(uint64_t reserved, uint32_t by = 0) const {
    const uint64_t held = ingress + by;
    return held > reserved ? held - reserved : 0;
  }
};

// Parts of the network run side by side: the data of each is on cache lines of its own.
struct alignas(64) Node {
  bool is_switch = false;
  uint8_t part = 0;       // 0: of devices
  uint64_t pool = 0;      // of its buffer: what is not set aside for headroom and reserves; bytes
  uint64_t buffered = 0;  // bytes, all ports
  uint64_t shared = 0;    // bytes of its shared buffer
  uint64_t most_buffered = 0;
};

// Ports come to be as paths use them. Numbers depend on the order of the calls alone.
//
// Nodes are of part 0, or of one of parts() others. Part 0 has all at which messages begin or end: devices,
// and the switches of switch dimensions. The switches of networks are dealt out by where they are in the
// network.
class PacketNetwork {
 public:
  static constexpr uint32_t kPauseFrame = 64;  // bytes

  PacketNetwork(const Topology& topology, const PacketOptions& options);

  // The port of a link of the topology.
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
  // The port of a link, kNoIndex where nothing has used it.
  uint32_t Find(uint32_t link) const { return port_of_[link]; }

  void Prefetch(uint32_t port) const {
    PrefetchToWrite(&ports_[port]);
    PrefetchToWrite(&queues_[port * queue_pairs_]);
  }
  // Picoseconds that `bytes` take on a port's link.
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
  // As if it had never been used, its counts aside: what waits in it is gone (from its node's buffer: see
  // PacketSim::LeaveBuffers()).
  void Reset(uint32_t port);
  // Of a link from now on, whether its port is there or comes later: the share of its bandwidth, of which the
  // port learns by SetBandwidth(), and of its packets that are lost, of which it learns here.
  void SetShare(uint32_t link, double share) { states_[link].share = share; }
  double Share(uint32_t link) const {
    const auto it = states_.find(link);
    return it == states_.end() ? 1 : it->second.share;
  }
  void SetLoss(uint32_t link, double loss);
  // Picoseconds up to `at` in which a class of a port, or several, was paused.
  uint64_t Paused(uint32_t port, int64_t at) const {
    const PortInfo& info = infos_[port];
    const bool now = ports_[port].paused != 0 && at > info.paused_since;
    return info.paused + (now ? static_cast<uint64_t>(at - info.paused_since) : 0);
  }

  // What a switch sets aside of its buffer for all links that come in: of a switch dimension, or of a vertex
  // of a network.
  uint64_t SetAside(int dimension, uint32_t vertex) const;
  // Headroom of a port, bytes: what arrives after a pause is asked for until it takes effect. Twice the
  // latency of the link and of a switch, two full packets and a pause frame of 64 bytes.
  uint64_t Headroom(const LinkClass& link) const;
  // Credit of a port and class, bytes: what keeps the link busy.
  uint64_t Credit(const LinkClass& link) const;
  const Topology& topology() const { return topology_; }
  uint64_t MemoryBytes() const;

  // Beside part 0; they depend on the topology alone. 0: all nodes are of part 0.
  uint32_t parts() const { return parts_; }
  // The least time from a part to another, ps.
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
  absl::flat_hash_map<uint32_t, LinkState> states_;  // of links that are not as they were built
  uint32_t parts_ = 0;
  int64_t lookahead_ = 0;
};

}  // namespace chakra::packet
