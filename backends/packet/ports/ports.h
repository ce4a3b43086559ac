// The work of ports and switches on packets: queues, marks, drops, pauses, credits, links.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/link_use.h"
#include "backends/packet/events/event_loop.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/ports/buffers.h"
#include "backends/packet/ways/path_table.h"

namespace chakra::packet {

// The ports of one part of a network.
//
// A packet arrives at the end of a link, waits in the queue of the next port of its path (or continues at
// once), is picked when the port is free, and is transmitted to the end of the next link. This class only
// changes its own nodes, the packets there, and those members of PortInfo and PortCredit that belong to the
// other end of a link.
//
// `Ends` is where packets begin and end:
//   void Deliver(uint32_t packet);   // takes a packet that is at the end of its path
//   uint32_t TakeFromRing(uint32_t port, uint8_t traffic_class);  // the next packet of the connections that
//                                    // want to send over a port (Port::ready); kNoIndex: none may send now
// Definitions are in ports_impl.h.
template <typename Events, typename Ends>
class Ports {
 public:
  // All arguments must outlive this object. `may_fail`: links may go down or lose packets.
  Ports(PacketNetwork* network, PacketPool* pool, const PathTable* paths, const PacketOptions& options,
        bool may_fail, EventLoop<Events>* event_loop, Ends* ends);

  // Events. OnArrival(): a packet is at the end of the link of a port. OnSignal(): the other end of a link
  // signals to its port. OnFree(): a port has sent its packet.
  void OnArrival(uint32_t port, uint32_t packet);
  void OnSignal(uint32_t port, uint32_t argument);
  void OnFree(uint32_t port) {
    this->port(port).posted = false;
    Serve(port);
  }

  // Sends a packet over port `out`, now or when its turn comes. `in`: the port over which the packet came;
  // kNoIndex: the packet begins here.
  void Enqueue(uint32_t out, uint32_t packet, uint32_t in);
  // Called when something can be sent over the port: serves the port now, or when it is free.
  void Kick(uint32_t port);
  // Drops a packet at a port, for lack of room or because the link is down.
  void Drop(uint32_t packet, uint32_t port);
  // Sets the share of its link's bandwidth that the port has from now on; 0: the link is down and packets are
  // lost.
  void ChangeLink(uint32_t port, double share);

  // Adds the counts since the last call, and gives back packets that this part dropped.
  void Settle(PacketTotals* totals);
  // Counts since the last Settle().
  const PacketTotals& counters() const { return counters_; }
  uint64_t MemoryBytes() const { return given_.capacity() * sizeof(uint32_t); }

 private:
  using Kind = PacketEvent::Kind;

  Port& port(uint32_t i) { return network_.port(i); }

  // Handles a packet that its link did not carry to the other end, because the link is down or lost the
  // packet.
  void Lose(uint32_t port, uint32_t packet);
  // Chooses the port with the least waiting bytes among the paths that continue from here.
  void Adapt(Packet* packet);
  bool Admit(uint32_t out, uint32_t packet, uint32_t in);
  void Release(uint32_t out, const Packet& packet);
  void Serve(uint32_t port);
  uint32_t Pick(uint32_t port);
  uint32_t Dequeue(uint32_t port, uint8_t traffic_class);
  void Mark(uint32_t port, uint64_t queued, uint32_t packet);
  void Transmit(uint32_t port, uint32_t packet);
  int64_t ArrivalAfter(uint32_t port, const Packet& packet, int64_t time);
  bool HasCredit(uint32_t port, uint8_t traffic_class, uint32_t bytes) const;
  void ReturnCredit(uint32_t in, uint8_t traffic_class, uint32_t bytes);
  void AskToPause(uint32_t in, uint8_t traffic_class, Buffers::Ask ask);
  void Signal(uint32_t in, uint32_t argument);
  void Forget(uint32_t packet);

  PacketNetwork& network_;
  PacketPool& pool_;
  const PathTable& paths_;
  EventLoop<Events>& event_loop_;
  Ends& ends_;
  PacketOptions options_;
  Buffers buffers_;
  uint32_t wire_;
  bool may_fail_, adaptive_, credits_;
  std::vector<uint32_t> given_;  // dropped packets, to be given back by Settle()
  PacketTotals counters_;
};

}  // namespace chakra::packet
