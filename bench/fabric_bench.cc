// Flows a second through each fabric, Start to FlowEnd, without an engine.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "backends/topology/topology.h"

namespace chakra {
namespace {

std::unique_ptr<Fabric> Make(const char* fabric, std::vector<TopologyDimension> dimensions) {
  absl::StatusOr<Topology> topology = Topology::Make(std::move(dimensions));
  if (!topology.ok()) return nullptr;
  absl::StatusOr<std::unique_ptr<Fabric>> made = MakeFabric(fabric, *topology, {});
  return made.ok() ? *std::move(made) : nullptr;
}

TopologyDimension Dim(TopologyDimension::Kind kind, int size) {
  return {kind, size, Bandwidth::FromGigabytes(50), Time::Nanos(500), "dim"};
}

// All ranks send to the right neighbour, and send again after each arrival.
void Ring(benchmark::State& state, const char* name) {
  const int ranks = static_cast<int>(state.range(0));
  std::unique_ptr<Fabric> fabric = Make(name, {Dim(TopologyDimension::Kind::kRing, ranks)});
  if (!fabric) return state.SkipWithError("no fabric");
  std::vector<FlowEnd> ended;
  const auto send = [&](int r, Time now) {
    fabric->Start(Flow{r, r + 1 == ranks ? 0 : r + 1, 1 << 20, static_cast<uint64_t>(r)}, now);
  };
  for (int r = 0; r < ranks; ++r) send(r, Time::Zero());
  int64_t flows = 0;
  for (auto _ : state) {
    ended.clear();
    fabric->AdvanceTo(fabric->NextEvent(), &ended);
    for (const FlowEnd& e : ended) send(static_cast<int>(e.tag), e.at);
    flows += static_cast<int64_t>(ended.size());
  }
  state.SetItemsProcessed(flows);
}

// 4096 flows between random ranks, of random sizes, in flight at any time.
void Random(benchmark::State& state, const char* name) {
  const int ranks = static_cast<int>(state.range(0));
  std::unique_ptr<Fabric> fabric = Make(
      name, {Dim(TopologyDimension::Kind::kSwitch, 8), Dim(TopologyDimension::Kind::kSwitch, ranks / 8)});
  if (!fabric) return state.SkipWithError("no fabric");
  std::mt19937_64 random(1);
  std::vector<Flow> flows(1 << 16);
  for (Flow& f : flows) {
    f.src = static_cast<int>(random() % static_cast<uint64_t>(ranks));
    f.dst = static_cast<int>(random() % static_cast<uint64_t>(ranks));
    f.bytes = random() % (1 << 22);
  }
  size_t next = 0;
  const auto send = [&](Time now) { fabric->Start(flows[next++ % flows.size()], now); };
  for (int i = 0; i < 4096; ++i) send(Time::Zero());
  std::vector<FlowEnd> ended;
  int64_t done = 0;
  for (auto _ : state) {
    ended.clear();
    fabric->AdvanceTo(fabric->NextEvent(), &ended);
    for (const FlowEnd& e : ended) send(e.at);
    done += static_cast<int64_t>(ended.size());
  }
  state.SetItemsProcessed(done);
}

// Every rank of a star sends to every other at once; `spread` > 0: sizes are random, and no two flows end
// together.
void AllToAll(benchmark::State& state, const char* name, uint64_t spread) {
  const int ranks = static_cast<int>(state.range(0));
  std::mt19937_64 random(1);
  std::vector<FlowEnd> ended;
  int64_t done = 0;
  for (auto _ : state) {
    std::unique_ptr<Fabric> fabric = Make(name, {Dim(TopologyDimension::Kind::kSwitch, ranks)});
    if (!fabric) return state.SkipWithError("no fabric");
    for (int s = 0; s < ranks; ++s) {
      for (int d = 0; d < ranks; ++d) {
        const uint64_t bytes = (1 << 20) + (spread > 0 ? random() % spread : 0);
        if (s != d) fabric->Start(Flow{s, d, bytes, static_cast<uint64_t>(s)}, Time::Zero());
      }
    }
    ended.clear();
    for (Time t = fabric->NextEvent(); t != Time::Never(); t = fabric->NextEvent())
      fabric->AdvanceTo(t, &ended);
    done += static_cast<int64_t>(ended.size());
  }
  state.SetItemsProcessed(done);
}

constexpr auto kMs = benchmark::kMillisecond;
BENCHMARK_CAPTURE(Ring, fluid, "fluid")->Arg(1024);
BENCHMARK_CAPTURE(Random, fluid, "fluid")->Arg(1024);
BENCHMARK_CAPTURE(AllToAll, fluid_equal, "fluid", 0)->Arg(128)->Arg(1024)->Unit(kMs);
BENCHMARK_CAPTURE(AllToAll, fluid_spread, "fluid", 1 << 20)->Arg(32)->Arg(128)->Arg(256)->Unit(kMs);
BENCHMARK_CAPTURE(AllToAll, fluid_spread, "fluid", 1 << 20)->Arg(512)->Iterations(1)->Unit(kMs);
BENCHMARK_CAPTURE(Ring, analytical, "analytical")->Arg(1024);
BENCHMARK_CAPTURE(Ring, analytical_fifo, "analytical-fifo")->Arg(1024);
BENCHMARK_CAPTURE(Random, analytical, "analytical")->Arg(1024);
BENCHMARK_CAPTURE(Random, analytical_fifo, "analytical-fifo")->Arg(1024);

}  // namespace
}  // namespace chakra
