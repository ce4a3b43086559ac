#include "backends/fluid/fluid.h"

#include <algorithm>
#include <cmath>

namespace chakra {

FluidFabric::FluidFabric(const Topology& topology, const FabricOptions& options)
    : cost_(topology, false), options_(options), link_of_(topology.links(), kNone) {}

uint32_t FluidFabric::LinkOf(const Hop& hop) {
  uint32_t& link = link_of_[hop.link];
  if (link == kNone) {
    const Bandwidth b = cost_.topology().dimensions()[hop.dimension].bandwidth;
    link = network_.AddLink(static_cast<double>(b.bytes_per_second()) * 1e-12 * options_.efficiency);
  }
  return link;
}

FlowCost FluidFabric::Cost(int src, int dst, uint64_t bytes) const {
  FlowCost cost = cost_.Price(src, dst, bytes);
  if (src == dst) return cost;
  if (options_.efficiency != 1) {
    const double ps = std::ceil(static_cast<double>(cost.transfer.picos()) / options_.efficiency);
    const bool fits = ps < static_cast<double>(Time::Never().picos());
    cost.transfer = fits ? Time::Picos(static_cast<int64_t>(ps)) : Time::Never();
  }
  cost.sent = options_.startup + cost.transfer;
  cost.latency += options_.startup;
  return cost;
}

void FluidFabric::Post(Time at, Kind kind, uint32_t transfer) {
  if (at == Time::Never()) return;
  const Transfer& t = transfers_[transfer];
  heap_.Push(Event{at, t.order * 4 + kind, transfer, t.version});
}

FlowId FluidFabric::Start(const Flow& flow, Time now) {
  // What ended until now lets go of its links first.
  if (now > now_) AdvanceTo(now, &early_);
  cost_.Account(flow.src, flow.dst, flow.bytes, 1);
  uint32_t i;
  if (!unused_.empty()) {
    i = unused_.back();
    unused_.pop_back();
  } else {
    i = static_cast<uint32_t>(transfers_.size());
    transfers_.emplace_back();
  }
  Transfer& t = transfers_[i];
  const uint32_t version = t.version + 1;  // of a number that is used again
  t = Transfer();
  t.version = version;
  t.flow = flow;
  t.order = orders_++;
  t.alone = Cost(flow.src, flow.dst, flow.OnLinks());
  if (options_.startup > Time::Zero() && flow.src != flow.dst) {
    Post(now + options_.startup, kBegin, i);
  } else {
    Begin(i, now);
  }
  return t.order;
}

void FluidFabric::Begin(uint32_t i, Time now) {
  Transfer& t = transfers_[i];
  t.begin = t.since = now;
  t.left = static_cast<double>(t.flow.OnLinks());
  path_.clear();
  cost_.topology().Path(t.flow.src, t.flow.dst, &path_);
  if (path_.empty() || t.left == 0) {
    End(i, now);
    return;
  }
  path_links_.clear();
  for (const Hop& hop : path_) {
    const uint32_t link = LinkOf(hop);
    const double capacity = network_.capacity(link);
    t.most = path_links_.empty() ? capacity : std::min(t.most, capacity);
    path_links_.push_back(link);
  }
  const ServiceClass c = options_.ClassOf(t.flow.service_class);
  t.network_flow = network_.AddFlow(path_links_, c.weight, c.priority);
  if (t.network_flow >= transfer_of_.size()) transfer_of_.resize(t.network_flow + 1, kNone);
  transfer_of_[t.network_flow] = i;
}

// The last byte has left.
void FluidFabric::End(uint32_t i, Time now) {
  Transfer& t = transfers_[i];
  ++t.version;
  if (t.network_flow != kNone) network_.RemoveFlow(t.network_flow);
  t.network_flow = kNone;
  if (t.flow.want_sent) Post(now, kTellSent, i);
  const Time startup = t.flow.src == t.flow.dst ? Time::Zero() : options_.startup;
  Post(now + (t.alone.latency - startup) + t.flow.delay, kTellReceived, i);
}

// The rate of a transfer is another from `now` on.
void FluidFabric::Reprice(uint32_t i, Time now) {
  Transfer& t = transfers_[i];
  t.left = std::max(0.0, t.left - t.rate * static_cast<double>((now - t.since).picos()));
  t.since = now;
  t.rate = network_.rate(t.network_flow);
  ++t.version;
  if (t.rate <= 0) return;  // of a lower class: until others make room
  const double ps = std::ceil(t.left / t.rate * (1 - 1e-15));
  if (ps >= static_cast<double>(Time::Never().picos())) return;
  // As fast as its path is from the beginning: exactly what `analytical` says.
  const bool alone = now == t.begin && t.rate == t.most;
  Post(now + (alone ? t.alone.transfer : Time::Picos(static_cast<int64_t>(ps))), kEnd, i);
}

void FluidFabric::Settle() {
  if (!network_.dirty()) return;
  network_.Solve(&changed_);
  for (const uint32_t f : changed_) Reprice(transfer_of_[f], now_);
}

Time FluidFabric::NextEvent() {
  if (!early_.empty()) return early_.front().at;
  Settle();
  while (!heap_.empty() && Void(heap_.top())) heap_.Pop();
  return heap_.empty() ? Time::Never() : heap_.top().at;
}

void FluidFabric::Handle(const Event& e, std::vector<FlowEnd>* ended) {
  Transfer& t = transfers_[e.transfer];
  switch (static_cast<Kind>(e.order_kind & 3)) {
    case kBegin:
      Begin(e.transfer, e.at);
      break;
    case kEnd:
      End(e.transfer, e.at);
      break;
    case kTellSent:
      ended->push_back({t.flow.tag, e.at, FlowEnd::kSent});
      break;
    case kTellReceived:
      ended->push_back({t.flow.tag, e.at, FlowEnd::kReceived});
      unused_.push_back(e.transfer);
      break;
  }
}

void FluidFabric::AdvanceTo(Time t, std::vector<FlowEnd>* ended) {
  if (ended != &early_ && !early_.empty()) {
    ended->insert(ended->end(), early_.begin(), early_.end());
    early_.clear();
  }
  while (true) {
    Settle();
    while (!heap_.empty() && Void(heap_.top())) heap_.Pop();
    if (heap_.empty() || heap_.top().at > t) break;
    now_ = heap_.top().at;
    while (!heap_.empty() && heap_.top().at == now_) {
      const Event e = heap_.top();
      heap_.Pop();
      if (!Void(e)) Handle(e, ended);
    }
  }
  now_ = t;
}

}  // namespace chakra
