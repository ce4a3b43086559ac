// Fabric `mixed` against fabric `packet`: an incast by packets among messages that are fluid.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/mixed/choice.h"
#include "backends/registry.h"
#include "bench/measure.h"
#include "test/validation/packet_curves.h"

namespace chakra {
namespace {

struct Outcome {
  double seconds = 0;
  Time incast;  // arrival of its last message
};

// 32 hosts send 1 MB each to host 0. The others send eight times 1 MB to one another. All start at once.
Outcome Run(const std::string& name, const Topology& topology, const FabricOptions& options) {
  Outcome outcome;
  auto fabric = MakeFabric(name, topology, options);
  if (!fabric.ok()) return outcome;
  const int hosts = topology.devices(), others = hosts - 1;
  constexpr int kSenders = 32, kShifts = 8;
  const auto send = [&](int src, int dst, uint64_t tag) {
    Flow f;
    f.src = src;
    f.dst = dst;
    f.bytes = 1000000;
    f.tag = tag;
    (*fabric)->Start(f, Time::Zero());
  };
  outcome.seconds = SecondsOf([&] {
    for (int i = 0; i < kSenders; ++i) send(1 + i * others / kSenders, 0, static_cast<uint64_t>(i));
    for (int shift = 1; shift <= kShifts; ++shift) {
      for (int i = 0; i < others; ++i) {
        send(1 + i, 1 + (i + shift * others / (kShifts + 1)) % others,
             static_cast<uint64_t>(shift * hosts + i));
      }
    }
    std::vector<FlowEnd> ended;
    const auto next = [&] { return (*fabric)->NextEvent(Time::Never()); };
    for (Time t = next(); t != Time::Never(); t = next()) (*fabric)->AdvanceTo(t, &ended);
    for (const FlowEnd& e : ended) {
      if (e.tag < kSenders) outcome.incast = std::max(outcome.incast, e.at);
    }
  });
  return outcome;
}

void Incast(benchmark::State& state) {
  const auto topology = validation::CurveNetwork("leaf_spine:leaves=16,hosts_per_leaf=16,spines=16", 256);
  if (!topology.ok()) return state.SkipWithError(topology.status().ToString().c_str());
  FabricOptions all, some;
  PacketChoice choice;
  choice.link = "device.0";
  some.Ask<PacketChoices>().any_of = {choice};
  std::vector<double> packet, mixed, ends;
  for (auto _ : state) {
    const Outcome a = Run("packet", *topology, all), b = Run("mixed", *topology, some);
    packet.push_back(a.seconds);
    mixed.push_back(b.seconds);
    ends.push_back(b.incast.seconds() / a.incast.seconds());
    state.SetIterationTime(b.seconds);
  }
  state.counters["x_packet"] = Median(packet) / Median(mixed);
  state.counters["incast_of_packet"] = Median(ends);
}
BENCHMARK(Incast)->Name("Mixed/hosts_256")->Iterations(5)->UseManualTime();

}  // namespace
}  // namespace chakra
