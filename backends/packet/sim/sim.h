// Packets, ports, switches and connections, event by event.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/fabric.h"
#include "backends/packet/sim/connection.h"
#include "backends/packet/events/events.h"
#include "backends/packet/network/network.h"
#include "backends/packet/options.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/sim/shard.h"
#include "backends/packet/network/port_totals.h"
#include "backends/packet/sim/worker_crew.h"

namespace chakra::packet {

// Finds a way of a connection, or finds it anew; may leave it without a route. It appends at most 512 ports
// to PacketSim::path_ports(), and calls Settle() before it makes a port.
struct WayFinder {
  virtual ~WayFinder() = default;
  virtual void Find(const Connection& connection, uint32_t way_of_connection) = 0;
};

// The part of a network where messages begin and end, with its connections, and what runs all parts.
//
// Where the network has several parts, time goes by in windows of its lookahead: in a window no part learns
// what another does, so that they run side by side. Others than this one run to the end of a window at once;
// this one goes on as Run() says. So what ports of switches counted is up to a window ahead, by the same for
// any number of threads. All else is as if there were one part.
template <typename Events>
class PacketSim : private PacketTables, private PacketShard<Events> {
 public:
  // The network must outlive it. `lossy`: links may fail, so that even lossless switches lose packets.
  // `threads` (at least 1) change no result.
  PacketSim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads = 1);

  // A message becomes ready to be sent over a connection at `now`.
  void Send(uint32_t message, int64_t now);
  // A new connection over `ways` (that many as options.paths).
  // It ends, and its number may be used again with another generation, when all its messages are
  // acknowledged.
  uint32_t Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways);
  uint32_t NewMessage();

  // Of a message that needs no network.
  void TellAt(uint64_t tag, uint64_t order, Time at);

  // Of the next event; the greatest time where there is none.
  int64_t at();
  // All events up to and at `limit`; with `stop` only those up to the first instant at which something is
  // told. No part goes beyond `bound` (>= limit).
  void Run(int64_t limit, bool stop, int64_t bound);
  void Run(int64_t limit, bool stop) { Run(limit, stop, limit); }
  // With overlap (at first without) Run() returns while switches are still on their way to the end of a
  // window: the caller may start messages meanwhile, and calls Settle() before it looks at the network, or at
  // counters() and what follows below.
  void set_overlap(bool overlap) { overlap_ = overlap; }
  // Waits until no part runs.
  void Settle();
  // So that counts are whole at `now`, where some are put off.
  void CountAll(int64_t /*now*/) { Settle(); }
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
  std::vector<uint32_t>& path_ports() { return this->paths; }

  const PacketTotals& counters() const { return counters_; }
  uint64_t open_messages() const { return open_messages_; }
  // No event may help: the ports that wait for each other, or what waits for a route. "": nothing waits.
  std::string WhyStuck() const;
  std::string WhyStuck(const std::vector<uint32_t>& ports) const;  // of these, where others are not its own
  uint64_t MemoryBytes() const;
  const PacketPool& pool() const { return this->packets; }

  void set_finder(WayFinder* finder) { finder_ = finder; }

  // progress.cc: what skipping looks at.
  // Packets of a message that have arrived, and that have not been sent yet.
  uint64_t Arrived(uint32_t message) const;
  uint64_t Unsent(uint32_t message) const;
  int64_t ArrivedAt(uint32_t message) const { return messages_[message].arrived_at; }  // ps: the last
  // Takes so many of its packets that are not yet sent out of a message.
  void Cut(uint32_t message, uint64_t packets);
  // What waits in these ports is in no buffer of a switch any more.
  void LeaveBuffers(const std::vector<uint32_t>& ports);
  // Whether it is received, or was another one's.
  bool Done(uint32_t message) const { return messages_[message].received; }
  const Sender& sender(uint32_t connection) const { return senders_[connection]; }
  // Of its ways, there and back; empty where it has none.
  std::vector<uint32_t> PortsOf(uint32_t connection) const;
  PortTotals Extra(uint32_t /*port*/) const { return {}; }  // that was not simulated
  int64_t BaseRtt(uint32_t connection) const;               // ps; the longest of its ways
  int64_t now() const { return now_; }                      // ps: of the last event
  const PacketNetwork& network() const { return *network_; }
  const PacketOptions& options() const { return options_; }
  // Nothing is under way: packets, or connections that have not ended.
  bool Quiet() {
    Settle();
    return pool_.in_flight() == 0 && free_connections_.size() == connections_.size();
  }

 private:
  using Shard = PacketShard<Events>;
  friend Shard;
  using Shard::counters_;
  using Shard::Drop;
  using Shard::Enqueue;
  using Shard::events_;
  using Shard::Handle;
  using Shard::Kick;
  using Shard::network_;
  using Shard::Next;
  using Shard::now_;
  using Shard::options_;
  using Shard::path_ports_;
  using Shard::pool_;
  using Shard::port;
  using Shard::Post;
  using Shard::wire_;
  using typename Shard::Kind;

  // windows.cc: parts
  void OpenWindow(int64_t begin, int64_t bound);
  void RunSwitches(uint32_t part);
  // False: it stopped, for something was told.
  bool RunEnds(int64_t last, bool stop);
  void FindNextOfSwitches();

  // connect.cc: connections and their ways
  void FindWays(uint32_t connection);
  void MakeRoom(size_t entries);  // in the table of paths
  // alternatives.cc
  void LinkAlternatives(uint32_t first_way);
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
  void HandleAtEnd(const PacketEvent& event);

  uint32_t mtu_;
  bool timeouts_;   // something may be lost
  bool telemetry_;  // data packets carry it
  int64_t cnp_gap_;
  std::vector<Connection> connections_;
  std::vector<Sender> senders_;
  std::vector<TransportState> transports_;
  std::vector<Receiver> receivers_;
  std::vector<SentWindow> windows_;  // selective
  std::vector<uint32_t> free_connections_;
  std::vector<Message> messages_;
  std::vector<uint32_t> free_messages_;
  std::vector<Way> ways_;
  std::vector<uint32_t> cut_off_;  // connections without a way
  WayFinder* finder_ = nullptr;
  uint32_t epoch_ = 0;  // of the routes
  uint64_t open_messages_ = 0;
  std::vector<Told> told_;

  int threads_;
  std::vector<std::unique_ptr<Shard>> switches_;  // the other parts
  std::vector<Shard*> parts_;                     // all, this one first
  bool overlap_ = false;
  bool running_ = false;          // switches, in the window
  bool open_ = false;             // a window is under way
  int64_t begin_ = 0, last_ = 0;  // of the window, ps
  uint64_t mail_ = 0;             // parts with mail when it began, a bit each
  // The next event of other parts, or mail from them.
  int64_t switches_at_ = std::numeric_limits<int64_t>::max();
  uint64_t busy_ = 0;        // events of other parts in the last window
  bool shared_out_ = false;  // threads run the other parts
  std::unique_ptr<WorkerCrew> crew_;
};

extern template class PacketSim<HeapEvents>;
extern template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
