#include "backends/analytical/fifo.h"

#include <algorithm>
#include <limits>

#include "backends/analytical/options.h"
#include "backends/registry.h"

namespace chakra {
namespace {

// This fabric does not split messages. With policies that split them, each message takes one path, chosen by
// its own hash.
RoutingOptions OnePath(RoutingOptions routing) {
  routing.stripes = false;
  if (routing.policy == RoutingPolicy::kSpray || routing.policy == RoutingPolicy::kFlowlet) {
    routing.policy = RoutingPolicy::kEcmp;
    routing.queue_pairs = std::numeric_limits<int>::max();
  }
  return routing;
}

}  // namespace

FifoFabric::FifoFabric(const Topology& topology, const FabricOptions& options)
    : cost_(topology, options.Get<PathOptions>().store_and_forward, OnePath(options.routing)),
      store_and_forward_(options.Get<PathOptions>().store_and_forward),
      link_free_(topology.links()) {}

inline void FifoFabric::Post(Time at, uint64_t order, Kind kind, uint32_t m) {
  if (at == Time::Never()) return;
  heap_.Push(Event{at, order * 4 + kind, m});
}

// Moves the message to the next link of its path; false at the end of the path.
inline bool FifoFabric::NextHop(uint32_t m) {
  Message& msg = messages_[m];
  if (cost_.router() == nullptr) return cost_.topology().NextHop(&msg.cursor, &msg.hop);
  const std::vector<RouteHop>& route = routes_[m].hops;
  if (msg.next == route.size()) return false;
  msg.hop = route[msg.next++].hop;
  return true;
}

Time FifoFabric::Serve(uint32_t m, uint64_t order, Time head) {
  Message& msg = messages_[m];
  Time& link_free = link_free_[msg.hop.link];
  const Time begin = std::max(head, link_free);
  const Time end = std::max(begin + cost_.Transfer(msg.hop.link_class, msg.bytes), msg.tail);
  link_free = end;
  const Time latency = cost_.topology().link_classes()[msg.hop.link_class].latency;
  msg.tail = end + latency;
  if (NextHop(m)) {
    Post(store_and_forward_ ? msg.tail : begin + latency, order, kHead, m);
  } else {
    Post(std::max(msg.tail, msg.least) + msg.delay, order, kReceived, m);
  }
  return end;
}

FlowId FifoFabric::Start(const Flow& flow, Time now) {
  // Messages whose heads reach a link before this one starts are served first.
  if (!heap_.empty() && heap_.top().at <= now) Run(now, &early_);
  const FlowId order = flows_++;
  uint32_t m;
  if (!unused_.empty()) {
    m = unused_.back();
    unused_.pop_back();
  } else {
    m = static_cast<uint32_t>(messages_.size());
    messages_.emplace_back();
  }
  messages_[m] =
      Message{flow.OnLinks(), flow.tag, flow.delay, now, Time(), PathCursor{flow.src, flow.dst}, Hop{}, 0};
  const bool limited = flow.limit.bytes_per_second() > 0 && flow.src != flow.dst;
  FlowCost alone;
  if (cost_.router() == nullptr || flow.src == flow.dst) {
    if (cost_.router() != nullptr) routes_.resize(messages_.size());
    if (cost_.router() != nullptr) routes_[m] = Route();
    cost_.Account(flow.src, flow.dst, flow.bytes, 1);
    if (flow.want_sent || limited) alone = cost_.Price(flow.src, flow.dst, flow.OnLinks());
  } else {
    routes_.resize(messages_.size());
    routes_[m] = cost_.router()->Find(flow.src, flow.dst, flow.tag);
    if (!routes_[m].found) return order;  // the message never ends
    cost_.Account(routes_[m], flow.bytes);
    alone = cost_.Price(routes_[m], flow.OnLinks());
  }
  if (limited) {
    alone = alone.Limited(flow.OnLinks(), flow.limit);
    messages_[m].least = now + alone.received();
  }
  Time sent = now;
  if (NextHop(m)) {
    sent = Serve(m, order, now);
  } else {
    Post(now + flow.delay, order, kReceived, m);
  }
  if (flow.want_sent) {
    sent = std::max(sent, now + alone.sent);
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

const FabricKind& FifoKind() {
  static const FabricKind kind = {
      .name = "analytical-fifo",
      .help = "as analytical, but each link carries one message at a time, in the order of arrival",
      .make = [](const Topology& topology, const FabricOptions& options) -> std::unique_ptr<Fabric> {
        return std::make_unique<FifoFabric>(topology, options);
      },
      .takes = {&PathOptions::kSet}};
  return kind;
}

}  // namespace chakra
