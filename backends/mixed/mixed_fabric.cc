#include "backends/mixed/mixed_fabric.h"

#include <algorithm>
#include <utility>

#include "backends/registry.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr Time kFirstPicosecond = Time::Picos(1);

// The fluid side begins with the same buckets as the packet side, so that both series can be added.
Time SeriesBucket(const FabricOptions& options) {
  const Time series = options.Get<packet::PacketOptions>().series;
  return series > Time::Zero() ? series : Time::Micros(10);
}

FabricOptions OfFluid(FabricOptions options) {
  options.link_series = options.link_series || options.Get<packet::PacketOptions>().series > Time::Zero();
  options.routing.stripes = false;  // as on the packet side
  return options;
}

bool Hashed(RoutingPolicy policy) {
  return policy != RoutingPolicy::kSpray && policy != RoutingPolicy::kFlowlet;
}

}  // namespace

MixedFabric::MixedFabric(const Topology& topology, const FabricOptions& options)
    : topology_(topology),
      mtu_(options.Get<packet::PacketOptions>().mtu),
      resolved_(packet::PacketFabric::Resolved(options)),
      resolved_packet_(resolved_.Get<packet::PacketOptions>()),
      fluid_(topology, OfFluid(options), SeriesBucket(options)),
      packet_(topology, options),
      one_way_(resolved_packet_.spread == packet::PacketOptions::Spread::kConnection),
      same_way_(one_way_ && resolved_packet_.paths == 1 && Hashed(options.routing.policy)),
      links_(topology.links()),
      changes_(options.changes) {
  if (topology.has_network()) router_ = std::make_unique<Router>(topology, resolved_.routing);
  const auto choices = options.Get<PacketChoices>();
  for (const PacketChoice& c : choices.any_of) {
    std::vector<bool> devices;
    if (c.by_device) devices.resize(static_cast<size_t>(topology.devices()));
    for (const int device : c.devices) devices[static_cast<size_t>(device)] = true;
    chosen_.push_back({c, ChosenLinks(topology, c), std::move(devices)});
  }
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  ChangeLinks();
}

absl::Status MixedFabric::Check(const Topology& topology, const FabricOptions& options) {
  RETURN_IF_ERROR(CheckFlowOptions("mixed", options.Get<FlowOptions>()));
  if (options.Get<packet::PacketOptions>().skip != packet::PacketOptions::Skip::kOff) {
    return RefusedByFabric(
        "mixed", "skip is for fabric packet, and other messages are fluid flows here; expected skip=off");
  }
  if (options.routing.policy == RoutingPolicy::kUgal) {
    return RefusedByFabric("mixed",
                           "routing ugal needs the load of links, but packets and fluid flows each only know "
                           "their own; expected ecmp, destination, flowlet, spray or valiant");
  }
  const absl::Status s = CheckPacketChoices(topology, options.Get<PacketChoices>().any_of);
  return s.ok() ? packet::PacketFabric::Check(topology, options) : RefusedByFabric("mixed", s.message());
}

void MixedFabric::WaysOf(int src, int dst, uint64_t tag, std::vector<RouteHop>* ways) const {
  ways->clear();
  if (router_ == nullptr || topology_.IsSwitch(src) || topology_.IsSwitch(dst)) {
    path_.clear();
    topology_.Path(src, dst, &path_);
    for (const Hop& hop : path_) ways->push_back({hop, 1});
    return;
  }
  const auto paths = static_cast<uint64_t>(resolved_packet_.paths);
  if (one_way_) {
    *ways = router_->FindWay(src, dst, tag % paths).hops;
    return;
  }
  uint64_t found = 0;
  for (uint64_t way = 0; way < paths; ++way) {
    const Route& route = router_->FindWay(src, dst, way);
    if (!route.found) continue;
    ++found;
    ways->insert(ways->end(), route.hops.begin(), route.hops.end());
  }
  std::stable_sort(ways->begin(), ways->end(),
                   [](const RouteHop& a, const RouteHop& b) { return a.hop.link < b.hop.link; });
  size_t links = 0;
  for (size_t i = 0, end = 0; i < ways->size(); i = end) {
    while (end < ways->size() && (*ways)[end].hop.link == (*ways)[i].hop.link) ++end;
    (*ways)[links++] = {(*ways)[i].hop, static_cast<double>(end - i) / static_cast<double>(found)};
  }
  ways->resize(links);
}

