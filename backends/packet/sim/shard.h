// Ports and switches of one part of a packet network, event by event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "backends/link_use.h"
#include "backends/packet/events/events.h"
#include "backends/packet/network/network.h"
#include "backends/packet/options.h"
#include "backends/packet/network/packet.h"

namespace chakra::packet {

template <typename Events>
class PacketSim;

// What the parts of a simulation share. While they run, only part 0 changes it.
struct PacketTables {
  PacketPool packets;
  std::vector<uint32_t> paths;  // ports of paths, one after the other; see PacketSim::LinkAlternatives()
  static constexpr uint32_t kAlternative = 3;  // entries
  // More than the caches next to a core hold: memory is asked for ahead. It changes while no part runs.
  bool large = false;
};

// Events for other parts, of one window.
struct PacketMail {
  std::vector<std::vector<PacketEvent>> to;  // by part
  uint64_t parts = 0;                        // with mail, a bit each
  int64_t first = std::numeric_limits<int64_t>::max();
};

// What happens at one instant is in the order of PacketEvent. `Events` is a queue of events.h.
//
// A part touches its own nodes, the packets there, and what PortInfo and PortCredit leave to the other end of
// a link. What it does reaches other parts PacketNetwork::lookahead() later, as mail.
template <typename Events>
class alignas(64) PacketShard {
 public:
  // The others must outlive it. `ends`: where packets end. `may_fail`: links.
  PacketShard(PacketNetwork* network, PacketTables* tables, const PacketOptions& options, bool may_fail,
              uint32_t part, PacketSim<Events>* ends);

  // Begins a window, in which all events are at or after `begin`.
  void BeginWindow(uint64_t window, int64_t begin) {
    window_ = window;
    events_.Begin(begin);
    for (std::vector<PacketEvent>& taken : mail().to) taken.clear();
  }
  // Takes what others sent in the window before.
  void TakeMail(const std::vector<PacketShard*>& parts);
  // All events up to and at `last`.
  void RunWindow(int64_t last);
  // What was sent since the last window began.
  PacketMail& mail() { return mail_[window_ & 1]; }
  const PacketMail& mail() const { return mail_[window_ & 1]; }
  // Of a port of this part: its packets are lost while it is down.
  void ChangeLink(uint32_t port, double share, int64_t now);

  // Of the first event, mail that has not been taken left out.
  int64_t next() const { return next_; }
  void FindNext() { next_ = events_.at(); }
  // Adds what was counted since the last call, and gives packets back.
  void Settle(PacketTotals* totals);
  uint64_t MemoryBytes() const;

 protected:
  using Kind = PacketEvent::Kind;
  // Of a node of this part.
  void Post(int64_t at, Kind kind, uint32_t index, uint32_t argument = 0) {
    events_.Push({at, PacketEvent::Id(kind, index), argument});
  }
  // Of a node of any part.
  void PostTo(uint32_t part, int64_t at, Kind kind, uint32_t index, uint32_t argument) {
    if (part == part_) return Post(at, kind, index, argument);
    PacketMail& mail = mail_[window_ & 1];
    mail.to[part].emplace_back(at, PacketEvent::Id(kind, index), argument);
    mail.parts |= uint64_t{1} << part;
    mail.first = std::min(mail.first, at);
  }
  Port& port(uint32_t i) { return network_->port(i); }

  // The first event, after events_.HasUpTo().
  PacketEvent Next() {
    if (prefetched_ == 0) prefetched_ = PrefetchComing();
    prefetched_ -= prefetched_ > 0;
    return events_.Pop();
  }
  // Asks for the memory of some of the next events; of how many.
  size_t PrefetchComing();
  void Handle(const PacketEvent& event);

  void Arrive(uint32_t port, uint32_t packet);
  // A packet that its link, which is down or loses packets, did not carry to the other end.
  void Lose(uint32_t port, uint32_t packet);
  // Of the ways that go on from here, the one with the least to wait for.
  void Adapt(Packet* packet);
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
  void Forget(uint32_t packet);
  void ReturnCredit(uint32_t in, uint8_t traffic_class, uint32_t bytes);

  PacketNetwork* network_;
  PacketPool& pool_;
  const std::vector<uint32_t>& path_ports_;
  const bool& large_;
  PacketSim<Events>* ends_;
  PacketOptions options_;
  uint32_t wire_, part_;
  bool may_fail_, adaptive_;
  bool pfc_, credits_, shared_;
  Events events_;
  size_t prefetched_ = 0;  // of the next events
  int64_t now_ = 0;
  int64_t next_ = std::numeric_limits<int64_t>::max();
  uint64_t window_ = 0;
  PacketMail mail_[2];           // of this window and the one before
  std::vector<uint32_t> given_;  // packets that were dropped
  PacketTotals counters_;
};

extern template class PacketShard<HeapEvents>;
extern template class PacketShard<BucketEvents>;

}  // namespace chakra::packet
