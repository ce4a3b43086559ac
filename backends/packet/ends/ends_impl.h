// Definitions of Ends, for files that instantiate it.
#pragma once

#include <algorithm>

#include "backends/packet/ends/ends.h"
#include "backends/packet/ends/senders_impl.h"

namespace chakra::packet {

template <typename Events>
Ends<Events>::Ends(PacketNetwork* network, PacketPool* pool, Ways* ways, const PacketOptions& options,
                   bool may_fail, EventLoop<Events>* event_loop, OwnPorts* ports)
    : pool_(*pool),
      ways_(*ways),
      event_loop_(*event_loop),
      ports_(*ports),
      senders_(network, pool, ways, &messages_, options, may_fail || !options.Lossless(), event_loop, ports),
      receivers_(options) {}

template <typename Events>
void Ends<Events>::TellAt(uint64_t tag, uint64_t order, int64_t at) {
  const uint32_t m = messages_.New();
  messages_[m].tag = tag;
  messages_[m].order = order;
  messages_[m].acknowledged = true;
  event_loop_.Post(at, Kind::kReceived, m);
}

template <typename Events>
void Ends<Events>::Deliver(uint32_t packet) {
  const Packet& k = pool_[packet];
  const uint32_t i = k.connection;
  const Connection& c = senders_.connection(i);
  if (k.generation != c.generation) return pool_.Give(packet);
  if (k.kind == Packet::kData) return Receive(packet);
  if (!c.begun) return pool_.Give(packet);
  senders_.OnAnswer(i, k);
  pool_.Give(packet);
  if (senders_.Idle(i)) {
    senders_.Close(i);
  } else {
    senders_.MayBeReady(i);
  }
}

template <typename Events>
void Ends<Events>::Receive(uint32_t packet) {
  Packet& k = pool_[packet];
  const Receivers::Taken taken = receivers_.Take(&k, event_loop_.now());
  if (taken.is_new) OnArrived(k.message, k.left);
  if (taken.answer == Receivers::Answer::kNone) return pool_.Give(packet);
  Answer(packet, taken.answer);
}

// Handles the first arrival of a packet of a message; the packet left the NIC at `left`.
template <typename Events>
void Ends<Events>::OnArrived(uint32_t message, int64_t left) {
  const int64_t now = event_loop_.now();
  Message& m = messages_[message];
  m.arrived_at = now;
  if (++m.arrived < m.packets) return;
  // A packet may leave as soon as the payload before it is made, so that packets of one instant rarely
  // collide. The message is received only when its whole payload can have arrived.
  const int64_t later = m.delay + std::max<int64_t>(0, m.made_at - left);
  if (later > 0) {
    event_loop_.Post(now + later, Kind::kReceived, message);
  } else {
    messages_.Tell(message, FlowEnd::kReceived, now);
  }
}

// Sends the data packet back as its own acknowledgement.
template <typename Events>
void Ends<Events>::Answer(uint32_t packet, Receivers::Answer answer) {
  Packet& k = pool_[packet];
  const Way& way = ways_[senders_.connection(k.connection).ways + k.path];
  receivers_.Turn(&k, answer, event_loop_.now());
  k.ports = way.back;
  k.hops = way.hops_back;
  ++answers_;
  if (k.hops == 0) return ports_.Drop(packet, ways_.paths()[way.ports]);
  ports_.Enqueue(ways_.paths()[k.ports], packet, kNoIndex);
}

template <typename Events>
void Ends<Events>::Handle(const PacketEvent& e) {
  const uint32_t i = e.index();
  switch (e.kind()) {
    case Kind::kPace:
      return senders_.OnPace(i, e.argument);
    case Kind::kTimeout:
      return senders_.OnTimeout(i, e.argument);
    case Kind::kTimer:
      return senders_.OnTimer(i, e.argument);
    case Kind::kSent:
      return messages_.Tell(i, FlowEnd::kSent, event_loop_.now());
    default:
      return messages_.Tell(i, FlowEnd::kReceived, event_loop_.now());
  }
}

}  // namespace chakra::packet