bool MixedFabric::Crosses(const Flow& flow, const std::vector<bool>& links) const {
  if (flow.src == flow.dst) return false;
  const auto any = [&](const std::vector<RouteHop>& hops) {
    return std::any_of(hops.begin(), hops.end(), [&](const RouteHop& h) { return links[h.hop.link]; });
  };
  const bool routed = router_ != nullptr && !topology_.IsSwitch(flow.src) && !topology_.IsSwitch(flow.dst);
  if (routed && any(fluid_.RouteOf(flow)->hops)) return true;
  if (routed && same_way_) return false;
  WaysOf(flow.src, flow.dst, flow.tag, &ways_);
  return any(ways_);
}

bool MixedFabric::ByPackets(const Flow& flow, Time now) const {
  const auto of = [&](const std::vector<bool>& devices, int end) {
    return !topology_.IsSwitch(end) && devices[static_cast<size_t>(end)];
  };
  return std::any_of(chosen_.begin(), chosen_.end(), [&](const Chosen& c) {
    if (now < c.choice.after || now >= c.choice.until) return false;
    if (c.choice.by_device && !of(c.devices, flow.src) && !of(c.devices, flow.dst)) return false;
    return c.links.empty() || Crosses(flow, c.links);
  });
}

void MixedFabric::Remember(Side side, uint64_t tag, uint32_t m) {
  const auto [queue, is_new] = under_way_[side].try_emplace(tag, Queue{m, m});
  if (is_new) return;
  messages_[queue->second.last].next = m;
  queue->second.last = m;
}

// Removes the first message of a tag.
void MixedFabric::Forget(Side side, uint64_t tag) {
  const auto queue = under_way_[side].find(tag);
  const uint32_t m = queue->second.first;
  if (messages_[m].next == kNone) {
    under_way_[side].erase(queue);
  } else {
    queue->second.first = messages_[m].next;
  }
  free_messages_.push_back(m);
}

FlowId MixedFabric::Start(const Flow& flow, Time now) {
  if (now > now_) RunTo(now);
  const bool follows_packets = flow.in_order && under_way_[kPacket].contains(flow.tag);
  const bool follows_fluid = flow.in_order && under_way_[kFluid].contains(flow.tag);
  const bool by_packets = follows_packets || (!follows_fluid && ByPackets(flow, now));
  uint32_t m;
  if (free_messages_.empty()) {
    m = static_cast<uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    m = free_messages_.back();
    free_messages_.pop_back();
  }
  messages_[m] = Message();
  messages_[m].order = orders_;
  messages_[m].tell_sent = flow.want_sent;
  if (by_packets) {
    ++totals_.messages;
    totals_.bytes += flow.bytes;
    StartPackets(flow, m, now);
  } else {
    ++totals_.fluid_messages;
    totals_.fluid_bytes += flow.bytes;
    if (fluid_under_way_++ == 0) {
      for (uint32_t c = 0; c < connections_.size(); ++c) AddBackground(c);
    }
    fluid_.Start(flow, now);
  }
  Remember(by_packets ? kPacket : kFluid, flow.tag, m);
  return orders_++;
}

