// Senders decide which connections may send, over which path, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/packet/ends/go_back_n.h"
#include "backends/packet/ends/later.h"
#include "backends/packet/ends/messages.h"
#include "backends/packet/ends/selective.h"
#include "backends/packet/ends/sender.h"
#include "backends/packet/events/event_loop.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/ways/ways.h"

namespace chakra::packet {

// A connection may send while fewer bytes are in flight than its window, and not before the time set by its
// pace. Then it waits in a ring of connections at the port of its next packet, until the port takes a packet
// from it. Its transport sets window and pace by the acknowledgements.
//
// `Ports`: void Kick(uint32_t port), called when a connection has joined the ring of a port that may be idle.
// Definitions are in senders_impl.h.
template <typename Events, typename Ports>
class Senders {
 public:
  // All arguments must outlive this object. `lossy`: packets may be lost without a notification, so senders
  // wait for acknowledgements at most PacketOptions::timeout.
  Senders(PacketNetwork* network, PacketPool* pool, Ways* ways, Messages* messages,
          const PacketOptions& options, bool lossy, EventLoop<Events>* event_loop, Ports* ports);

  // Opens a connection. After Idle() its number may be used again, with another generation.
  uint32_t Open(uint64_t tag, int src, int dst, uint8_t traffic_class, uint32_t ways);
  void Close(uint32_t connection);
  Connection& connection(uint32_t i) { return connections_[i]; }
  const Connection& connection(uint32_t i) const { return connections_[i]; }
  // For a connection that has ended or is parked, returns a sender that has nothing to send.
  const Sender& sender(uint32_t i) const {
    static const Sender kIdle;
    const Connection& c = connections_[i];
    return c.parked || c.sender == kNoIndex ? kIdle : senders_[c.sender];
  }
  uint32_t size() const { return static_cast<uint32_t>(connections_.size()); }
  size_t open() const { return open_; }
  // Whether all messages of the connection are acknowledged.
  bool Idle(uint32_t connection) const {
    return !connections_[connection].parked && sender(connection).head == kNoIndex;
  }
  // Connections without a path; some may have ended since.
  const std::vector<uint32_t>& cut_off() const { return cut_off_; }

  // Makes a message of Message::connection ready to be sent.
  void Send(uint32_t message);
  // Must be called before the first SendLater().
  void set_maker(FlowMaker* maker) { maker_ = maker; }
  // Flow `i` of `flows` waits in the ring of a port, and is made when its turn comes. `waiting`: the result
  // of the call for the previous flow over this port, if nothing has joined the ring since; else kNoIndex.
  // Only for transports without pace and timers.
  uint32_t SendLater(uint32_t waiting, uint32_t port, uint8_t traffic_class,
                     const std::shared_ptr<const FlowList>& flows, uint64_t first, uint32_t i);
  // Connections that are under way find their paths again.
  void Reroute();
  // Returns the next packet of the connections in the ring of a port; kNoIndex: none may be sent now.
  uint32_t TakeFromRing(uint32_t port, uint8_t traffic_class);

  // Handles an acknowledgement or a request for a connection that has begun.
  void OnAnswer(uint32_t connection, const Packet& packet);
  // A connection may send again, if CanSend().
  void MayBeReady(uint32_t connection);
  // Events; without effect if the connection has ended.
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
  static constexpr uint64_t kMostParked = 0xffffffff;  // maximum number of packets of a parked message

  bool CanSend(const Sender& sender) const;
  // Chooses the path of the next packet. False: there is none.
  bool Choose(uint32_t connection);
  // Gives a connection its transport. False: it has no path yet.
  bool Begin(uint32_t connection);
  uint32_t NewConnection();
  // Gives a connection a sender, or takes it back.
  void TakeSender(uint32_t connection);
  void GiveSender(uint32_t connection);
  // Takes back the sender of a connection that has nothing more to send, if acknowledgements of its message
  // only need to be counted.
  void MayPark(uint32_t connection);
  // Gives the connection a sender again, in the same state as if it had always had one.
  void Unpark(uint32_t connection);
  void OnAckOfParked(uint32_t connection, const Packet& packet);
  Sender& sender(uint32_t i) { return senders_[connections_[i].sender]; }
  void AddToRing(uint32_t connection);
  // Removes the sender whose turn it is from the ring of a port.
  void LeaveRing(uint32_t sender, uint32_t port, uint8_t traffic_class);
  // Returns a packet of the next flow that `connection` represents.
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
  EventLoop<Events>& event_loop_;
  Ports& ports_;
  PacketOptions options_;
  uint32_t mtu_;
  bool lossy_;
  bool selects_;    // recovery is selective
  bool telemetry_;  // data packets carry telemetry

  std::vector<Connection> connections_;
  uint32_t free_ = kNoIndex;  // unused connections; a list, linked by Connection::ways
  size_t open_ = 0;           // number of open connections
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
