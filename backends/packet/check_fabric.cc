// What packet options must hold together with the links that they are for.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/packet/packet_fabric.h"

namespace chakra::packet {
namespace {

absl::Status CheckSkip(const PacketOptions& p, const FabricOptions& options) {
  if (p.SkipsRepeats() && (p.spread != PacketOptions::Spread::kConnection || !options.changes.empty())) {
    return absl::InvalidArgumentError(
        "packet: skip of what repeats is for links that do not fail and connections of one way each: "
        "expected skip=steady or skip=off, or neither faults nor packets that are spread");
  }
  if (p.skip == PacketOptions::Skip::kOff) return absl::OkStatus();
  const bool loses = std::any_of(options.changes.begin(), options.changes.end(),
                                 [](const LinkChange& change) { return change.loss > 0; });
  if (loses) {
    return absl::InvalidArgumentError(
        "packet: which packets a link loses is drawn for each: expected skip=off, or no fault with a loss "
        "(bandwidth=0.99 takes as much of a link as loss=0.01 does)");
  }
  if (options.link_series || p.series > Time::Zero()) {
    return absl::InvalidArgumentError(
        "packet: queues and rates over time need every packet: expected skip=off, or no series");
  }
  return absl::OkStatus();
}

// Bytes a picosecond: with it thresholds that are times become bytes.
double RateOf(const LinkClass& c) { return static_cast<double>(c.bandwidth.bytes_per_second()) * 1e-12; }

// What a queue may take, and what limits it. 0 bytes: nothing does.
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
    return absl::InvalidArgumentError(absl::StrCat("packet: xoff is ", std::llround(p.xoff.Of(rate)),
                                                   "B on links ", c.name,
                                                   "; it is never reached in a buffer that has ", pool,
                                                   "B without the headroom of one port: expected at "
                                                   "most so much, as xoff=",
                                                   pool / 2, "B, or a larger buffer"));
  }
  return absl::OkStatus();
}

// Of thresholds that the user gave: on one link at least all must be marked before there is no room.
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
                   "B: expected at most so much, as ecn_high=", room.bytes, "B, or a larger ", room.name));
}

// More would be sent again and again for hours.
absl::Status CheckLosses(const Topology& topology, const FabricOptions& options) {
  constexpr double kMost = 0.5;
  for (const LinkChange& change : options.changes) {
    if (change.loss <= kMost) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("packet: link ", topology.LinkName(change.link), " loses ", change.loss,
                     " of its packets by chance, and hardly a message gets through: expected at most ", kMost,
                     ", or a link that is down"));
  }
  return absl::OkStatus();
}

// The switch that sets aside the most for its ports needs room beside that.
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
  if (absl::Status s = CheckPacketOptions(p); !s.ok()) return s;
  if (absl::Status s = CheckSkip(p, options); !s.ok()) return s;
  for (const LinkClass& c : topology.link_classes()) {
    if (absl::Status s = CheckThresholds(p, c); !s.ok()) return s;
  }
  if (absl::Status s = CheckHighThreshold(p, topology.link_classes()); !s.ok()) return s;
  if (absl::Status s = CheckLosses(topology, options); !s.ok()) return s;
  return CheckBuffer(topology, p);
}

}  // namespace chakra::packet
