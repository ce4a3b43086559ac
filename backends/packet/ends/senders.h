// Senders: which connections may send, over which way, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/packet/ends/go_back_n.h"
#include "backends/packet/ends/later.h"
#include "backends/packet/ends/messages.h"
#include "backends/packet/ends/selective.h"
#include "backends/packet/ends/sender.h"
#include "backends/packet/events/agenda.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/ways/ways.h"

namespace chakra::packet {

// A connection may send while less is in flight than its window, and no earlier than its pace says. Then it
// waits in a ring of connections at the port of its next packet, until the port takes a packet of it. Its
// transport sets window and pace by what acknowledgements say.
//
// `Ports`: void Kick(uint32_t port), when a connection has joined the ring of a port that may be idle.
// Definitions are in senders_impl.h.
template <typename Events, typename Ports>
class Senders {
 public:
  // All of them must outlive it. `lossy`: packets may be lost without a word, so that senders wait for
  // acknowledgements no longer than PacketOptions::timeout.
  Senders(PacketNetwork* network, PacketPool* pool, Ways* ways, Messages* messages,
          const PacketOptions& options, bool lossy, Agenda<Events>* agenda, Ports* ports);

  // A connection; its number may be used again with another generation once Idle().
  uint32_t Open(uint64_t tag, int src, int dst, uint8_t traffic_class, uint32_t ways);
  void Close(uint32_t connection);
  Connection& connection(uint32_t i) { return connections_[i]; }
  const Connection& connection(uint32_t i) const { return connections_[i]; }
  // Of a connection that has ended, or is parked: one that has nothing to send.
  const Sender& sender(uint32_t i) const {
    static const Sender kIdle;
    const Connection& c = connections_[i];
    return c.parked || c.sender == kNoIndex ? kIdle : senders_[c.sender];
  }
  uint32_t size() const { return static_cast<uint32_t>(connections_.size()); }
  size_t open() const { return open_; }
  // All its messages are acknowledged.
  bool Idle(uint32_t connection) const {
    return !connections_[connection].parked && sender(connection).head == kNoIndex;
  }
  // Connections without a way, those that have ended since included.
  const std::vector<uint32_t>& cut_off() const { return cut_off_; }

  // A message of Message::connection is to be sent.
  void Send(uint32_t message);
  // Before the first SendLater().
  void set_maker(FlowMaker* maker) { maker_ = maker; }
  // Flow `i` of `flows` waits in the ring of a port, and is made when its turn comes. `waiting`: what the
  // call for the flow before it returned that leaves over the port, if nothing has joined the ring since;
  // else kNoIndex. Only for transports without pace and timers.
  uint32_t SendLater(uint32_t waiting, uint32_t port, uint8_t traffic_class,
                     const std::shared_ptr<const FlowList>& flows, uint64_t first, uint32_t i);
  // Connections that are under way look for their ways anew.
  void Reroute();
  // The next packet of the connections in the ring of a port; kNoIndex: none may be sent now.
  uint32_t TakeFromRing(uint32_t port, uint8_t traffic_class);

  // An acknowledgement, or a request, of a connection that has begun.
  void OnAnswer(uint32_t connection, const Packet& packet);
  // A connection may send again, where CanSend().
  void MayBeReady(uint32_t connection);
  // Events; they are of no use when the connection has ended.
  void OnPace(uint32_t connection, uint32_t generation);
  void OnTimer(uint32_t connection, uint32_t generation);
  void OnTimeout(uint32_t connection, uint32_t generation);

  uint64_t packets() const { return packets_; }
  uint64_t again() const { return go_back_n_.again() + selective_.again(); }
  uint64_t timeouts() const { return timed_out_; }
  uint64_t MemoryBytes() const {
    return connections_.capacity() * sizeof(Connection) + senders_.capacity() * sizeof(Sender) +
           free_senders_.capacity() * sizeof(uint32_t) + transports_.MemoryBytes() + later_.MemoryBytes();
  }

 private:
  using Kind = PacketEvent::Kind;
  static constexpr uint64_t kMostParked = 0xffffffff;  // packets of a message

  bool CanSend(const Sender& sender) const;
  // The way of the next packet. False: there is none.
  bool Choose(uint32_t connection);
  // Gives a connection its transport. False: it has no way, yet.
  bool Begin(uint32_t connection);
  uint32_t NewConnection();
  // A connection gets a sender, or gives it back.
  void TakeSender(uint32_t connection);
  void GiveSender(uint32_t connection);
  // Gives the sender of a connection back that has nothing to send, where acknowledgements of its message
  // change nothing but that it is known.
  void MayPark(uint32_t connection);
  // Gives it a sender again, as if it had never been without.
  void Unpark(uint32_t connection);
  void OnAckOfParked(uint32_t connection, const Packet& packet);
  Sender& sender(uint32_t i) { return senders_[connections_[i].sender]; }
  void AddToRing(uint32_t connection);
  // The sender whose turn it is leaves the ring of a port.
  void LeaveRing(uint32_t sender, uint32_t port, uint8_t traffic_class);
  // A packet of the next flow of those that `connection` stands for.
  uint32_t TakeLater(uint32_t connection, uint32_t port, uint8_t traffic_class);
  uint32_t NextPacket(uint32_t connection);
  void FillNew(uint32_t connection, Packet* packet);
  void OnAck(uint32_t connection, const Packet& packet);
  void OnNack(uint32_t connection, const Packet& packet);
  void TellLoss(uint32_t connection, const Loss& loss);
  void AfterTransport(uint32_t connection);
  void ArmTimeout(uint32_t connection);

  PacketNetwork& network_;
  PacketPool& pool_;
  Ways& ways_;
  Messages& messages_;
  Agenda<Events>& agenda_;
  Ports& ports_;
  PacketOptions options_;
  uint32_t mtu_;
  bool lossy_;
  bool selects_;    // recovery is selective
  bool telemetry_;  // data packets carry it

  std::vector<Connection> connections_;
  uint32_t free_ = kNoIndex;  // connections, a list by Connection::ways
  size_t open_ = 0;           // connections
  std::vector<Sender> senders_;
  TransportStates transports_;  // by sender
  std::vector<uint32_t> free_senders_;
  GoBackN go_back_n_;
  Selective selective_;
  std::vector<uint32_t> cut_off_;
  LaterFlows later_;
  FlowMaker* maker_ = nullptr;
  uint64_t packets_ = 0, timed_out_ = 0;
};

}  // namespace chakra::packet
