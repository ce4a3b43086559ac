// Checks packet options together with the links that they are for.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/packet/packet_fabric.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {
namespace {

absl::Status CheckSkip(const PacketOptions& p, const FabricOptions& options) {
  if (p.SkipsRepeats() && (p.spread != PacketOptions::Spread::kConnection || !options.changes.empty())) {
    return absl::InvalidArgumentError(
        "packet: skip is repeats, but links fail or a connection has several paths; expected skip=steady or "
        "skip=off, or neither faults nor spread packets");
  }
  if (p.SkipsRepeats() && p.classes > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("packet: classes is ", p.classes,
                     "; expected 2 with skip=repeats, which does not know the class that a ",
                     "port served last; or skip=steady or skip=off"));
  }
  if (p.skip == PacketOptions::Skip::kOff) return absl::OkStatus();
  const bool loses = std::any_of(options.changes.begin(), options.changes.end(),
                                 [](const LinkChange& change) { return change.loss > 0; });
  if (loses) {
    return absl::InvalidArgumentError(
        "packet: skip cannot be used with random losses; expected skip=off, or no fault with a loss "
        "(bandwidth=0.99 costs a link as much as loss=0.01)");
  }
  if (options.link_series || p.series > Time::Zero()) {
    return absl::InvalidArgumentError(
        "packet: skip cannot be used with queues and rates over time, which need every packet; expected "
        "skip=off, or no series");
  }
  return absl::OkStatus();
}

// Bytes a picosecond, to convert thresholds that are times to bytes.
double RateOf(const LinkClass& c) { return static_cast<double>(c.bandwidth.bytes_per_second()) * 1e-12; }

// The maximum bytes in a queue, and the name of the option that limits them. 0 bytes: no limit.
struct Room {
  explicit Room(const PacketOptions& p)
      : bytes(p.queue > 0 ? p.queue : p.buffer), name(p.queue > 0 ? "queue" : "buffer") {}
  uint64_t bytes;
  const char* name;
};

absl::Status CheckThresholds(const PacketOptions& p, const LinkClass& c) {
  const double rate = RateOf(c);
  const Room room(p);
  const double low = p.ecn_low.Of(rate);
  if (p.ecn && room.bytes > 0 && low >= static_cast<double>(room.bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "packet: ecn_low is ", std::llround(low), "B on links ", c.name, "; it is never reached in a ",
        room.name, " of ", room.bytes, "B: expected less, as ecn_low=", room.bytes / 5,
        "B,ecn_high=", room.bytes / 2, "B, or a larger ", room.name));
  }
  const uint64_t pool = p.buffer - std::min(p.headroom, p.buffer);
  if (p.xoff.Of(rate) > static_cast<double>(pool)) {
    return absl::InvalidArgumentError(
        absl::StrCat("packet: xoff is ", std::llround(p.xoff.Of(rate)), "B on links ", c.name,
                     "; it is never reached in a buffer that has ", pool,
                     "B without the headroom of one port: expected at most that, as xoff=", pool / 2,
                     "B, or a larger buffer"));
  }
  return absl::OkStatus();
}

// For thresholds from the user: on at least one link, all packets must be marked before the room is used up.
absl::Status CheckHighThreshold(const PacketOptions& p, const std::vector<LinkClass>& classes) {
  const Room room(p);
  if (!p.ecn || p.ecn_published || room.bytes == 0 || classes.empty()) return absl::OkStatus();
  const auto high = [&](const LinkClass& c) { return p.ecn_high.Of(RateOf(c)); };
  const LinkClass& slowest =
      *std::min_element(classes.begin(), classes.end(),
                        [&](const LinkClass& a, const LinkClass& b) { return high(a) < high(b); });
  if (high(slowest) <= static_cast<double>(room.bytes)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("packet: ecn_high is ", std::llround(high(slowest)), "B on links ", slowest.name,
                   " and no less on others; it is never reached in a ", room.name, " of ", room.bytes,
                   "B: expected at most that, as ecn_high=", room.bytes, "B, or a larger ", room.name));
}

constexpr double kMostLossOfLink = 0.5, kMostLossOfWay = 0.9;

// By vertex: the share of packets from `source` that get through, over the worst of the shortest paths.
std::vector<double> Through(const NetworkGraph& graph, uint32_t source, const std::vector<double>& loss) {
  std::vector<double> through(graph.vertices(), 1);
  std::vector<uint32_t> distance(graph.vertices(), NetworkGraph::kNone), queue = {source};
  distance[source] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint32_t v = queue[i];
    if (v != source && !graph.Forwards(v)) continue;
    for (uint32_t arc = graph.begin(v); arc < graph.end(v); ++arc) {
      const uint32_t w = graph.target(arc);
      const double share = through[v] * (1 - loss[arc]);
      if (distance[w] == NetworkGraph::kNone) {
        distance[w] = distance[v] + 1;
        through[w] = share;
        queue.push_back(w);
      } else if (distance[w] == distance[v] + 1) {
        through[w] = std::min(through[w], share);
      }
    }
  }
  return through;
}

