// Packets, ports, switches and connections, event by event.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/fabric.h"
#include "backends/packet/connection.h"
#include "backends/packet/events.h"
#include "backends/packet/network.h"
#include "backends/packet/options.h"
#include "backends/packet/packet.h"

namespace chakra {

// Finds a way of a connection, or finds it anew; may leave it without a route.
struct WayFinder {
  virtual ~WayFinder() = default;
  virtual void Find(const Connection& connection, uint32_t way_of_connection) = 0;
};

// What happens at one instant is in the order of PacketEvent. `Events` is a queue of events.h.
template <typename Events>
class PacketSim {
 public:
  // The network must outlive it. `lossy`: links may fail, so that even lossless switches lose packets.
  PacketSim(PacketNetwork* network, const PacketOptions& options, bool lossy);

  // A message becomes ready to be sent over a connection at `now`.
  void Send(uint32_t message, int64_t now);
  // A new connection over `ways` (that many as options.paths).
  // It ends, and its number may be used again with another generation, when all its messages are
  // acknowledged.
  uint32_t Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways);
  uint32_t NewMessage();

  // Of a message that needs no network.
  void TellAt(uint64_t tag, uint64_t order, Time at);

  int64_t at() { return events_.at(); }
  // All events up to and at `limit`; with `stop` only those up to the first instant at which something is
  // told.
  void Run(int64_t limit, bool stop);
  // Of a port: its packets are lost while it is down.
  void ChangeLink(uint32_t port, double share, int64_t now);
  // Those whose way was lost look again.
  void Reroute(int64_t now);

  struct Told {
    int64_t at;
    uint64_t order;
    uint64_t tag;
    FlowEnd::Kind kind;
  };
  std::vector<Told>& told() { return told_; }
  Message& message(uint32_t i) { return messages_[i]; }
  Connection& connection(uint32_t i) { return connections_[i]; }
  // Ways are found by the owner.
  std::vector<Way>& ways() { return ways_; }
  std::vector<uint32_t>& path_ports() { return path_ports_; }

  const PacketTotals& counters() const { return counters_; }
  uint64_t open_messages() const { return open_messages_; }
  // No event may help: the ports that wait for each other, or what waits for a route. "": nothing waits.
  std::string WhyStuck() const;
  uint64_t MemoryBytes() const;
  const PacketPool& pool() const { return pool_; }

  void set_finder(WayFinder* finder) { finder_ = finder; }

 private:
  using Kind = PacketEvent::Kind;
  void Post(int64_t at, Kind kind, uint32_t index, uint32_t argument = 0) {
    events_.Push({at, PacketEvent::Id(kind, index), argument});
  }
  Port& port(uint32_t i) { return network_->port(i); }

  void Ahead();
  void Handle(const PacketEvent& event);

  // forward.cc: ports and switches
  void Arrive(uint32_t port, uint32_t packet);
  // `in`: the port over which it came; kNoIndex: it begins here.
  void Enqueue(uint32_t out, uint32_t packet, uint32_t in);
  bool Admit(uint32_t out, uint32_t packet, uint32_t in);
  bool Charge(Node* node, uint32_t in, uint8_t traffic_class, uint32_t bytes);
  void Release(uint32_t out, const Packet& packet);
  void CheckPause(Node* node, uint32_t in, uint8_t traffic_class);
  void Signal(uint32_t port, uint32_t argument);
  double Threshold(const Node& node, uint32_t in) const;
  void Kick(uint32_t port);
  void Serve(uint32_t port);
  uint32_t Pick(uint32_t port);
  uint32_t NextClass(uint32_t port, uint32_t eligible);
  uint32_t Dequeue(uint32_t port, uint8_t traffic_class);
  bool HasCredit(uint32_t port, uint8_t traffic_class, uint32_t bytes) const;
  void Mark(uint32_t port, uint64_t queued, uint32_t packet);
  void Transmit(uint32_t port, uint32_t packet);
  int64_t ArrivalAfter(uint32_t port, const Packet& packet, int64_t time);
  void OnSignal(uint32_t port, uint32_t argument);
  void Drop(uint32_t packet, uint32_t port);
  void ReturnCredit(uint32_t in, uint8_t traffic_class, uint32_t bytes);

  // connect.cc: connections and their ways
  void FindWays(uint32_t connection);
  // The way of the next packet. False: there is none.
  bool Choose(uint32_t connection);
  bool BeginConnection(uint32_t connection);
  PathFacts Facts(const Connection& connection, const Way& way) const;
  double RateAt(const Connection& connection, const Way& way, uint32_t hop) const;
  void Forget(uint32_t message);

  // send.cc: senders
  bool CanSend(const Sender& sender) const;
  void MayBeReady(uint32_t connection);
  // The next packet of the connections that want to send over a port; kNoIndex: none may now.
  uint32_t TakeFromRing(uint32_t port, uint8_t traffic_class);
  uint32_t NextPacket(uint32_t connection);
  void PrepareNew(uint32_t connection, Packet* packet);
  void PrepareLost(uint32_t connection, Packet* packet);
  void AddToRing(uint32_t connection);
  void OnPace(uint32_t connection, uint32_t generation);
  void OnTimer(uint32_t connection, uint32_t generation);
  void AfterTransport(uint32_t connection);

  // acknowledge.cc: what senders learn, and what they send again
  void OnAcknowledged(uint32_t packet);
  void OnAckGoBackN(uint32_t connection, const Packet& packet, Ack* ack);
  void OnAckSelective(uint32_t connection, const Packet& packet, Ack* ack);
  void OnNack(uint32_t connection, const Packet& packet);
  void GiveUp(uint32_t connection, uint64_t number, Loss* loss);
  void FindReordered(uint32_t connection);
  void Rewind(uint32_t connection, uint64_t number, uint64_t bytes);
  void PopAcknowledged(uint32_t connection);
  void OnTimeout(uint32_t connection, uint32_t generation);
  void TellLoss(uint32_t connection, const Loss& loss);
  void ArmTimeout(uint32_t connection);

  // receive.cc: receivers, and what is told
  void Deliver(uint32_t packet);
  void Receive(uint32_t packet);
  bool TakeInSelective(uint32_t packet);
  void Answer(uint32_t packet, Packet::Kind kind);
  void OnArrived(const Packet& packet);
  void Tell(uint32_t message, FlowEnd::Kind kind);

  PacketNetwork* network_;
  PacketOptions options_;
  uint32_t mtu_, wire_;
  bool may_fail_;   // links
  bool timeouts_;   // something may be lost
  bool telemetry_;  // data packets carry it
  bool pfc_, credits_, shared_;
  int64_t cnp_gap_;
  Events events_;
  int64_t now_ = 0;
  PacketPool pool_;
  std::vector<Connection> connections_;
  std::vector<Sender> senders_;
  std::vector<TransportState> transports_;
  std::vector<Receiver> receivers_;
  std::vector<SentWindow> windows_;  // selective
  std::vector<uint32_t> free_connections_;
  std::vector<Message> messages_;
  std::vector<uint32_t> free_messages_;
  std::vector<Way> ways_;
  std::vector<uint32_t> path_ports_;
  std::vector<uint32_t> cut_off_;  // connections without a way
  WayFinder* finder_ = nullptr;
  uint32_t epoch_ = 0;  // of the routes
  uint64_t open_messages_ = 0;
  std::vector<Told> told_;
  PacketTotals counters_;
};

extern template class PacketSim<HeapEvents>;
extern template class PacketSim<BucketEvents>;

}  // namespace chakra
