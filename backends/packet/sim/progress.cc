// PacketSim: how far messages are, and what is taken out of them.
#include <algorithm>

#include "backends/packet/sim/sim.h"

namespace chakra::packet {

template <typename Events>
uint64_t PacketSim<Events>::Arrived(uint32_t m) const {
  return messages_[m].arrived;
}

template <typename Events>
uint64_t PacketSim<Events>::Unsent(uint32_t m) const {
  const Message& message = messages_[m];
  const Sender& s = senders_[message.connection];
  // Those before the one that is being sent are all sent, those behind it not at all.
  if (s.message == m) return message.packets - (s.next - s.message_first);
  for (uint32_t i = s.message; i != kNoIndex; i = messages_[i].next) {
    if (i == m) return message.packets;
  }
  return 0;
}

template <typename Events>
void PacketSim<Events>::Cut(uint32_t m, uint64_t packets) {
  messages_[m].packets -= packets;
  messages_[m].bytes -= packets * mtu_;
}

template <typename Events>
std::vector<uint32_t> PacketSim<Events>::PortsOf(uint32_t i) const {
  std::vector<uint32_t> ports;
  for (uint32_t path = 0; path < static_cast<uint32_t>(options_.paths); ++path) {
    const Way& way = ways_[connections_[i].ways + path];
    if (way.found) way.AppendPorts(path_ports_, &ports);
  }
  return ports;
}

template <typename Events>
int64_t PacketSim<Events>::BaseRtt(uint32_t i) const {
  const Connection& c = connections_[i];
  int64_t longest = 0;
  for (uint32_t path = 0; path < static_cast<uint32_t>(options_.paths); ++path) {
    const Way& way = ways_[c.ways + path];
    if (way.found) longest = std::max(longest, Facts(c, way).base_rtt.picos());
  }
  return longest;
}

template <typename Events>
void PacketSim<Events>::LeaveBuffers(const std::vector<uint32_t>& ports) {
  Settle();
  for (const uint32_t i : ports) {
    Node& node = network_->node(port(i).node);
    if (!node.is_switch) continue;
    for (uint32_t c = 0; c < static_cast<uint32_t>(options_.classes); ++c) {
      for (uint32_t k = network_->queue(i, c).head; k != kNoIndex; k = pool_[k].next) {
        if (pool_[k].hop > 0) node.buffered -= pool_[k].bytes;  // what begins here was never counted
      }
    }
  }
}

template class PacketSim<HeapEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
