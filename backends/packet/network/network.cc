#include "backends/packet/network/network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace chakra::packet {

namespace {

// The bytes that a link carries while a signal goes there and back, with a switch at each end.
uint64_t RoundTrip(const LinkClass& c, Time switch_latency) {
  return static_cast<uint64_t>(std::ceil(2e-12 * static_cast<double>(c.bandwidth.bytes_per_second()) *
                                         static_cast<double>((c.latency + switch_latency).picos())));
}

}  // namespace

PacketNetwork::PacketNetwork(const Topology& topology, const PacketOptions& options)
    : topology_(topology),
      options_(options),
      classes_(static_cast<size_t>(options.classes)),
      queue_pairs_((classes_ + 1) / 2),
      port_of_(topology.links(), kNoIndex) {
  ChooseParts();
}

void PacketNetwork::ChooseParts() {
  // Minimum number of switches in a part: smaller parts cost more than they save.
  constexpr uint64_t kSwitches = 4;
  uint64_t switches = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < topology_.dimensions().size(); ++i) {
    const TopologyDimension& d = topology_.dimensions()[i];
    if (d.kind != TopologyDimension::Kind::kNetwork) continue;
    const NetworkGraph& g = d.network->graph;
    switches +=
        static_cast<uint64_t>(topology_.NetworkCopies(static_cast<int>(i))) * (g.vertices() - g.devices());
    for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
      if (g.source(arc) < g.devices() && g.target(arc) < g.devices()) continue;
      least = std::min(least, g.link_class(arc).latency.picos());
    }
  }
  if (switches < 2 * kSwitches || least == 0) return;
  parts_ = static_cast<uint32_t>(std::min<uint64_t>(switches / kSwitches, kMostParts));
  lookahead_ = least;
}

uint32_t PacketNetwork::NodeOf(uint64_t end, const Hop& hop) {
  const auto [it, is_new] = node_of_.try_emplace(end, static_cast<uint32_t>(nodes_.size()));
  if (!is_new) return it->second;
  Node node;
  node.is_switch = end >= static_cast<uint64_t>(topology_.devices());
  const TopologyDimension& d = topology_.dimensions()[hop.dimension];
  uint32_t vertex = 0;
  if (node.is_switch && d.kind == TopologyDimension::Kind::kNetwork) {
    const NetworkGraph& g = d.network->graph;
    const Topology::NetworkPlace place = topology_.NetworkArc(hop.link);
    const bool from = topology_.LinkEnds(hop.link).from == end;
    vertex = from ? g.source(place.arc) : g.target(place.arc);
    if (parts_ > 0) {
      // All groups of vertices are divided in the same order, so leaves and spines of one pod are in the same
      // part.
      const VertexGroup& group = g.group(vertex);
      const auto copies = static_cast<uint64_t>(topology_.NetworkCopies(hop.dimension));
      const uint64_t before = uint64_t{place.copy} * group.count + (vertex - group.first);
      node.part = static_cast<uint8_t>(1 + before * parts_ / (copies * group.count));
    }
  }
  if (node.is_switch && options_.buffer > 0) {
    const uint64_t aside = SetAside(hop.dimension, vertex);
    node.pool = options_.buffer > aside ? options_.buffer - aside : 0;
  }
  nodes_.push_back(node);
  return it->second;
}

uint64_t PacketNetwork::SetAside(int dimension, uint32_t vertex) const {
  const TopologyDimension& d = topology_.dimensions()[static_cast<size_t>(dimension)];
  // The class of acknowledgements does not count.
  const auto classes = static_cast<uint64_t>(options_.classes - 1);
  const auto one = [&](const LinkClass& c) {
    const bool pfc = options_.flow_control == PacketOptions::FlowControl::kPfc;
    return classes * (options_.reserved + (pfc ? Headroom(c) : 0));
  };
  if (d.kind != TopologyDimension::Kind::kNetwork) {
    return static_cast<uint64_t>(d.size) * one({d.name, d.bandwidth, d.latency});
  }
  const NetworkGraph& g = d.network->graph;
  uint64_t sum = 0;
  for (uint32_t arc = g.begin(vertex); arc < g.end(vertex); ++arc) sum += one(g.link_class(arc));
  return sum;
}

