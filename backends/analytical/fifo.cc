#include "backends/analytical/fifo.h"

#include <algorithm>

namespace chakra {

FifoFabric::FifoFabric(const Topology& topology, const FabricOptions& options)
    : cost_(topology, options.store_and_forward),
      store_and_forward_(options.store_and_forward),
      link_free_(topology.links()) {}

inline void FifoFabric::Post(Time at, uint64_t order, Kind kind, uint32_t m) {
  if (at == Time::Never()) return;
  heap_.Push(Event{at, order * 4 + kind, m});
}

Time FifoFabric::Serve(uint32_t m, uint64_t order, Time head) {
  Message& msg = messages_[m];
  const size_t dim = msg.hop.dimension;
  Time& link_free = link_free_[msg.hop.link];
  const Time begin = std::max(head, link_free);
  const Time end = std::max(begin + cost_.Transfer(dim, msg.bytes), msg.tail);
  link_free = end;
  const Time latency = cost_.topology().dimensions()[dim].latency;
  msg.tail = end + latency;
  if (cost_.topology().NextHop(&msg.cursor, &msg.hop)) {
    Post(store_and_forward_ ? msg.tail : begin + latency, order, kHead, m);
  } else {
    Post(msg.tail + msg.delay, order, kReceived, m);
  }
  return end;
}

FlowId FifoFabric::Start(const Flow& flow, Time now) {
  // Heads that reached a link before this message was born are served before it.
  if (!heap_.empty() && heap_.top().at <= now) Run(now, &early_);
  const FlowId order = flows_++;
  cost_.Account(flow.src, flow.dst, flow.bytes, 1);
  uint32_t m;
  if (!unused_.empty()) {
    m = unused_.back();
    unused_.pop_back();
  } else {
    m = static_cast<uint32_t>(messages_.size());
    messages_.emplace_back();
  }
  messages_[m] = Message{flow.OnLinks(), flow.tag, flow.delay, now, PathCursor{flow.src, flow.dst}, Hop{}};
  Time sent = now;
  if (cost_.topology().NextHop(&messages_[m].cursor, &messages_[m].hop)) {
    sent = Serve(m, order, now);
  } else {
    Post(now + flow.delay, order, kReceived, m);
  }
  if (flow.want_sent) {
    sent = std::max(sent, now + cost_.Price(flow.src, flow.dst, flow.OnLinks()).sent);
    Post(sent, order, kSent, m);
  }
  return order;
}

Time FifoFabric::NextEvent() {
  if (!early_.empty()) return early_.front().at;
  return heap_.empty() ? Time::Never() : heap_.top().at;
}

void FifoFabric::Run(Time t, std::vector<FlowEnd>* ended) {
  while (!heap_.empty() && heap_.top().at <= t) {
    const Event e = heap_.top();
    heap_.Pop();
    switch (static_cast<Kind>(e.order_kind & 3)) {
      case kHead:
        Serve(e.message, e.order_kind / 4, e.at);
        break;
      case kSent:
        ended->push_back(FlowEnd{messages_[e.message].tag, e.at, FlowEnd::kSent});
        break;
      case kReceived:
        ended->push_back(FlowEnd{messages_[e.message].tag, e.at, FlowEnd::kReceived});
        unused_.push_back(e.message);
        break;
    }
  }
}

void FifoFabric::AdvanceTo(Time t, std::vector<FlowEnd>* ended) {
  ended->insert(ended->end(), early_.begin(), early_.end());
  early_.clear();
  Run(t, ended);
}

}  // namespace chakra
