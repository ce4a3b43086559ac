// Runs of fabric `packet` with rates and queues over time, for curves and their tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/packet/options.h"
#include "backends/packet/packet_fabric.h"

namespace chakra::validation {

// Flows are sorted by `start`. If a queue is watched, all flows have the same destination.
struct CurveFlow {
  int src = 0, dst = 0;
  uint64_t bytes = 0;
  Time start;
};

struct PacketCurves {
  std::vector<double> us;                  // ends of the samples
  std::vector<std::vector<double>> rates;  // by flow: the used share of its source's link
  std::vector<double> used;                // the used share of the last link of the first flow
  std::vector<double> queued;              // bytes that wait for that link at the end of a sample
  std::vector<double> received;            // by flow; us; -1: not
  uint64_t most_queued = 0;                // the most bytes that waited for that link
  PacketTotals counters;

  double Last() const { return *std::max_element(received.begin(), received.end()); }
  // The mean of the samples in [from, to) us.
  double Mean(const std::vector<double>& values, double from, double to) const {
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < us.size(); ++i) {
      if (us[i] < from || us[i] >= to) continue;
      sum += values[i];
      ++n;
    }
    return n == 0 ? 0 : sum / n;
  }
};

// Jain, Chiu and Hawe, DEC-TR-301: (sum x)^2 / (n sum x^2); 1 if all are equal.
inline double JainIndex(const std::vector<double>& x) {
  double sum = 0, squares = 0;
  for (const double v : x) {
    sum += v;
    squares += v * v;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(x.size()) * squares);
}

// `hosts` on one switch, with links of `gbits` Gb/s.
inline Topology CurveStar(int hosts, int gbits, Time latency) {
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kSwitch;
  d.size = hosts;
  d.bandwidth = Bandwidth::FromGigabytes(gbits / 8.0);
  d.latency = latency;
  d.name = "d";
  return *Topology::Make({d});
}

// Any network by its name, such as "fat_tree:k=16,gbits=100,latency=1us".
inline absl::StatusOr<Topology> CurveNetwork(const std::string& text, int hosts) {
  const auto spec = ParseNetworkSpec(text);
  if (!spec.ok()) return spec.status();
  auto network = BuildNetwork(*spec, hosts);
  if (!network.ok()) return network.status();
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kNetwork;
  d.size = hosts;
  d.name = "d";
  d.network = std::make_shared<const Network>(*std::move(network));
  return Topology::Make({d});
}

// The ports from and to each device.
struct CurvePorts {
  CurvePorts(const packet::PacketNetwork& network, int devices)
      : from(static_cast<size_t>(devices), packet::kNoIndex), to(from) {
    for (uint32_t i = 0; i < network.ports(); ++i) {
      const Topology::Ends ends = network.topology().LinkEnds(network.info(i).link);
      if (ends.from < from.size()) from[ends.from] = i;
      if (ends.to < to.size()) to[ends.to] = i;
    }
  }
  std::vector<uint32_t> from, to;  // packet::kNoIndex: none
};