void MixedFabric::StartPackets(const Flow& flow, uint32_t m, Time now) {
  Flow part = flow;
  part.delay = Time::Zero();
  messages_[m].delay = flow.delay;
  if (flow.src == flow.dst) {
    packet_.Start(part, now);
    return;
  }
  uint32_t c = kNone;
  if (flow.in_order) {
    const auto queue = under_way_[kPacket].find(flow.tag);
    if (queue != under_way_[kPacket].end()) c = messages_[queue->second.last].connection;
  }
  const bool is_new = c == kNone;
  if (is_new) c = Connect(flow);
  Connection& connection = connections_[c];
  ++connection.messages;
  messages_[m].connection = c;
  connection.large = connection.large || flow.OnLinks() > mtu_;
  if (fluid_under_way_ > 0) AddBackground(c);
  if (!is_new) {
    packet_.Start(part, now);
    return;
  }
  // The transport begins with the bandwidth of the links, whatever fluid flows leave now.
  std::vector<std::pair<uint32_t, double>> shares;
  for (const std::vector<RouteHop>* hops : {&connection.there, &connection.back}) {
    for (const RouteHop& h : *hops) {
      const double healthy = links_[h.hop.link].healthy;
      if (healthy > 0) shares.push_back({h.hop.link, packet_.ShowShare(h.hop.link, healthy)});
    }
  }
  packet_.Start(part, now);
  std::reverse(shares.begin(), shares.end());
  for (const auto& [link, share] : shares) packet_.ShowShare(link, share);
}

uint32_t MixedFabric::Connect(const Flow& flow) {
  uint32_t c;
  if (free_connections_.empty()) {
    c = static_cast<uint32_t>(connections_.size());
    connections_.emplace_back();
  } else {
    c = free_connections_.back();
    free_connections_.pop_back();
  }
  Connection& connection = connections_[c];
  connection.src = flow.src;
  connection.dst = flow.dst;
  connection.tag = flow.tag;
  connection.service_class = flow.service_class;
  connection.large = false;
  connection.limit = flow.limit;
  FindWays(c);
  return c;
}

void MixedFabric::Disconnect(uint32_t c) {
  RemoveBackground(c);
  LoseWays(c);
  free_connections_.push_back(c);
}

void MixedFabric::FindWays(uint32_t c) {
  Connection& connection = connections_[c];
  WaysOf(connection.src, connection.dst, connection.tag, &connection.there);
  WaysOf(connection.dst, connection.src, connection.tag, &connection.back);
  for (const RouteHop& h : connection.there) Use(h.hop);
  for (const RouteHop& h : connection.back) Use(h.hop);
}

void MixedFabric::LoseWays(uint32_t c) {
  for (const RouteHop& h : connections_[c].there) Unuse(h.hop);
  for (const RouteHop& h : connections_[c].back) Unuse(h.hop);
}

void MixedFabric::AddBackground(uint32_t c) {
  Connection& connection = connections_[c];
  const bool takes = connection.messages > 0 && connection.large && !connection.there.empty();
  if (takes && connection.background == kNone) {
    connection.background =
        fluid_.AddBackground(connection.there, connection.service_class, connection.limit);
  }
}

void MixedFabric::RemoveBackground(uint32_t c) {
  if (connections_[c].background != kNone) fluid_.RemoveBackground(connections_[c].background);
  connections_[c].background = kNone;
}

void MixedFabric::Use(const Hop& hop) {
  if (links_[hop.link].users++ > 0) return;
  fluid_.Follow(hop, true);
  Apply(hop);
}

void MixedFabric::Unuse(const Hop& hop) {
  if (--links_[hop.link].users == 0) fluid_.Follow(hop, false);
}

// Sets a port's bandwidth to the share that fluid flows leave on its link.
void MixedFabric::Apply(const Hop& hop) {
  LinkState& link = links_[hop.link];
  if (link.healthy == 0) return;
  const double share = link.healthy * std::max(kLeast, fluid_.Left(hop));
  if (share == link.applied) return;
  link.applied = share;
  packet_.SetShare(hop.link, share);
}

void MixedFabric::ApplyChanged() {
  fluid_.TakeChanged(&changed_);
  for (const uint32_t link : changed_) {
    if (links_[link].users > 0) Apply(topology_.LinkHop(link));
  }
}

