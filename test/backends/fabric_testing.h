// Runs flows on a fabric, as the replay engine does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/analytical/options.h"
#include "backends/mixed/choice.h"
#include "backends/registry.h"

namespace chakra {

struct TimedFlow {
  Flow flow;
  Time at;
};

inline Flow Message(int src, int dst, uint64_t bytes, uint64_t tag = 0, bool want_sent = false) {
  Flow f;
  f.src = src;
  f.dst = dst;
  f.bytes = bytes;
  f.tag = tag;
  f.want_sent = want_sent;
  return f;
}

inline Topology MakeTopology(std::vector<TopologyDimension> dims) {
  absl::StatusOr<Topology> t = Topology::Make(std::move(dims));
  EXPECT_TRUE(t.ok()) << t.status();
  return t.ok() ? *std::move(t) : Topology();
}

inline TopologyDimension MakeDim(TopologyDimension::Kind kind, int size, double gigabytes_per_s = 50,
                                 int64_t latency_ns = 500) {
  return {kind, size, Bandwidth::FromGigabytes(gigabytes_per_s), Time::Nanos(latency_ns), "d"};
}

// Starts the flows (sorted by time) at their instants; returns all ends.
inline std::vector<FlowEnd> Drive(Fabric* fabric, const std::vector<TimedFlow>& flows) {
  std::vector<FlowEnd> ended;
  size_t next = 0;
  for (;;) {
    const Time start = next < flows.size() ? flows[next].at : Time::Never();
    const Time t = std::min(start, fabric->NextEvent());
    if (t == Time::Never()) return ended;
    fabric->AdvanceTo(t, &ended);
    while (next < flows.size() && flows[next].at == t) {
      fabric->Start(flows[next].flow, t);
      ++next;
    }
  }
}

// When the flow with `tag` was received; -1 ps: never.
inline Time ReceivedAt(const std::vector<FlowEnd>& ended, uint64_t tag,
                       FlowEnd::Kind kind = FlowEnd::kReceived) {
  for (const FlowEnd& e : ended) {
    if (e.tag == tag && e.kind == kind) return e.at;
  }
  return Time::Picos(-1);
}

// `mixed` sends the messages of device 0 by packets.
inline std::unique_ptr<Machine> NewFabric(const char* name, const Topology& topology,
                                          bool store_and_forward = false) {
  FabricOptions options;
  options.Ask<PathOptions>().store_and_forward = store_and_forward;
  if (name == std::string("mixed")) {
    PacketChoice choice;
    choice.by_device = true;
    choice.devices = {0};
    options.Ask<PacketChoices>().any_of = {choice};
  }
  auto fabric = MakeMachine(name, topology, options);
  EXPECT_TRUE(fabric.ok()) << fabric.status();
  return *std::move(fabric);
}

}  // namespace chakra
