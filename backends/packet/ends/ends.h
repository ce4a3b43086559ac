// Where packets begin and end: messages, the connections that they go over, and what both learn.
#pragma once

#include <cstdint>
#include <memory>

#include "backends/link_use.h"
#include "backends/packet/ends/messages.h"
#include "backends/packet/ends/receivers.h"
#include "backends/packet/ends/senders.h"
#include "backends/packet/events/agenda.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/ports/ports.h"
#include "backends/packet/ways/ways.h"

namespace chakra::packet {

// The two ends of all connections; they are in part 0 of a network. Packets leave through Ports::Enqueue(),
// or are taken by a port out of the ring of senders. Definitions are in ends_impl.h.
template <typename Events>
class Ends {
 public:
  using OwnPorts = Ports<Events, Ends>;

  // All of them must outlive it. `may_fail`: links go down, or lose packets.
  Ends(PacketNetwork* network, PacketPool* pool, Ways* ways, const PacketOptions& options, bool may_fail,
       Agenda<Events>* agenda, OwnPorts* ports);

  // A new connection over `ways`, Ways::AddPair(). It ends when all its messages are acknowledged.
  uint32_t Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways) {
    const uint32_t i = senders_.Open(tag, src, dst, traffic_class, ways);
    receivers_.Begin(i);
    return i;
  }
  // A message of Message::connection becomes ready to be sent at `now`.
  void Send(uint32_t message, int64_t now) {
    agenda_.set_now(now);
    senders_.Send(message);
  }
  // As of Senders, at `now`.
  uint32_t SendLater(uint32_t waiting, uint32_t port, uint8_t traffic_class,
                     const std::shared_ptr<const FlowList>& flows, uint64_t first, uint32_t i, int64_t now) {
    agenda_.set_now(now);
    messages_.Expect(1);
    return senders_.SendLater(waiting, port, traffic_class, flows, first, i);
  }
  // Tells of a message that needs no network.
  void TellAt(uint64_t tag, uint64_t order, int64_t at);
  // Connections that are under way look for their ways anew.
  void Reroute(int64_t now) {
    agenda_.set_now(now);
    senders_.Reroute();
  }

  // What Ports asks of its ends.
  void Deliver(uint32_t packet);
  uint32_t TakeFromRing(uint32_t port, uint8_t traffic_class) {
    return senders_.TakeFromRing(port, traffic_class);
  }
  // An event of a connection or a message.
  void Handle(const PacketEvent& event);

  Messages& messages() { return messages_; }
  const Messages& messages() const { return messages_; }
  Senders<Events, OwnPorts>& senders() { return senders_; }
  const Senders<Events, OwnPorts>& senders() const { return senders_; }
  // Adds what ends count: packets, those sent again, acknowledgements, timeouts.
  void AddCounters(PacketTotals* totals) const {
    totals->packets += senders_.packets();
    totals->again += senders_.again();
    totals->timeouts += senders_.timeouts();
    totals->acks += answers_;
  }
  uint64_t MemoryBytes() const {
    return messages_.MemoryBytes() + senders_.MemoryBytes() + receivers_.MemoryBytes();
  }

 private:
  using Kind = PacketEvent::Kind;

  void Receive(uint32_t packet);
  void OnArrived(uint32_t message, int64_t left);
  void Answer(uint32_t packet, Receivers::Answer answer);

  PacketPool& pool_;
  const Ways& ways_;
  Agenda<Events>& agenda_;
  OwnPorts& ports_;
  Messages messages_;
  Senders<Events, OwnPorts> senders_;
  Receivers receivers_;
  uint64_t answers_ = 0;
};

}  // namespace chakra::packet
