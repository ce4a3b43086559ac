// What ports and switches do with packets: queues, marks, drops, pauses, credits, links.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/link_use.h"
#include "backends/packet/events/agenda.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/ports/buffers.h"
#include "backends/packet/ways/path_table.h"

namespace chakra::packet {

// The ports of one part of a network.
//
// A packet arrives at the end of a link, waits in the queue of the next port of its path (or goes on at
// once), is picked when the port is free, and is transmitted: it arrives at the end of the next link. It
// touches its own nodes, the packets there, and what PortInfo and PortCredit leave to the other end of a
// link.
//
// `Ends` is where packets begin and end:
//   void Deliver(uint32_t packet);   // takes a packet that is at the end of its path
//   uint32_t TakeFromRing(uint32_t port, uint8_t traffic_class);  // the next packet of the connections that
//                                    // want to send over a port (Port::ready); kNoIndex: none may now
// Definitions are in ports_impl.h.
template <typename Events, typename Ends>
class Ports {
 public:
  // All of them must outlive it. `may_fail`: links go down, or lose packets.
  Ports(PacketNetwork* network, PacketPool* pool, const PathTable* paths, const PacketOptions& options,
        bool may_fail, Agenda<Events>* agenda, Ends* ends);

  // Events: a packet is at the end of the link of a port; the other end of a link tells its port something; a
  // port has sent its packet.
  void OnArrival(uint32_t port, uint32_t packet);
  void OnSignal(uint32_t port, uint32_t argument);
  void OnFree(uint32_t port) {
    this->port(port).posted = false;
    Serve(port);
  }

  // Sends a packet over port `out`, now or when its turn comes. `in`: the port over which it came; kNoIndex:
  // it begins here.
  void Enqueue(uint32_t out, uint32_t packet, uint32_t in);
  // Something can be sent over the port: serves it now, or when it is free.
  void Kick(uint32_t port);
  // The packet is lost, for want of room or of a way at a port.
  void Drop(uint32_t packet, uint32_t port);
  // From now on the port has this share of its link's bandwidth; 0: its packets are lost.
  void ChangeLink(uint32_t port, double share);

  // Adds what was counted since the last call, and gives packets back that this part dropped.
  void Settle(PacketTotals* totals);
  // Since the last Settle().
  const PacketTotals& counters() const { return counters_; }
  uint64_t MemoryBytes() const { return given_.capacity() * sizeof(uint32_t); }

 private:
  using Kind = PacketEvent::Kind;

  Port& port(uint32_t i) { return network_.port(i); }

  // A packet that its link, which is down or loses packets, did not carry to the other end.
  void Lose(uint32_t port, uint32_t packet);
  // Of the ways that go on from here, the one with the least to wait for.
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
  Agenda<Events>& agenda_;
  Ends& ends_;
  PacketOptions options_;
  Buffers buffers_;
  uint32_t wire_;
  bool may_fail_, adaptive_, credits_;
  std::vector<uint32_t> given_;  // packets that were dropped
  PacketTotals counters_;
};

}  // namespace chakra::packet