// Checks the paths of one copy of a network, from at most kSources of its devices.
absl::Status CheckWays(const NetworkGraph& graph, const std::vector<double>& loss) {
  constexpr uint32_t kSources = 64;
  for (uint32_t i = 0; i < std::min(kSources, graph.devices()); ++i) {
    const auto from =
        static_cast<uint32_t>(uint64_t{i} * graph.devices() / std::min(kSources, graph.devices()));
    const std::vector<double> through = Through(graph, from, loss);
    for (uint32_t to = 0; to < graph.devices(); ++to) {
      if (1 - through[to] <= kMostLossOfWay) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("packet: links between ", graph.VertexName(from), " and ", graph.VertexName(to),
                       " lose ", 100 * (1 - through[to]),
                       " % of the packets at random, so almost no message gets through; expected at most ",
                       100 * kMostLossOfWay, " % on a shortest path, or fewer links that lose packets"));
    }
  }
  return absl::OkStatus();
}

// With more losses, packets would be sent again for hours. The highest loss of a link over time counts.
absl::Status CheckLosses(const Topology& topology, const FabricOptions& options) {
  std::map<std::pair<int, uint32_t>, std::vector<double>> losses;  // by dimension and copy, of arcs
  for (const LinkChange& change : options.changes) {
    if (change.loss > kMostLossOfLink) {
      return absl::InvalidArgumentError(
          absl::StrCat("packet: link ", topology.LinkName(change.link), " loses ", change.loss,
                       " of its packets at random, so almost no message gets through; expected at most ",
                       kMostLossOfLink, ", or a link that is down"));
    }
    const int dimension = topology.LinkHop(change.link).dimension;
    if (change.loss == 0 || topology.dimensions()[static_cast<size_t>(dimension)].network == nullptr)
      continue;
    const auto place = topology.NetworkArc(change.link);
    std::vector<double>& of = losses[{dimension, place.copy}];
    of.resize(topology.dimensions()[static_cast<size_t>(dimension)].network->graph.arcs());
    of[place.arc] = std::max(of[place.arc], change.loss);
  }
  for (const auto& [where, loss] : losses) {
    const NetworkGraph& graph = topology.dimensions()[static_cast<size_t>(where.first)].network->graph;
    RETURN_IF_ERROR(CheckWays(graph, loss));
  }
  return absl::OkStatus();
}

// The switch that reserves the most bytes for its ports needs room in addition.
absl::Status CheckBuffer(const Topology& topology, const PacketOptions& p) {
  if (p.buffer == 0) return absl::OkStatus();
  const PacketNetwork network(topology, p);
  uint64_t most = 0;
  std::string where;
  for (size_t i = 0; i < topology.dimensions().size(); ++i) {
    const TopologyDimension& d = topology.dimensions()[i];
    const auto look = [&](uint32_t vertex, const std::string& name) {
      const uint64_t aside = network.SetAside(static_cast<int>(i), vertex);
      if (aside <= most) return;
      most = aside;
      where = name;
    };
    if (d.kind == TopologyDimension::Kind::kSwitch) look(0, absl::StrCat("the switch of ", d.name));
    if (d.kind != TopologyDimension::Kind::kNetwork) continue;
    const NetworkGraph& g = d.network->graph;
    for (uint32_t v = g.devices(); v < g.vertices(); ++v)
      look(v, absl::StrCat(g.VertexName(v), " of ", d.name));
  }
  const uint64_t least = most + 2 * uint64_t{p.Wire()};
  if (p.buffer >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "packet: buffer is ", p.buffer, "B; the ports of ", where, " set aside ", most,
      "B of it as headroom and reserves: expected at least ", least, "B, or a smaller headroom"));
}

}  // namespace

absl::Status CheckPacketFabric(const Topology& topology, const FabricOptions& options) {
  const auto p = options.Get<PacketOptions>();
  RETURN_IF_ERROR(CheckPacketOptions(p));
  RETURN_IF_ERROR(CheckSkip(p, options));
  for (const LinkClass& c : topology.link_classes()) {
    RETURN_IF_ERROR(CheckThresholds(p, c));
  }
  RETURN_IF_ERROR(CheckHighThreshold(p, topology.link_classes()));
  RETURN_IF_ERROR(CheckLosses(topology, options));
  return CheckBuffer(topology, p);
}

}  // namespace chakra::packet