uint32_t PacketNetwork::PortOf(const Hop& hop) {
  uint32_t& known = port_of_[hop.link];
  if (known != kNoIndex) return known;
  known = static_cast<uint32_t>(ports_.size());
  const LinkClass& c = topology_.link_classes()[hop.link_class];
  const Topology::Ends ends = topology_.LinkEnds(hop.link);
  Port p;
  PortInfo info;
  p.node = NodeOf(ends.from, hop);
  info.peer = NodeOf(ends.to, hop);
  p.part = nodes_[info.peer].part;
  p.latency = c.latency.picos();
  if (nodes_[p.node].is_switch) p.latency += options_.switch_latency.picos();
  info.bandwidth = c.bandwidth;
  info.rate = static_cast<double>(c.bandwidth.bytes_per_second()) * 1e-12;
  info.link = hop.link;
  info.link_class = hop.link_class;
  info.dimension = hop.dimension;
  ports_.push_back(p);
  infos_.push_back(info);
  PortCredit credit;
  credit.credit = static_cast<int64_t>(Credit(c));
  queues_.resize(queues_.size() + queue_pairs_);
  credits_.resize(credits_.size() + classes_, credit);
  if (const auto state = states_.find(hop.link); state != states_.end()) {
    SetBandwidth(known, state->second.share);
    SetLoss(hop.link, state->second.loss);
  }
  return known;
}

void PacketNetwork::SetLoss(uint32_t link, double loss) {
  states_[link].loss = loss;
  const uint32_t port = port_of_[link];
  if (port == kNoIndex) return;
  infos_[port].loss = loss;
  ports_[port].lossy = loss > 0;
}

uint64_t PacketNetwork::Headroom(const LinkClass& link) const {
  if (options_.headroom > 0) return options_.headroom;
  return RoundTrip(link, options_.switch_latency) + 2 * uint64_t{options_.Wire()} + kPauseFrame;
}

uint64_t PacketNetwork::Credit(const LinkClass& link) const {
  return options_.credit > 0 ? options_.credit
                             : RoundTrip(link, options_.switch_latency) + 4 * uint64_t{options_.Wire()};
}

void PacketNetwork::SetBandwidth(uint32_t port, double share) {
  Port& p = ports_[port];
  PortInfo& info = infos_[port];
  p.up = share > 0;
  if (!p.up) return;
  const Bandwidth whole = topology_.link_classes()[info.link_class].bandwidth;
  info.bandwidth = Bandwidth::BytesPerSecond(
      std::max<int64_t>(1, std::llround(static_cast<double>(whole.bytes_per_second()) * share)));
  info.rate = static_cast<double>(info.bandwidth.bytes_per_second()) * 1e-12;
  p.small_bytes = 0;
  p.large_bytes = 0;
  p.small_time = p.large_time = 0;
}

void PacketNetwork::Reset(uint32_t i) {
  Port& p = ports_[i];
  PortInfo& info = infos_[i];
  Node& to = nodes_[info.peer];
  p.free_at = 0;
  p.waiting = p.ready = p.paused = 0;
  p.posted = p.turn = false;
  info.next_class = 1;
  info.headers = 0;
  backlog(i).bytes = 0;
  for (uint32_t c = 0; c < classes_; ++c) {
    queue(i, c) = PortQueue();
    PortCredit& k = credit(i, c);
    if (to.is_switch && c != PacketOptions::kControlClass) to.shared -= k.Shared(options_.reserved);
    k = PortCredit();
    k.credit = static_cast<int64_t>(Credit(topology_.link_classes()[info.link_class]));
  }
}

uint64_t PacketNetwork::MemoryBytes() const {
  return ports_.capacity() * sizeof(Port) + infos_.capacity() * sizeof(PortInfo) +
         queues_.capacity() * sizeof(PortQueues) + credits_.capacity() * sizeof(PortCredit) +
         nodes_.capacity() * sizeof(Node) + port_of_.capacity() * sizeof(uint32_t);
}

}  // namespace chakra::packet