// Handles the changes that are due. Both sides have already applied them; paths and shares follow here.
void MixedFabric::ChangeLinks() {
  bool reroute = false;
  const size_t first = next_change_;
  for (; next_change_ < changes_.size() && changes_[next_change_].at <= now_; ++next_change_) {
    const LinkChange& change = changes_[next_change_];
    LinkState& link = links_[change.link];
    if (router_ != nullptr && (link.healthy > 0) != (change.bandwidth > 0)) {
      router_->SetAlive(change.link, change.bandwidth > 0);
      reroute = true;
    }
    link.healthy = link.applied = change.bandwidth;
  }
  for (uint32_t c = 0; reroute && c < connections_.size(); ++c) {
    if (connections_[c].messages == 0) continue;
    RemoveBackground(c);
    LoseWays(c);
    FindWays(c);
    if (fluid_under_way_ > 0) AddBackground(c);
  }
  for (size_t i = first; i < next_change_; ++i) {
    if (links_[changes_[i].link].users > 0) Apply(topology_.LinkHop(changes_[i].link));
  }
}

void MixedFabric::Take(Side side, std::vector<FlowEnd>* ended) {
  for (FlowEnd& end : *ended) {
    uint32_t m = under_way_[side].find(end.tag)->second.first;
    if (end.kind == FlowEnd::kSent) {
      while (!messages_[m].tell_sent) m = messages_[m].next;
      messages_[m].tell_sent = false;
      told_.Push({messages_[m].order, end});
      continue;
    }
    end.at += messages_[m].delay;
    told_.Push({messages_[m].order, end});
    if (side == kFluid) --fluid_under_way_;
    const uint32_t c = messages_[m].connection;
    if (c != kNone && --connections_[c].messages == 0) Disconnect(c);
    Forget(side, end.tag);
  }
  ended->clear();
}

Time MixedFabric::NextInside(Time limit) {
  const Time fluid = fluid_.NextEvent();
  ApplyChanged();
  // Packets advance until something changes for them.
  limit = std::min(limit, fluid);
  if (next_change_ < changes_.size()) limit = std::min(limit, changes_[next_change_].at - kFirstPicosecond);
  return std::min(fluid, packet_.NextEvent(limit));
}

void MixedFabric::Step(Time t) {
  packet_.AdvanceTo(t, &of_packets_);
  fluid_.AdvanceTo(t, &of_fluid_);
  now_ = t;
  Take(kPacket, &of_packets_);
  Take(kFluid, &of_fluid_);
  if (next_change_ < changes_.size() && changes_[next_change_].at <= now_) ChangeLinks();
}

void MixedFabric::RunTo(Time t) {
  for (Time at = NextInside(t); at <= t && at != Time::Never(); at = NextInside(t)) Step(at);
  if (t > now_) Step(t);
}

Time MixedFabric::NextEvent(Time limit) {
  if (!told_.empty()) limit = std::min(limit, told_.top().end.at);
  const Time next = NextInside(limit);
  return told_.empty() ? next : std::min(next, told_.top().end.at);
}

void MixedFabric::AdvanceTo(Time t, std::vector<FlowEnd>* ended) {
  RunTo(t);
  for (; !told_.empty() && told_.top().end.at <= t; told_.Pop()) ended->push_back(told_.top().end);
}

const PathPrices& MixedFabric::SideOf(int src, int dst) const {
  Flow flow;
  flow.src = src;
  flow.dst = dst;
  if (ByPackets(flow, now_)) return packet_;
  return fluid_;
}

const FabricKind& MixedKind() {
  static const FabricKind kind = {
      .name = "mixed",
      .help = "chosen messages as packets, the others as fluid flows, on the same links",
      .make = [](const Topology& topology, const FabricOptions& options) -> std::unique_ptr<Fabric> {
        return std::make_unique<MixedFabric>(topology, options);
      },
      .takes = {&FlowOptions::kSet, &packet::PacketOptions::kSet, &PacketChoices::kSet},
      .follows_links = true,
      .check = MixedFabric::Check};
  return kind;
}

}  // namespace chakra