// Runs until all flows are received, or until `end`. Takes a sample each `step`; zero: none. Each device must
// have one link. Errors: options that MakeFabric() refuses.
inline absl::StatusOr<PacketCurves> RunCurves(const Topology& topology, const std::string& options,
                                              const std::vector<CurveFlow>& flows, Time step, Time end) {
  FabricOptions o;
  const auto packet = packet::ParsePacketOptions(options);
  if (!packet.ok()) return packet.status();
  o.Set(*packet);
  if (absl::Status s = packet::PacketFabric::Check(topology, o); !s.ok()) return s;
  packet::PacketFabric fabric(topology, o);
  PacketCurves out;
  out.rates.resize(step > Time::Zero() ? flows.size() : 0);
  out.received.assign(flows.size(), -1);
  std::vector<uint64_t> sent(flows.size() + 1);  // at the last sample, by flow; then of the last link
  std::vector<FlowEnd> ended;
  const auto us = [](Time t) { return static_cast<double>(t.picos()) * 1e-6; };
  size_t next = 0, open = flows.size();
  Time sample = step > Time::Zero() ? step : Time::Never();
  while (open > 0) {
    const Time start = next < flows.size() ? flows[next].start : Time::Never();
    const Time t = std::min({start, fabric.NextEvent(std::min({start, sample, end})), sample, end});
    if (t == Time::Never()) return absl::InternalError(absl::StrCat("stuck: ", fabric.WhyStuck()));
    fabric.AdvanceTo(t, &ended);
    for (const FlowEnd& e : ended) out.received[e.tag] = us(e.at);
    open -= ended.size();
    ended.clear();
    for (; next < flows.size() && flows[next].start == t; ++next) {
      Flow f;
      f.src = flows[next].src;
      f.dst = flows[next].dst;
      f.bytes = flows[next].bytes;
      f.tag = next;
      fabric.Start(f, t);
    }
    if (t == sample) {
      const packet::PacketNetwork& network = fabric.network();
      const CurvePorts ports(network, topology.devices());
      const auto share = [&](uint32_t port, uint64_t* before) {
        if (port == packet::kNoIndex) return 0.0;
        const uint64_t now = network.port(port).sent;
        const double moved = static_cast<double>(now - std::exchange(*before, now));
        return moved / (network.info(port).rate * static_cast<double>(step.picos()));
      };
      const uint32_t last = ports.to[static_cast<size_t>(flows[0].dst)];
      out.us.push_back(us(t));
      for (size_t f = 0; f < flows.size(); ++f) {
        out.rates[f].push_back(share(ports.from[static_cast<size_t>(flows[f].src)], &sent[f]));
      }
      out.used.push_back(share(last, &sent.back()));
      out.queued.push_back(last == packet::kNoIndex ? 0 : static_cast<double>(network.backlog(last).bytes));
      sample = t + step;
    }
    if (t >= end) break;
  }
  const uint32_t last =
      CurvePorts(fabric.network(), topology.devices()).to[static_cast<size_t>(flows[0].dst)];
  if (last != packet::kNoIndex) out.most_queued = fabric.network().backlog(last).most;
  out.counters = fabric.counters();
  return out;
}

// The testbed of the HPCC paper: 100 Gb/s, and a round trip of 13 us with packets of 1090 bytes and
// acknowledgements of 64. The bandwidth-delay product is 162,500 bytes.
inline Topology HpccStar(int hosts) { return CurveStar(hosts, 100, Time::Picos(3203840)); }
constexpr char kHpccOptions[] = "mtu=1000B,header=90B,ack=64B,transport=";
constexpr double kHpccBdp = 162500;

// The regression runs of ultraethernet/uet-htsim: 1,024 hosts, 100 Gb/s, links of 1 us, packets of 4150
// bytes. Queues hold the bandwidth-delay product of 14.02 us; marks start at 0.2 and end at 0.8 of a queue,
// at dequeue. The timeout is 15 us and the time of six full queues.
constexpr char kNsccNetwork[] = "fat_tree:k=16,link=100Gb/s,latency=1us";
constexpr char kNsccOptions[] =
    "mtu=4086B,header=64B,ack=64B,queue=175284B,ecn_low=35057B,ecn_high=140227B,timeout=99us,transport=";
// From the last byte at the receiver to the acknowledgement at the sender: 6 links of 1 us, with 64 bytes on
// each.
constexpr double kNsccAckUs = 6.03072;

// `senders` devices send to device 0, all at once.
inline std::vector<CurveFlow> Incast(int senders, uint64_t bytes) {
  std::vector<CurveFlow> flows;
  for (int s = 1; s <= senders; ++s) flows.push_back({s, 0, bytes, Time::Zero()});
  return flows;
}

}  // namespace chakra::validation
