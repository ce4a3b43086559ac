// Where packets begin and end: messages, their connections, and the state of senders and receivers.
#pragma once

#include <cstdint>
#include <memory>

#include "backends/link_use.h"
#include "backends/packet/ends/messages.h"
#include "backends/packet/ends/receivers.h"
#include "backends/packet/ends/senders.h"
#include "backends/packet/events/event_loop.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/ports/ports.h"
#include "backends/packet/ways/ways.h"

namespace chakra::packet {

// Both ends of all connections; they are in part 0 of a network. Packets leave through Ports::Enqueue(), or a
// port takes them from its ring of senders. Definitions are in ends_impl.h.
template <typename Events>
class Ends {
 public:
  using OwnPorts = Ports<Events, Ends>;

  // All arguments must outlive this object. `may_fail`: links may go down or lose packets.
  Ends(PacketNetwork* network, PacketPool* pool, Ways* ways, const PacketOptions& options, bool may_fail,
       EventLoop<Events>* event_loop, OwnPorts* ports);

  // Opens a connection over `ways` (see Ways::AddPair()). It ends when all its messages are acknowledged.
  uint32_t Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways) {
    const uint32_t i = senders_.Open(tag, src, dst, traffic_class, ways);
    receivers_.Begin(i);
    return i;
  }
  // Makes a message of Message::connection ready to be sent at `now`.
  void Send(uint32_t message, int64_t now) {
    event_loop_.set_now(now);
    senders_.Send(message);
  }
  // See Senders::SendLater(); happens at `now`.
  uint32_t SendLater(uint32_t waiting, uint32_t port, uint8_t traffic_class,
                     const std::shared_ptr<const FlowList>& flows, uint64_t first, uint32_t i, int64_t now) {
    event_loop_.set_now(now);
    messages_.Expect(1);
    return senders_.SendLater(waiting, port, traffic_class, flows, first, i);
  }
  // Reports a message that needs no network as received at `at`.
  void TellAt(uint64_t tag, uint64_t order, int64_t at);
  // Connections that are under way find their paths again.
  void Reroute(int64_t now) {
    event_loop_.set_now(now);
    senders_.Reroute();
  }

  // Called by Ports.
  void Deliver(uint32_t packet);
  uint32_t TakeFromRing(uint32_t port, uint8_t traffic_class) {
    return senders_.TakeFromRing(port, traffic_class);
  }
  // Handles an event of a connection or a message.
  void Handle(const PacketEvent& event);

  Messages& messages() { return messages_; }
  const Messages& messages() const { return messages_; }
  Senders<Events, OwnPorts>& senders() { return senders_; }
  const Senders<Events, OwnPorts>& senders() const { return senders_; }
  // Adds the counts of the ends: packets, packets sent again, acknowledgements, timeouts.
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
  EventLoop<Events>& event_loop_;
  OwnPorts& ports_;
  Messages messages_;
  Senders<Events, OwnPorts> senders_;
  Receivers receivers_;
  uint64_t answers_ = 0;
};

}  // namespace chakra::packet
